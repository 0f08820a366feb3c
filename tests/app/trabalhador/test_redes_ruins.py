"""O trabalhador através de uma rede que cai, que se cala ou que não traz avisos; e o handler que não volta."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from uuid import UUID

import pytest
from psycopg.conninfo import make_conninfo
from structlog.testing import capture_logs

from app.pecas.denylist import Denylist
from app.trabalhador import conexao, trabalhador
from tests.apoio.rede import Rede
from tests.app.trabalhador.proxy import Proxy, intermediar

DEMANDA, OUTRA, ANA, BIA = UUID(int=1), UUID(int=2), UUID(int=11), UUID(int=12)
PRAZO_S = 60.0
SEM_AVISOS = "avisos do banco não chegam"
TRAVAS_CONSULTIVAS = """
    SELECT pid, objid::int AS chave FROM pg_locks
     WHERE locktype = 'advisory' AND mode = 'ExclusiveLock'
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


@pytest.fixture(autouse=True)
def _prazos_curtos(monkeypatch: pytest.MonkeyPatch) -> None:
    """O sono é longo, para que só um aviso ou um pulso o interrompa; os prazos, curtos."""
    monkeypatch.setattr(trabalhador, "SONO_MAXIMO_S", 600.0)
    monkeypatch.setattr(trabalhador, "PULSO_S", 0.5)
    monkeypatch.setattr(trabalhador, "PRAZO_DA_RESPOSTA_S", 1.0)
    monkeypatch.setattr(conexao, "SESSAO_CALADA_S", 4.0)


@asynccontextmanager
async def trabalhador_por(dsn: str, reter_avisos: bool = False) -> AsyncIterator[Proxy]:
    async with intermediar(dsn, reter_avisos) as (proxy, dsn_do_proxy):
        parar = asyncio.Event()
        tarefa = asyncio.create_task(
            trabalhador.trabalhar(
                make_conninfo(dsn_do_proxy, user="formigueiro_app"), Denylist.de_texto("idiota"), parar
            )
        )
        try:
            yield proxy
        finally:
            parar.set()
            await tarefa


async def ate(condicao: Callable[[], object]) -> None:
    async with asyncio.timeout(PRAZO_S):
        while not condicao():
            await asyncio.sleep(0.02)


def dormindo(rede: Rede) -> int | None:
    """O processo do servidor que segura a trava do sono."""
    pid = rede.um(f"SELECT max(pid) FROM ({TRAVAS_CONSULTIVAS}) AS t WHERE chave = core.trava_do_sono()")
    return None if pid is None else int(pid)


def test_proxy_que_corta_a_conexao(rede: Rede, dsn: str) -> None:
    async def cenario() -> None:
        async with trabalhador_por(dsn) as proxy:
            await ate(lambda: dormindo(rede))
            proxy.fechar()
            rede.sortear(DEMANDA, ANA)
            await ate(lambda: rede.acompanhamentos(DEMANDA))

    asyncio.run(cenario())


def test_proxy_que_se_cala_e_abandonado_e_a_lideranca_passa_a_outra_conexao(rede: Rede, dsn: str) -> None:
    """O servidor não vê a conexão cair; solta as travas porque a sessão se calou."""

    async def cenario() -> None:
        async with trabalhador_por(dsn) as proxy:
            await ate(lambda: dormindo(rede))
            antiga = dormindo(rede)
            proxy.calar()
            rede.sortear(DEMANDA, ANA)
            await ate(lambda: rede.acompanhamentos(DEMANDA))
            await ate(lambda: dormindo(rede) not in (None, antiga))
            rede.atualizar(DEMANDA, ANA)
            await ate(lambda: rede.eventos("demanda.resumo_ciclo_atualizado"))

    asyncio.run(cenario())


def test_sono_de_muitos_pulsos_nao_derruba_a_sessao(rede: Rede, dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conexao, "SESSAO_CALADA_S", 3.0)
    monkeypatch.setattr(trabalhador, "PULSO_S", 0.1)
    monkeypatch.setattr(trabalhador, "PRAZO_DA_RESPOSTA_S", 10.0)

    async def cenario() -> None:
        async with trabalhador_por(dsn) as proxy:
            await ate(lambda: dormindo(rede))
            antes = (dormindo(rede), proxy.aceitas)
            adormeceu = rede.um("SELECT clock_timestamp()")
            await ate(lambda: rede.um("SELECT clock_timestamp() - %s > interval '4 s'", adormeceu))
            assert (dormindo(rede), proxy.aceitas) == antes

    asyncio.run(cenario())


def test_onde_o_aviso_nao_chega_trabalha_olhando_o_banco_e_diz_isso_uma_vez(rede: Rede, dsn: str) -> None:
    async def cenario() -> None:
        async with trabalhador_por(dsn, reter_avisos=True) as proxy:
            await ate(lambda: any(linha["event"].startswith(SEM_AVISOS) for linha in registro))
            rede.sortear(DEMANDA, ANA)
            await ate(lambda: rede.acompanhamentos(DEMANDA))
            rede.atualizar(DEMANDA, ANA)
            await ate(lambda: rede.eventos("demanda.resumo_ciclo_atualizado"))
            assert rede.linhas(TRAVAS_CONSULTIVAS) == []
            aceitas = proxy.aceitas
            proxy.fechar()
            rede.sortear(OUTRA, BIA)
            await ate(lambda: rede.acompanhamentos(OUTRA))
            assert proxy.aceitas > aceitas

    with capture_logs() as registro:
        asyncio.run(cenario())
    avisos = [linha for linha in registro if linha["event"].startswith(SEM_AVISOS)]
    assert [linha["log_level"] for linha in avisos] == ["warning"]


def test_handler_que_nao_volta_conta_como_morte_e_o_trabalhador_segue(
    rede: Rede, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conexao, "LIMITE_DO_COMANDO_S", 2.0)
    monkeypatch.setattr(conexao, "SESSAO_CALADA_S", 60.0)
    monkeypatch.setattr(trabalhador, "PRAZO_DA_RESPOSTA_S", 10.0)
    rede.bd.execute(
        f"""
        CREATE FUNCTION d6b.armadilha() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;
        CREATE TRIGGER armadilha BEFORE INSERT ON d6b.acompanhamentos FOR EACH ROW
            WHEN (NEW.demanda_id = '{DEMANDA}') EXECUTE FUNCTION d6b.armadilha()
        """
    )

    async def cenario() -> None:
        async with trabalhador_por(dsn) as proxy:
            await ate(lambda: dormindo(rede))
            aceitas = proxy.aceitas
            rede.sortear(DEMANDA, ANA)
            rede.sortear(OUTRA, BIA)
            await ate(lambda: rede.acompanhamentos(OUTRA))
            await ate(lambda: rede.linhas("SELECT FROM core.dlq WHERE sqlstate = '57P01'"))
            await ate(lambda: dormindo(rede))
            assert proxy.aceitas == aceitas

    with capture_logs() as registro:
        asyncio.run(cenario())
    # Se o minuto virou no meio, uma das quatro mortes foi do despacho que a agenda manda.
    passou = {"comando do trabalhador passou do tempo", "agendamento falhou"}
    mortes = [linha for linha in registro if linha["event"] in passou]
    assert len(mortes) == 4
