"""As sessões do produto não dependem dos padrões do servidor, do banco nem do papel (N69)."""

import asyncio
import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

import psycopg
import pytest
from litestar.testing import TestClient
from psycopg.conninfo import make_conninfo

from app.ajustes import Ajustes
from app.banco.migrar import migrar
from app.banco.sessao import conectar
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt, emitir_token
from app.linha_de_comando.principal import principal
from app.pecas.denylist import Denylist
from app.trabalhador.andamento import Andamento
from app.trabalhador.trabalhador import trabalhar
from tests.apoio.rede import Rede

DEMANDA, ANA = UUID("3f0c9a52-5a55-4c1b-9d3e-0d1a2b3c4d5e"), UUID(int=11)
CHAVE = ChaveJwt.de_segredo("s" * 32)
PRAZO_S = 60.0

# Nada disto é do produto: é o que alguém pode ter posto no banco, no papel ou no servidor, por outro motivo.
PADROES = {
    "serializable": {"default_transaction_isolation": "serializable", "default_transaction_deferrable": "on"},
    "repeatable_read": {"default_transaction_isolation": "repeatable read"},
    "so_leitura": {"default_transaction_read_only": "on"},
    "datas_e_numeros": {
        "DateStyle": "SQL, DMY",
        "IntervalStyle": "sql_standard",
        "TimeZone": "America/St_Johns",
        "extra_float_digits": "-15",
        "bytea_output": "escape",
        "standard_conforming_strings": "off",
        "client_encoding": "LATIN1",
    },
    "prazos": {
        "statement_timeout": "50ms",
        "lock_timeout": "1ms",
        "idle_in_transaction_session_timeout": "1ms",
        "idle_session_timeout": "300ms",
    },
    "nomes_e_linhas": {"search_path": "pg_temp, nenhum", "row_security": "off", "client_min_messages": "error"},
}


@pytest.fixture
def rede(bd: psycopg.Connection[Any]) -> Rede:
    return Rede(bd)


@pytest.fixture(params=PADROES)
def padroes(request: pytest.FixtureRequest, rede: Rede) -> str:
    """Muda os padrões do banco; a conexão de `rede`, já aberta, não os tem."""
    for nome, valor in PADROES[request.param].items():
        rede.bd.execute(f"ALTER DATABASE {rede.bd.info.dbname} SET {nome} = '{valor}'")
    return str(request.param)


def test_o_trabalhador_e_as_rotas_nao_dependem_dos_padroes_do_banco(padroes: str, rede: Rede, dsn: str) -> None:
    dsn_app = make_conninfo(dsn, user="formigueiro_app")
    andamento = Andamento()
    asyncio.run(_trabalhar_ate_o_texto_sair(rede, dsn_app, andamento))
    assert andamento.motivo() is None
    with TestClient(criar_app(Ajustes(), dsn_app, CHAVE, verificacoes=[andamento.motivo])) as cliente:
        sessao = {"Authorization": f"Bearer {emitir_token(CHAVE, ANA)}"}
        resposta = cliente.get("/d6b/conselheiros/me/acompanhamento", headers=sessao)
        assert resposta.status_code == 200, resposta.text
        assert resposta.json()["acompanhamento"]["total_atualizacoes"] == 1
        relato = {"textoBruto": "Liguei.", "tipoAtualizacao": "contato_realizado", "demandaId": str(DEMANDA)}
        assert cliente.post("/d6b/sugerir-estruturacao", headers=sessao, json=relato).status_code == 201
        assert cliente.get("/readyz").status_code == 200
        assert "formigueiro_coleta_completa 1.0" in cliente.get("/metrics").text


async def _trabalhar_ate_o_texto_sair(rede: Rede, dsn: str, andamento: Andamento) -> None:
    parar = asyncio.Event()
    tarefa = asyncio.create_task(trabalhar(dsn, Denylist.de_texto("idiota"), parar, andamento))
    try:
        async with asyncio.timeout(PRAZO_S):
            rede.sortear(DEMANDA, ANA)
            rede.atualizar(DEMANDA, ANA)
            while not rede.eventos("demanda.resumo_ciclo_atualizado"):
                await asyncio.sleep(0.02)
    finally:
        parar.set()
        await tarefa


def test_a_linha_de_comando_nao_depende_dos_padroes_do_banco(
    padroes: str, rede: Rede, dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", dsn)
    monkeypatch.setenv("MODERACAO_DENYLIST_TEXTO", "idiota")
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)

    def rodar(*comando: str) -> str:
        assert principal(comando) == 0, capsys.readouterr()
        return capsys.readouterr().out

    rodar("migrar")
    rodar("trabalhar", "--uma-vez")
    assert rede.eventos("demanda.resumo_ciclo_atualizado")
    assert "acompanhamento aberto" in rodar("linha-do-tempo", str(DEMANDA))
    assert json.loads(rodar("estado", "--json"))["problemas"] == []
    assert rodar("dlq", "listar") == "Nada na DLQ.\n"


def test_instalar_do_nada_nao_depende_dos_padroes_do_banco(banco_vazio: Callable[[], str]) -> None:
    dsn = banco_vazio()
    with psycopg.connect(dsn, autocommit=True) as bd:
        for ajustes in PADROES.values():
            for nome, valor in ajustes.items():
                bd.execute(f"ALTER DATABASE {bd.info.dbname} SET {nome} = '{valor}'")
    assert migrar(dsn).funcoes
    with conectar(dsn) as bd:
        assert bd.execute("SELECT count(*) FROM core.consumidores").fetchone() == (2,)


def test_o_que_o_papel_tem_neste_banco_tambem_nao_vale(rede: Rede, dsn: str) -> None:
    """É o padrão que manda em todos os outros."""
    rede.bd.execute(
        f"ALTER ROLE formigueiro_app IN DATABASE {rede.bd.info.dbname}"
        " SET default_transaction_isolation = 'serializable'"
    )
    with conectar(make_conninfo(dsn, user="formigueiro_app")) as app:
        assert app.execute("SELECT current_setting('transaction_isolation')").fetchone() == ("read committed",)
