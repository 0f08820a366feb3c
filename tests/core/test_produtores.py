"""Quem publica o quê: a ligação de um papel de login a uma colônia, e o prazo de quem para no meio."""

import os
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tests.apoio.espera import ate
from tests.apoio.rede import Rede

SORTEIO: dict[str, object] = {
    "demanda_id": str(UUID(int=1)),
    "conselheiro_id": str(UUID(int=2)),
    "unidade_civica_id": str(UUID(int=3)),
}
OCIOSO = "idle_in_transaction_session_timeout"


@pytest.fixture
def login(bd: psycopg.Connection[Any]) -> Iterator[str]:
    """Um papel de login só deste teste, ainda sem direito nenhum."""
    papel = f"produtor_{os.getpid()}"
    bd.execute(f"CREATE ROLE {papel} LOGIN")
    yield papel
    bd.execute(f"DROP OWNED BY {papel}; DROP ROLE {papel}")


def _entrar(dsn: str, papel: str) -> psycopg.Connection[Any]:
    return psycopg.connect(make_conninfo(dsn, user=papel), autocommit=True)


def _prazo(conexao: psycopg.Connection[Any]) -> str:
    (valor,) = conexao.execute(f"SHOW {OCIOSO}").fetchone() or ("",)
    return str(valor)


def _recusado(bd: psycopg.Connection[Any], papel: str | None, colonia: str | None) -> str | None:
    with pytest.raises(psycopg.Error) as recusa:
        bd.execute("SELECT core.registrar_produtor(%s, %s)", [papel, colonia])
    return recusa.value.sqlstate


def test_registrado_publica_so_por_sua_colonia_e_removido_nao_publica_mais(rede: Rede, dsn: str, login: str) -> None:
    for _ in range(2):
        rede.bd.execute("SELECT core.registrar_produtor(%s, 'D-6a')", [login])
    with _entrar(dsn, login) as produtor:
        assert _prazo(produtor) == "30s"
        daqui = Rede(produtor)
        daqui.publicar("conselheiro.sorteado", SORTEIO, "D-6a")
        for tipo, origem in (("conselheiro.sorteado", "D-12"), ("conselheiro.demanda_iniciada", "D-6a")):
            with pytest.raises(psycopg.Error) as recusa:
                daqui.publicar(tipo, SORTEIO, origem)
            assert recusa.value.sqlstate == "FM403"
        assert rede.um("SELECT core.remover_produtor(%s, 'D-12')", login) == 0
        assert rede.um("SELECT core.remover_produtor(%s)", login) == 1
        with pytest.raises(psycopg.Error, match="não publica pela colônia D-6a"):
            daqui.publicar("conselheiro.sorteado", SORTEIO, "D-6a")
    assert len(rede.eventos()) == 1


def test_o_que_nao_se_registra(bd: psycopg.Connection[Any], login: str) -> None:
    assert _recusado(bd, "ninguem_com_este_nome", "D-6a") == "FM404"
    assert _recusado(bd, None, "D-6a") == "FM404"
    assert _recusado(bd, "core_dono", "D-6a") == "FM404"
    assert _recusado(bd, "formigueiro_dba", "D-6a") == "FM422"
    assert _recusado(bd, login, "D-99") == "FM422"
    assert _recusado(bd, login, None) == "FM422"
    assert bd.execute("SELECT count(*) FROM core.produtores WHERE papel = %s", [login]).fetchone() == (0,)


@pytest.mark.parametrize("outro", ["formigueiro_app", "formigueiro_dba", "formigueiro_leitura"])
def test_quem_opera_ou_le_nao_se_registra_e_quem_passa_a_operar_depois_e_dito(
    rede: Rede, login: str, outro: str
) -> None:
    rede.bd.execute("SELECT core.registrar_produtor(%s, 'D-6a')", [login])
    assert rede.um("SELECT core.estado() -> 'problemas'") == []
    intermedio = f"grupo_{os.getpid()}"
    rede.bd.execute(f"CREATE ROLE {intermedio}; GRANT {outro} TO {intermedio}; GRANT {intermedio} TO {login}")
    try:
        with pytest.raises(psycopg.Error, match=f"papel só do produtor, e não {login}, membro de {outro}") as recusa:
            rede.bd.execute("SELECT core.registrar_produtor(%s, 'D-12')", [login])
        assert recusa.value.sqlstate == "FM422"
        (problema,) = rede.um("SELECT core.estado() -> 'problemas'")
        assert problema.startswith(f"o produtor {login} é também membro de {outro}")
    finally:
        rede.bd.execute(f"DROP ROLE {intermedio}")


@pytest.mark.parametrize("dono", ["core_dono", "d6b_dono", "d8_dono", None])
def test_quem_ja_publica_por_todas_nao_se_registra(bd: psycopg.Connection[Any], login: str, dono: str | None) -> None:
    bd.execute(f"GRANT {dono} TO {login}" if dono else f"ALTER ROLE {login} SUPERUSER")
    with pytest.raises(psycopg.Error, match=f"papel só do produtor, e não {login}, superusuário ou membro") as recusa:
        bd.execute("SELECT core.registrar_produtor(%s, 'D-6a')", [login])
    assert recusa.value.sqlstate == "FM422"
    assert bd.execute("SELECT count(*) FROM core.produtores WHERE papel = %s", [login]).fetchone() == (0,)


def test_login_que_nao_herda_entra_e_publica_ou_e_recusado(rede: Rede, dsn: str, login: str) -> None:
    """Do PostgreSQL 16 em diante o vínculo herda, ainda que já houvesse um que não; no 15, a recusa diz o que fazer."""
    rede.bd.execute(f"ALTER ROLE {login} NOINHERIT; GRANT formigueiro_produtor TO {login}")
    if rede.bd.info.server_version < 160000:
        with pytest.raises(psycopg.Error, match=f"ALTER ROLE {login} INHERIT") as recusa:
            rede.bd.execute("SELECT core.registrar_produtor(%s, 'D-6a')", [login])
        assert recusa.value.sqlstate == "FM422"
        rede.bd.execute(f"ALTER ROLE {login} INHERIT")
    rede.bd.execute("SELECT core.registrar_produtor(%s, 'D-6a')", [login])
    with _entrar(dsn, login) as produtor:
        Rede(produtor).publicar("conselheiro.sorteado", SORTEIO, "D-6a")
    assert len(rede.eventos()) == 1


def test_quem_instalou_sem_superusuario_tambem_registra(rede: Rede, dsn: str, login: str) -> None:
    """Sem direito de mudar um papel alheio (PostgreSQL 16 ou mais novo), o prazo fica para cada publicação."""
    instalador = f"instalador_{os.getpid()}"
    rede.bd.execute(f"CREATE ROLE {instalador} LOGIN CREATEROLE")
    try:
        rede.bd.execute(f"GRANT core_dono, formigueiro_produtor TO {instalador} WITH ADMIN OPTION")
        rede.bd.execute(f"GRANT CONNECT ON DATABASE {rede.bd.info.dbname} TO {instalador}")
        with _entrar(dsn, instalador) as quem_instalou:
            quem_instalou.execute("SELECT core.registrar_produtor(%s, 'D-6a')", [login])
        with _entrar(dsn, login) as produtor:
            assert _prazo(produtor) == ("0" if rede.bd.info.server_version >= 160000 else "30s")
            produtor.execute("BEGIN")
            Rede(produtor).publicar("conselheiro.sorteado", SORTEIO, "D-6a")
            assert _prazo(produtor) == "30s"
            produtor.execute("COMMIT")
    finally:
        rede.bd.execute(f"DROP OWNED BY {instalador} CASCADE; DROP ROLE {instalador}")
    assert len(rede.eventos()) == 1


def test_um_prazo_que_o_papel_ja_tem_fica(bd: psycopg.Connection[Any], dsn: str, login: str) -> None:
    bd.execute(f"ALTER ROLE {login} SET {OCIOSO} = '5s'")
    bd.execute("SELECT core.registrar_produtor(%s, 'D-6a')", [login])
    with _entrar(dsn, login) as produtor:
        assert _prazo(produtor) == "5s"


@pytest.mark.parametrize("lote", [False, True])
def test_produtor_ligado_a_mao_e_parado_numa_transacao_cai_e_solta_o_horizonte(
    rede: Rede, dsn: str, login: str, lote: bool
) -> None:
    """Membro de formigueiro_produtor não herda o prazo dele: quem o dá é a própria publicação."""
    rede.bd.execute(
        sql.SQL("GRANT formigueiro_produtor TO {0}; INSERT INTO core.produtores VALUES ({1}, 'D-6a')").format(
            sql.Identifier(login), sql.Literal(login)
        )
    )
    rede.bd.execute("UPDATE core.parametros SET valor = '1' WHERE nome = 'segundos_ocioso_produtor'")
    with _entrar(dsn, login) as parado:
        assert _prazo(parado) == "0"
        parado.execute("BEGIN")
        if lote:
            parado.execute(
                "SELECT core.publicar_lote(jsonb_build_array(jsonb_build_object("
                "'tipo', 'conselheiro.sorteado', 'origem', 'D-6a', 'payload', %s::jsonb)))",
                [Jsonb(SORTEIO)],
            )
        else:
            Rede(parado).publicar("conselheiro.sorteado", SORTEIO, "D-6a")
        assert _prazo(parado) == "1s"
        rede.sortear(UUID(int=4), UUID(int=5))
        ate(lambda: _despachado(rede, UUID(int=4)), o_que="a sessão parada cair e o horizonte passar")
        with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
            parado.execute("COMMIT")


def _despachado(rede: Rede, demanda: UUID) -> bool:
    rede.despachar()
    return bool(rede.acompanhamentos(demanda))


def test_o_prazo_dura_so_a_transacao(rede: Rede, dsn: str, login: str) -> None:
    rede.bd.execute(f"GRANT formigueiro_produtor TO {login}")
    rede.bd.execute("INSERT INTO core.produtores VALUES (%s, 'D-6a')", [login])
    with _entrar(dsn, login) as produtor:
        Rede(produtor).publicar("conselheiro.sorteado", SORTEIO, "D-6a")
        assert _prazo(produtor) == "0"


@pytest.mark.parametrize(
    ("papel", "prazo"), [("formigueiro_app", "1min"), ("formigueiro_dba", "5min"), ("formigueiro_produtor", "30s")]
)
def test_quem_publica_tem_um_prazo_para_transacoes_paradas(dsn: str, papel: str, prazo: str) -> None:
    with _entrar(dsn, papel) as conexao:
        assert _prazo(conexao) == prazo


def test_quem_so_le_tem_prazo_para_tudo(dsn: str) -> None:
    with _entrar(dsn, "formigueiro_leitura") as conexao:
        prazos = conexao.execute(
            "SELECT name, setting::int / 1000, source FROM pg_settings"
            " WHERE name IN ('statement_timeout', 'idle_session_timeout', %s) ORDER BY name",
            [OCIOSO],
        ).fetchall()
    assert prazos == [(OCIOSO, 60, "user"), ("idle_session_timeout", 1800, "user"), ("statement_timeout", 60, "user")]


@pytest.mark.parametrize(
    "comando",
    [
        "CALL d8.executar_varredura({})",
        "SELECT d8.varrer_lote({0}, '-infinity', '00000000-0000-0000-0000-000000000000', {0},"
        " 'ffffffff-ffff-ffff-ffff-ffffffffffff', 1)",
        "SELECT d6b.verificar_prazos_proximos({})",
        "SELECT d6b.verificar_acompanhamentos_inativos({})",
    ],
)
@pytest.mark.parametrize("papel", ["formigueiro_app", "formigueiro_dba"])
def test_ninguem_adianta_nem_atrasa_uma_varredura(rede: Rede, dsn: str, papel: str, comando: str) -> None:
    agora = "core.agora() {} interval '{} seconds'"
    with _entrar(dsn, papel) as conexao:
        for sinal in "+-":
            with pytest.raises(psycopg.Error, match="só varre à hora da rede: o campo agora") as recusa:
                conexao.execute(comando.format(agora.format(sinal, 61)))
            assert recusa.value.sqlstate == "FM403"
            conexao.execute(comando.format(agora.format(sinal, 59)))
            rede.bd.execute(comando.format(agora.format(sinal, 10_000_000)))
