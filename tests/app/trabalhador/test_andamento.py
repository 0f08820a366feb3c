"""Um erro que não é da conexão se diz pelo nome, uma vez, e tira a prontidão (N69)."""

import asyncio
from typing import Any
from uuid import UUID

import pytest
from litestar.testing import TestClient
from psycopg import errors
from psycopg.conninfo import make_conninfo
from structlog.testing import capture_logs

from app.ajustes import Ajustes
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt
from app.pecas.denylist import Denylist
from app.trabalhador import andamento
from app.trabalhador.andamento import Andamento
from app.trabalhador.trabalhador import trabalhar
from tests.apoio.rede import Rede

DEMANDA, ANA = UUID(int=1), UUID(int=11)
PRAZO_S = 60.0

# O que impede, o que desfaz o impedimento, e o que se há de ler.
IMPEDIMENTOS = {
    "direito que falta": (
        "REVOKE EXECUTE ON PROCEDURE core.despachar_por(interval) FROM formigueiro_app",
        "GRANT EXECUTE ON PROCEDURE core.despachar_por(interval) TO formigueiro_app",
        "InsufficientPrivilege: permission denied for procedure despachar_por (42501)",
    ),
    "funcao que falta": (
        "ALTER FUNCTION d6b.reservar_publicacoes(int) RENAME TO reservar_outras",
        "ALTER FUNCTION d6b.reservar_outras(int) RENAME TO reservar_publicacoes",
        "UndefinedFunction: function d6b.reservar_publicacoes(",
    ),
    "recusa do banco": (
        "CREATE FUNCTION core.recusar() RETURNS trigger LANGUAGE plpgsql AS $$"
        " BEGIN RAISE EXCEPTION 'Hoje não.' USING ERRCODE = 'FM409'; END $$;"
        " CREATE TRIGGER recusar BEFORE UPDATE ON core.consumidores EXECUTE FUNCTION core.recusar()",
        "DROP TRIGGER recusar ON core.consumidores",
        "Hoje não. (FM409)",
    ),
}


@pytest.mark.parametrize("caso", IMPEDIMENTOS)
def test_o_que_o_banco_recusa_se_diz_uma_vez_tira_a_prontidao_e_passa(
    caso: str, rede: Rede, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    impedir, desimpedir, dito = IMPEDIMENTOS[caso]
    monkeypatch.setattr(andamento, "RECUO_MINIMO_S", 0.001)
    dsn_app = make_conninfo(dsn, user="formigueiro_app")
    visto = Andamento()
    rede.bd.execute(impedir)
    rede.sortear(DEMANDA, ANA)

    async def rodar(cliente: TestClient[Any]) -> None:
        parar = asyncio.Event()
        tarefa = asyncio.create_task(trabalhar(dsn_app, Denylist.de_texto("idiota"), parar, visto))
        try:
            async with asyncio.timeout(PRAZO_S):
                while visto.motivo() is None:
                    await asyncio.sleep(0.001)
                resposta = await asyncio.to_thread(cliente.get, "/readyz")
                assert resposta.status_code == 503
                assert dito in resposta.json()["detail"]
                rede.bd.execute(desimpedir)
                while visto.motivo() or not rede.acompanhamentos(DEMANDA):
                    await asyncio.sleep(0.02)
                resposta = await asyncio.to_thread(cliente.get, "/readyz")
                assert resposta.status_code == 200, resposta.text
        finally:
            parar.set()
            await tarefa

    with (
        TestClient(
            criar_app(Ajustes(), dsn_app, ChaveJwt.de_segredo("s" * 32), verificacoes=[visto.motivo])
        ) as cliente,
        capture_logs() as linhas,
    ):
        asyncio.run(rodar(cliente))
    ditas = [linha for linha in linhas if linha["event"].startswith("trabalhador impedido")]
    assert len(ditas) == 1
    assert dito in ditas[0]["erro"]
    (voltou,) = (linha for linha in linhas if linha["event"] == "trabalhador voltou a trabalhar")
    assert voltou["falhas"] >= andamento.FALHAS_DE_IMPEDIDO
    assert not [linha for linha in linhas if linha["event"].startswith("conexão do trabalhador perdida")]


def test_o_recuo_cresce_ate_o_teto(monkeypatch: pytest.MonkeyPatch) -> None:
    impedido, perdido = Andamento(), Andamento()
    esperas = [impedido.falhou(errors.InsufficientPrivilege()) for _ in range(40)]
    assert esperas == sorted(esperas)
    assert (esperas[0], esperas[-1]) == (0.2, andamento.RECUO_MAXIMO_S)
    assert [perdido.falhou(errors.AdminShutdown()) for _ in range(40)][-1] == 10.0
    assert perdido.motivo() is None
