"""Um `migrar` por banco de cada vez: a trava que o garante, e o que se diz de quem a segura.

É a trava de uma tabela que só quem instala pode travar, e não uma consultiva, que qualquer login toma (N65). Vive numa
transação aberta de uma segunda sessão, a guarda, enquanto a primeira migra.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
import structlog
from psycopg import errors

from app.banco.espera import esperar
from app.banco.sessao import conectar

ESPERA_MS = 2000
ORFA_S = 600.0
NOME = "formigueiro migrar"

_log = structlog.get_logger(__name__)

_DETENTORES = """
    SELECT coalesce(a.usename || ' (pid ' || t.pid || ')', 'uma transação preparada')
      FROM pg_catalog.pg_locks AS t
      LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = t.pid
     WHERE t.relation = 'migracoes.trava'::regclass
       AND t.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
       AND t.mode = 'ExclusiveLock'
       AND t.granted
"""

# Só contam as sessões de quem instala: o nome, qualquer um se dá.
_ORFAS = """
    SELECT count(*)
      FROM pg_catalog.pg_stat_activity AS a
     WHERE a.application_name = %s
       AND a.datname = current_database()
       AND a.usesysid IN (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user OR r.rolsuper)
"""


@contextmanager
def tomada(dsn: str, conexao: psycopg.Connection[Any]) -> Iterator[None]:
    """Dá a vez à `conexao`, por quem espera o que for preciso, e a guarda até o fim do bloco."""
    with conectar(dsn) as guarda:
        # Aberta o tempo todo, a transação da guarda não há de cair por estar parada.
        guarda.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
        _criar(guarda)
        _esperar_a_vez(guarda)
        # De um migrar morto, o servidor solta logo a guarda, mas a outra sessão ainda acaba o comando em que estava.
        esperar(lambda: conexao.execute(_ORFAS, [NOME]).fetchone() == (0,), ORFA_S, "o fim de um migrar interrompido")
        conexao.execute(f"SET application_name = '{NOME}'")
        try:
            yield
        finally:
            conexao.close()  # antes da guarda


def _criar(guarda: psycopg.Connection[Any]) -> None:
    guarda.execute("SET client_min_messages = warning")
    for criar in ("SCHEMA IF NOT EXISTS migracoes", "TABLE IF NOT EXISTS migracoes.trava (nada boolean)"):
        with suppress(errors.UniqueViolation):  # outro o criou ao mesmo tempo, e já confirmou
            guarda.execute(f"CREATE {criar}")


def _esperar_a_vez(guarda: psycopg.Connection[Any]) -> None:
    disse = False
    while not _tentar(guarda):
        detentores = [nome for (nome,) in guarda.execute(_DETENTORES)]
        if detentores and not disse:
            _log.warning(f"migrar espera por quem segura a trava dele: {', '.join(detentores)}")
            disse = True


def _tentar(guarda: psycopg.Connection[Any]) -> bool:
    """Toma a trava numa transação que fica aberta; se não veio a tempo, desfaz."""
    guarda.execute("BEGIN ISOLATION LEVEL READ COMMITTED")
    guarda.execute(f"SET LOCAL lock_timeout = {ESPERA_MS}")
    try:
        guarda.execute("LOCK TABLE migracoes.trava IN EXCLUSIVE MODE")
    except errors.LockNotAvailable:
        guarda.execute("ROLLBACK")
        return False
    return True
