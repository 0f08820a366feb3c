"""`trabalhar --uma-vez` diz o mesmo que o trabalhador permanente diria."""

import json
from uuid import UUID

import psycopg
from psycopg.conninfo import make_conninfo

from tests.apoio.rede import Rede
from tests.app.linha_de_comando.conftest import Formigueiro

DEMANDA, ANA = UUID(int=1), UUID(int=11)


def test_uma_vez_diz_tambem_as_linhas_de_nivel_info(formigueiro: Formigueiro, bd: psycopg.Connection, dsn: str) -> None:
    rede = Rede(bd)
    plano = {"intervalo_dias": 30, "prazo_tolerancia_dias": 5, "vida_util_dias": 300, "tipo": "poda"}
    rede.sortear(DEMANDA, ANA)
    rede.concluir(DEMANDA, ANA, plano_manutencao=plano, categoria="3.9", localizacao={"lat": -23.5, "lng": -46.6})
    rede.atualizar(UUID(int=2), ANA)  # sem acompanhamento: um aviso
    codigo, _, erro = formigueiro(
        "trabalhar", "--uma-vez", DATABASE_URL=make_conninfo(dsn, user="formigueiro_app"), MODERACAO_DENYLIST_TEXTO=""
    )
    assert codigo == 0, erro
    linhas = [json.loads(linha) for linha in erro.splitlines()]
    do_banco = {(linha["level"], linha["mensagem"]) for linha in linhas if linha.get("origem") == "banco"}
    assert ("info", "Projeto registrado para monitoramento de manutenção.") in do_banco
    assert ("warning", "Sem acompanhamento ativo para o conselheiro e a demanda") in do_banco
