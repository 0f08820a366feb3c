"""Descartado não é perdido: o operador conserta a causa e roda o evento de novo (regra 6)."""

from uuid import UUID

import psycopg
import pytest

from tests.apoio.rede import Rede

DEMANDA, ANA, BIA = UUID(int=1), UUID(int=11), UUID(int=12)


def reprocessar(rede: Rede, evento: UUID) -> str:
    return str(rede.um("SELECT core.reprocessar(%s, 'D-6b')", evento))


def test_atualizacao_descartada_vale_depois_do_sorteio(rede: Rede) -> None:
    cedo = rede.atualizar(DEMANDA, ANA)
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    assert reprocessar(rede, cedo) == "processado"
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 1
    assert reprocessar(rede, cedo) == "duplicado"


def test_o_que_ja_teve_efeito_e_reconhecido(rede: Rede) -> None:
    sorteio = rede.sortear(DEMANDA, ANA)
    rede.despachar()
    assert reprocessar(rede, sorteio) == "duplicado"
    assert rede.processado(sorteio)


def test_sorteio_anterior_ao_ultimo_da_demanda_e_recusado(rede: Rede) -> None:
    primeiro = rede.sortear(DEMANDA, ANA)
    rede.sortear(DEMANDA, BIA)
    rede.despachar()
    with pytest.raises(psycopg.Error, match="anterior ao último") as recusa:
        reprocessar(rede, primeiro)
    assert recusa.value.sqlstate == "FM409"


@pytest.mark.parametrize("colonia", ["D-6b", "D-99"])
def test_evento_ou_colonia_que_nao_existe(rede: Rede, colonia: str) -> None:
    with pytest.raises(psycopg.Error) as recusa:
        rede.bd.execute("SELECT core.reprocessar(%s, %s)", [UUID(int=404), colonia])
    assert recusa.value.sqlstate == "FM404"
