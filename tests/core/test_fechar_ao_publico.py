"""O que um login qualquer não pode fazer à rede: tomar travas consultivas nem escrever objetos grandes (N64)."""

import os
from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from app.banco.migrar import migrar
from tests.apoio.rede import Rede

ENCHER = "SELECT count(pg_advisory_lock(i)) FROM generate_series(1, 200000) AS i"
FECHADAS = [
    ENCHER,
    "SELECT pg_advisory_xact_lock(1, 2)",
    "SELECT pg_try_advisory_lock_shared(7031001)",
    "SELECT pg_try_advisory_xact_lock(7031002)",
    "SELECT lo_create(0)",
    "SELECT lo_creat(-1)",
    r"SELECT lo_from_bytea(0, '\x00')",
    r"SELECT lo_put(1, 0, '\x00')",
    "SELECT lo_import('/etc/hostname')",
]


@pytest.mark.parametrize("comando", FECHADAS)
@pytest.mark.parametrize("papel", ["formigueiro_leitura", "formigueiro_produtor", "formigueiro_dba"])
def test_nem_quem_le_nem_quem_publica_trava_ou_escreve_fora_do_que_e_seu(dsn: str, papel: str, comando: str) -> None:
    with (
        psycopg.connect(make_conninfo(dsn, user=papel), autocommit=True) as conexao,
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="permission denied for function"),
    ):
        conexao.execute(comando)


def test_soltar_segue_de_todos(dsn: str) -> None:
    """Há bibliotecas de conexão que o fazem ao devolver uma sessão."""
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_produtor"), autocommit=True) as conexao:
        conexao.execute("SELECT pg_advisory_unlock_all()")


def test_migrar_fecha_de_novo_o_que_se_abriu_e_nao_toca_no_que_se_deu_a_outro(rede: Rede, dsn: str) -> None:
    outro = f"outro_aplicativo_{os.getpid()}"
    rede.bd.execute(f"CREATE ROLE {outro}")
    try:
        rede.bd.execute(f"GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO PUBLIC, {outro}")
        rede.bd.execute("REVOKE EXECUTE ON FUNCTION pg_try_advisory_lock(bigint) FROM formigueiro_app")
        rede.bd.execute("GRANT EXECUTE ON FUNCTION lo_create(oid) TO PUBLIC")
        assert migrar(dsn, simulacao=True).avisos == []
        podem = "SELECT has_function_privilege(%s, %s, 'EXECUTE')"
        assert not rede.um(podem, "public", "pg_advisory_lock(bigint)")
        assert not rede.um(podem, "public", "lo_create(oid)")
        assert rede.um(podem, outro, "pg_advisory_lock(bigint)")
        assert rede.um(podem, "formigueiro_app", "pg_try_advisory_lock(bigint)")
        linhas = "SELECT oid, xmin::text, proacl FROM pg_proc WHERE proname ~ 'advisory|^lo_' ORDER BY oid"
        antes = rede.linhas(linhas)
        migrar(dsn, simulacao=True)
        assert rede.linhas(linhas) == antes
    finally:
        rede.bd.execute(f"DROP OWNED BY {outro}; DROP ROLE {outro}")


@pytest.fixture
def gerenciado(banco_vazio: Callable[[], str], bd: psycopg.Connection[Any]) -> Iterator[str]:
    """DSN de um banco instalado por quem não é superusuário."""
    instalador = f"instalador_{os.getpid()}"
    dsn = banco_vazio()
    bd.execute(f"CREATE ROLE {instalador} LOGIN CREATEROLE")
    bd.execute(f"GRANT core_dono, d6b_dono, d8_dono TO {instalador} WITH ADMIN OPTION")
    bd.execute(f"ALTER DATABASE {psycopg.conninfo.conninfo_to_dict(dsn)['dbname']} OWNER TO {instalador}")
    yield make_conninfo(dsn, user=instalador)
    with psycopg.connect(dsn, autocommit=True) as dono:
        dono.execute(f"REASSIGN OWNED BY {instalador} TO postgres; DROP OWNED BY {instalador}")
    bd.execute(f"DROP OWNED BY {instalador}; DROP ROLE {instalador}")


def test_onde_nao_pode_migrar_o_diz_e_a_rede_anda(gerenciado: str) -> None:
    (aviso,) = migrar(gerenciado).avisos
    assert "travas consultivas" in aviso
    with psycopg.connect(gerenciado, autocommit=True) as quem_instalou:
        rede = Rede(quem_instalou)
        assert rede.um("SELECT core.estado() -> 'aberto_ao_publico'") is True
        rede.sortear(UUID(int=1), UUID(int=11))
        rede.despachar()
        assert rede.um("SELECT core.estado() -> 'problemas'") == []


def test_o_estado_so_fala_das_portas_abertas(rede: Rede) -> None:
    assert rede.um("SELECT core.estado() -> 'aberto_ao_publico'") is False
    rede.bd.execute("GRANT EXECUTE ON FUNCTION lo_creat(int) TO PUBLIC")
    assert rede.um("SELECT core.estado() -> 'aberto_ao_publico'") is True
