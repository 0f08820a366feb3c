"""As transações que estão em curso neste banco."""

from typing import Any

import psycopg
import structlog

from app.banco.espera import esperar

# Nenhum comando de quem trabalha no banco dura tanto: tem statement_timeout.
PRAZO_S = 60.0

_EM_CURSO = """
    SELECT t.virtualtransaction
      FROM pg_catalog.pg_locks AS t
      JOIN pg_catalog.pg_stat_activity AS a ON a.pid = t.pid
     WHERE t.locktype = 'virtualxid'
       AND t.pid <> pg_backend_pid()
       AND a.datname = current_database()
"""

_log = structlog.get_logger(__name__)


def esperar_as_de_agora(conexao: psycopg.Connection[Any]) -> None:
    """Espera que terminem as que estão em curso, não as que vierem; de uma muito longa desiste, e o diz."""
    restantes = em_curso(conexao)

    def terminaram() -> bool:
        restantes.intersection_update(em_curso(conexao))
        return not restantes

    try:
        esperar(terminaram, PRAZO_S, "o fim das transações em curso")
    except TimeoutError:
        _log.warning(
            f"transações abertas há mais de {PRAZO_S:g} s ({len(restantes)}): migrar segue sem esperar que terminem"
        )


def em_curso(conexao: psycopg.Connection[Any]) -> set[str]:
    """Os números virtuais delas, menos o de quem pergunta."""
    return {numero for (numero,) in conexao.execute(_EM_CURSO)}
