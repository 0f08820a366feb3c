"""Um `migrar` por banco de cada vez: a trava que o garante, e o que se diz de quem a segura."""

from time import monotonic
from typing import Any

import psycopg
import structlog
from psycopg import errors

from app.banco.erros import ErroBanco

TRAVA_MIGRAR = 8_130_924_42  # mesma chave para todos os processos que migram este banco
ESPERA_MS = 2000
DESISTENCIA_S = 60

_log = structlog.get_logger(__name__)

# Na primeira instalação core_dono ainda não existe, e só um superusuário se reconhece.
_DETENTORES = """
    SELECT coalesce(a.usename || ' (pid ' || t.pid || ')', 'uma transação preparada'),
           EXISTS (SELECT FROM pg_catalog.pg_roles AS r
                    WHERE r.oid = a.usesysid AND r.rolsuper
                       OR r.rolname = 'core_dono' AND pg_catalog.pg_has_role(a.usesysid, r.oid, 'MEMBER'))
      FROM pg_catalog.pg_locks AS t
      LEFT JOIN pg_catalog.pg_stat_activity AS a ON a.pid = t.pid
     WHERE t.locktype = 'advisory'
       AND t.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
       AND (t.classid, t.objid, t.objsubid) = (0, %s, 1)
       AND t.granted
"""


def tomar(conexao: psycopg.Connection[Any]) -> None:
    """Toma a trava, até o fim da sessão, e diz uma vez por quem espera.

    Por quem instala, que migra também, espera-se o que for preciso. Mas qualquer login pode tomar uma trava consultiva:
    de quem não instala, desiste-se ao fim de um minuto.
    """
    disse = False
    desde: float | None = None
    while not _tentar(conexao):
        detentores = conexao.execute(_DETENTORES, [TRAVA_MIGRAR]).fetchall()
        quem = ", ".join(nome for nome, _ in detentores)
        if detentores and not disse:
            _log.warning(f"migrar espera por quem segura a trava dele: {quem}")
            disse = True
        if all(instala for _, instala in detentores):
            desde = None
            continue
        desde = monotonic() if desde is None else desde
        if monotonic() - desde > DESISTENCIA_S:
            raise ErroBanco(
                f"a trava de migrar está com {quem}, e não com quem instala:"
                " encerre essa sessão (pg_terminate_backend) e repita"
            )


def _tentar(conexao: psycopg.Connection[Any]) -> bool:
    try:
        with conexao.transaction():  # o prazo é da transação; a trava, da sessão
            conexao.execute(f"SET LOCAL lock_timeout = {ESPERA_MS}")
            conexao.execute("SELECT pg_advisory_lock(%s)", [TRAVA_MIGRAR])
    except errors.LockNotAvailable:
        return False
    return True
