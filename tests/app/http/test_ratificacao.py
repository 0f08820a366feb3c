"""POST /d6b/demandas/{demanda_id}/ratificar-conclusao (D-6b 3.16): cada status, com a mensagem da especificação."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from litestar import Litestar
from litestar.testing import TestClient

from tests.apoio.falhas import vencer_tentativas
from tests.apoio.rede import Rede
from tests.app.http.apoio import PENDENCIA, abrir_acompanhamento, confirmar, problema, ratificar

V1 = "2f1b0f54-cd1e-11f0-8de9-0242ac120002"
V4 = "5f0c7c0e-6a3e-4f3b-9a44-5f6f2f1a9b10"


def test_o_conselheiro_ratifica_e_a_demanda_conclui(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], cidadao: UUID, bd: psycopg.Connection[Any]
) -> None:
    demanda = abrir_acompanhamento(bd, cidadao)
    confirmar(bd, demanda)
    resposta = cliente.post(ratificar(demanda), headers=cabecalhos)
    assert resposta.status_code == 201, resposta.text
    assert resposta.json() == {"demanda_id": str(demanda), "status": "concluida"}
    assert resposta.headers["content-type"] == "application/json"
    # De novo, já não há ciclo ativo.
    problema(cliente.post(ratificar(demanda), headers=cabecalhos), 404)


def test_sem_acompanhamento_ativo_e_404(cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str]) -> None:
    corpo = problema(cliente_comum.post(ratificar(uuid4()), headers=cabecalhos), 404)
    assert corpo["detail"] == "Acompanhamento ativo não encontrado para a demanda"


def test_sem_pendencia_e_409(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], cidadao: UUID, bd: psycopg.Connection[Any]
) -> None:
    corpo = problema(cliente.post(ratificar(abrir_acompanhamento(bd, cidadao)), headers=cabecalhos), 409)
    assert corpo["detail"] == "Demanda sem pendência de conclusão"


def test_com_relato_por_processar_e_409_ate_que_ele_passe(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], cidadao: UUID, bd: psycopg.Connection[Any]
) -> None:
    rede, demanda = Rede(bd), uuid4()
    rede.sortear(demanda, cidadao)
    confirmar(bd, demanda)
    bd.execute(
        """
        CREATE FUNCTION d6b.veneno() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'veneno'; END $$;
        CREATE TRIGGER veneno BEFORE INSERT ON d6b.atualizacoes FOR EACH ROW EXECUTE FUNCTION d6b.veneno()
        """
    )
    rede.atualizar(demanda, cidadao)
    rede.despachar()
    corpo = problema(cliente.post(ratificar(demanda), headers=cabecalhos), 409)
    assert corpo["detail"] == "Há um relato desta demanda por processar; tente de novo mais tarde"

    bd.execute("DROP TRIGGER veneno ON d6b.atualizacoes")
    vencer_tentativas(bd)
    rede.despachar()
    assert cliente.post(ratificar(demanda), headers=cabecalhos).status_code == 201


def test_outro_cidadao_e_403(
    cliente: TestClient[Litestar],
    sessao: Callable[[UUID], dict[str, str]],
    cidadao: UUID,
    bd: psycopg.Connection[Any],
) -> None:
    demanda = abrir_acompanhamento(bd, cidadao, PENDENCIA)
    corpo = problema(cliente.post(ratificar(demanda), headers=sessao(uuid4())), 403)
    assert corpo["detail"] == "Apenas o conselheiro do acompanhamento pode ratificar"


@pytest.mark.parametrize(
    "demanda",
    ["1", "abc", V1, UUID(int=0), f"{{{V4}}}", V4.replace("-", ""), f"urn:uuid:{V4}", "%00", "é" * 36],
)
def test_demanda_id_que_nao_e_uuid_versao_4_e_400(
    cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str], demanda: object
) -> None:
    corpo = problema(cliente_comum.post(ratificar(demanda), headers=cabecalhos), 400)
    assert corpo["erros"] == [{"campo": "demanda_id", "mensagem": "deve ser um UUID versão 4"}]


def test_uuid_em_maiusculas_vale(cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str]) -> None:
    problema(cliente_comum.post(ratificar(str(uuid4()).upper()), headers=cabecalhos), 404)


@pytest.mark.parametrize("corpo", [b"", b"{}", b"nem json"])
def test_o_corpo_nao_importa(cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str], corpo: bytes) -> None:
    problema(cliente_comum.post(ratificar(uuid4()), content=corpo, headers=cabecalhos), 404)
