"""`linha-do-tempo`: a história de uma demanda, para gente e para scripts."""

import json
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.apoio.rede import Rede
from tests.app.linha_de_comando.conftest import Formigueiro

DEMANDA, ANA = UUID(int=1), UUID(int=11)


def _viver(bd: psycopg.Connection[Any]) -> None:
    rede = Rede(bd)
    rede.relogio("2026-03-01 12:00:00+00")
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()


def test_uma_tabela_em_ordem(formigueiro: Formigueiro, bd: psycopg.Connection[Any]) -> None:
    _viver(bd)
    codigo, saida, _ = formigueiro("linha-do-tempo", str(DEMANDA))
    assert codigo == 0
    cabecalho, primeira, segunda, *_ = saida.splitlines()
    assert cabecalho.split()[:3] == ["QUANDO", "(UTC)", "ORIGEM"]
    assert primeira.startswith("2026-03-01 12:00:00  D-6a    evento conselheiro.sorteado 1.0.0")
    assert "acompanhamento aberto" in segunda
    assert str(ANA) in segunda


def test_em_json_vem_com_o_detalhe(formigueiro: Formigueiro, bd: psycopg.Connection[Any]) -> None:
    _viver(bd)
    codigo, saida, _ = formigueiro("linha-do-tempo", str(DEMANDA), "--json")
    primeira = json.loads(saida)[0]
    assert codigo == 0
    assert (primeira["quando"], primeira["origem"], primeira["quem"]) == ("2026-03-01T12:00:00Z", "D-6a", str(ANA))
    assert primeira["detalhe"]["payload"]["demanda_id"] == str(DEMANDA)


@pytest.mark.parametrize("estranho", ["[" * 3000 + "]" * 3000, "9" * 5000], ids=["fundo", "longo"])
def test_um_payload_que_o_python_nao_leria_tambem_se_mostra(
    formigueiro: Formigueiro, bd: psycopg.Connection[Any], estranho: str
) -> None:
    bd.execute(
        "SELECT core.publicar('demanda.recebida', jsonb_build_object('demanda_id', %s::uuid, 'extra', %s::jsonb),"
        " 'D-1a', '1.1.0')",
        [DEMANDA, estranho],
    )
    for opcoes in ([], ["--json"]):
        codigo, saida, erros = formigueiro("linha-do-tempo", str(DEMANDA), *opcoes)
        assert (codigo, erros) == (0, "")
        assert "demanda.recebida" in saida
    assert estranho in saida


def test_uma_demanda_desconhecida_e_dita_em_uma_linha(formigueiro: Formigueiro) -> None:
    assert formigueiro("linha-do-tempo", str(DEMANDA)) == (
        1, "", f"formigueiro: nada se sabe da demanda {DEMANDA}\n",
    )  # fmt: skip


def test_o_que_nao_e_um_id_e_erro_de_argumento(formigueiro: Formigueiro) -> None:
    assert formigueiro("linha-do-tempo", "a-do-bueiro")[0] == 2
