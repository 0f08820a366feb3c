"""O que está em curso neste banco."""

from typing import Any

import psycopg
import structlog

from app.banco.espera import esperar

# Nenhum comando do aplicativo dura tanto: tem statement_timeout.
PRAZO_S = 60.0
CALADO_S = 2.0  # antes de dizer por quem espera

# A guarda de quem migra (app.banco.trava) tem uma transação aberta, e não se espera por ela.
# Um procedimento confirma a meio e segue com o corpo com que começou: conta o comando, e não só a transação. O
# autovacuum não chama função nossa, e quem recebe o log por replicação está sempre no mesmo comando.
_EM_CURSO = """
    SELECT a.pid, t.virtualtransaction
      FROM pg_catalog.pg_stat_activity AS a
      JOIN pg_catalog.pg_locks AS t ON t.pid = a.pid AND t.locktype = 'virtualxid'
     WHERE a.pid <> pg_backend_pid()
       AND a.datname = current_database()
       AND a.usesysid IS NOT NULL
       AND NOT EXISTS (SELECT
                         FROM pg_catalog.pg_locks AS g
                        WHERE g.pid = a.pid
                          AND g.relation = to_regclass('migracoes.trava')
                          AND g.granted)
     UNION ALL
    SELECT a.pid, a.query_start::text
      FROM pg_catalog.pg_stat_activity AS a
     WHERE a.pid <> pg_backend_pid()
       AND a.datname = current_database()
       AND a.usesysid IS NOT NULL
       AND a.state = 'active'
       AND a.backend_type <> 'walsender'
"""

_log = structlog.get_logger(__name__)


def esperar_as_de_agora(conexao: psycopg.Connection[Any]) -> None:
    """Espera que acabem as transações e os comandos em curso, não os que vierem; dos muito longos desiste, e o diz."""
    restantes = em_curso(conexao)

    def terminaram() -> bool:
        restantes.intersection_update(em_curso(conexao))
        return not restantes

    etapas = ((CALADO_S, f"migrar espera que acabem, até {PRAZO_S:g} s"), (PRAZO_S, "migrar segue sem elas"))
    for prazo, desfecho in etapas:
        try:
            esperar(terminaram, prazo, "o fim das transações em curso")
            return
        except TimeoutError:
            pids = ", ".join(str(pid) for pid in sorted({pid for pid, _ in restantes}))
            _log.warning(f"transações que já corriam (pid {pids}): {desfecho}")


def em_curso(conexao: psycopg.Connection[Any]) -> set[tuple[int, str]]:
    """De cada sessão, menos a de quem pergunta, a transação (seu número virtual) e o comando (a hora em que começou).

    Do comando de outro papel só sabe quem pode ler as estatísticas dele (pg_read_all_stats).
    """
    return set(conexao.execute(_EM_CURSO))
