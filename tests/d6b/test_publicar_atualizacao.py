"""Os textos que o trabalhador devolve: o que faria um evento inválido é recusado antes de mudar o que seja (N74)."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.apoio.rede import Rede

DEMANDA, ANA = UUID(int=1), UUID(int=11)
TEXTOS: dict[str, Any] = {
    "termos": [],
    "descricao": "Telefonou.",
    "caminho": Jsonb({"canal": "telefone"}),
    "resumo": "Um resumo.",
    "fontes": [],
}
PUBLICAR = (
    "SELECT d6b.publicar_atualizacao(%(atualizacao_id)s, %(reserva)s, %(termos)s::text[], %(descricao)s, %(caminho)s,"
    " %(resumo)s, %(fontes)s::uuid[])"
)
RESUMIR = "SELECT d6b.publicar_resumo(%(atualizacao_id)s, %(reserva)s, %(resumo)s, %(fontes)s::uuid[])"


@pytest.fixture
def rede(rede: Rede) -> Rede:
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    return rede


def _reservar(rede: Rede) -> dict[str, Any]:
    (reservada,) = rede.linhas("SELECT r FROM d6b.reservar_publicacoes() AS r")
    return {campo: reservada["r"][campo] for campo in ("atualizacao_id", "reserva")}


def _fila(rede: Rede) -> list[dict[str, Any]]:
    return rede.linhas("SELECT * FROM d6b.publicacoes_pendentes")


@pytest.mark.parametrize(
    "errado",
    [
        {"atualizacao_id": None},
        {"reserva": None},
        {"termos": None},
        {"termos": [None]},
        {"descricao": None},
        {"caminho": Jsonb([])},
        {"caminho": Jsonb("texto")},
        {"resumo": None},
        {"fontes": None},
        {"fontes": [None]},
    ],
    ids=str,
)
def test_texto_que_o_registro_recusaria_nao_muda_nada_e_nao_detem_a_chave(rede: Rede, errado: dict[str, Any]) -> None:
    reserva = _reservar(rede)
    antes = _fila(rede)
    with pytest.raises(psycopg.Error) as recusa:
        rede.bd.execute(PUBLICAR, TEXTOS | reserva | errado)
    assert recusa.value.sqlstate == "FM422"
    assert _fila(rede) == antes
    assert rede.um("SELECT count(*) FROM core.dlq") == 0
    assert rede.bd.execute(PUBLICAR, TEXTOS | reserva).fetchone() == (True,)
    assert "conselheiro.atualização_publicada" in rede.tipos(DEMANDA)


def test_sem_caminho_a_atualizacao_sai(rede: Rede) -> None:
    assert rede.bd.execute(PUBLICAR, TEXTOS | _reservar(rede) | {"caminho": None}).fetchone() == (True,)
    assert rede.um("SELECT count(*) FROM core.dlq") == 0


@pytest.mark.parametrize("errado", [{"resumo": None}, {"fontes": None}, {"fontes": [None]}], ids=str)
def test_resumo_de_fecho_que_o_registro_recusaria_fica_na_fila(rede: Rede, errado: dict[str, Any]) -> None:
    rede.bd.execute(PUBLICAR, TEXTOS | _reservar(rede))
    rede.concluir(DEMANDA, ANA)
    rede.despachar()
    reserva = _reservar(rede)
    with pytest.raises(psycopg.Error) as recusa:
        rede.bd.execute(RESUMIR, TEXTOS | reserva | errado)
    assert recusa.value.sqlstate == "FM422"
    assert rede.um("SELECT count(*) FROM core.dlq") == 0
    assert rede.acompanhamento(DEMANDA)["saidas_conclusao_pendentes"] is False
    assert rede.bd.execute(RESUMIR, TEXTOS | reserva).fetchone() == (True,)


def test_a_reserva_que_nao_vale_continua_a_nao_fazer_nada(rede: Rede) -> None:
    reserva = _reservar(rede) | {"reserva": str(uuid4())}
    assert rede.bd.execute(PUBLICAR, TEXTOS | reserva).fetchone() == (False,)
