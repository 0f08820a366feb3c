"""Uma demanda de manutenção, gerada pela D-8, vive na API como qualquer outra (D-6b 1.5 e 3.16; D-8 5.2)."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
from litestar import Litestar
from litestar.testing import TestClient

from tests.apoio.rede import Rede
from tests.app.http.apoio import ACOMPANHAMENTO, confirmar, ratificar

OBRA: dict[str, object] = {
    "categoria": "3.9_pracas_parques",
    "localizacao": {"lat": -23.5, "lng": -46.6, "endereco": "Praça Rotary"},
    "titulo": "Reforma do parquinho",
    "responsavel_tecnico": "Secretaria do Verde",
    "plano_manutencao": {
        "intervalo_dias": 100,
        "tipo": "inspecao",
        "prazo_tolerancia_dias": 10,
        "vida_util_dias": 1000,
    },
}


def _gerar_manutencao(rede: Rede) -> UUID:
    """Conclui uma obra com plano de manutenção, deixa vencer o ciclo e devolve a demanda que a D-8 gera."""
    obra, conselheiro = uuid4(), uuid4()
    rede.relogio("2026-11-30 12:00:00+00")
    rede.sortear(obra, conselheiro)
    rede.concluir(obra, conselheiro, "Obra entregue.", **OBRA)
    rede.despachar()
    rede.relogio("2027-03-10 12:00:00+00")
    rede.bd.execute("CALL d8.executar_varredura()")
    rede.despachar()
    (gerada,) = rede.eventos("demanda.manutenção_gerada")
    return UUID(gerada["payload"]["demanda_id"])


def test_sorteada_relatada_e_ratificada_como_qualquer_demanda(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], cidadao: UUID, bd: psycopg.Connection[Any]
) -> None:
    rede = Rede(bd)
    manutencao = _gerar_manutencao(rede)
    rede.sortear(manutencao, cidadao)
    rede.atualizar(manutencao, cidadao)
    confirmar(bd, manutencao)

    corpo = cliente.get(ACOMPANHAMENTO, headers=cabecalhos).json()
    assert corpo["acompanhamento"]["demanda_id"] == str(manutencao)
    assert corpo["acompanhamento"]["status"] == "em_andamento"
    assert corpo["acompanhamento"]["pendencia_conclusao"]["total_conclusoes"] == 5
    assert "contato_realizado" in [a["tipo"] for a in corpo["atualizacoes"]]

    resposta = cliente.post(ratificar(manutencao), headers=cabecalhos)
    assert resposta.status_code == 201, resposta.text
    assert resposta.json() == {"demanda_id": str(manutencao), "status": "concluida"}
    assert rede.tipos(manutencao)[-3:] == ["demanda.concluída", "manutenção.executada", "conselheiro.ciclo_concluído"]
    assert cliente.get(ACOMPANHAMENTO, headers=cabecalhos).json()["acompanhamento"] is None

    rede.despachar()
    (ciclo,) = rede.linhas("SELECT * FROM d8.historico_manutencoes")
    assert (ciclo["status"], ciclo["conselheiro_id"]) == ("concluida", cidadao)
