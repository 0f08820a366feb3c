"""`estado`: o que se vê num relance, e o código de saída conforme a saúde."""

import json
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.apoio.falhas import recusar_publicacao
from tests.apoio.rede import Rede
from tests.app.linha_de_comando.conftest import Formigueiro


def test_saudavel(formigueiro: Formigueiro) -> None:
    codigo, saida, _ = formigueiro("estado")
    assert codigo == 0
    assert saida.startswith("Tudo em ordem.")
    for trecho in ("D-6b", "D-8", "textos por publicar", "core-despacho", "Último evento: 0"):
        assert trecho in saida


def test_o_papel_do_app_e_o_do_dba_bastam(formigueiro: Formigueiro, dsn: str) -> None:
    for papel in ("formigueiro_app", "formigueiro_dba"):
        codigo, saida, erro = formigueiro("estado", "--json", DATABASE_URL=make_conninfo(dsn, user=papel))
        assert (codigo, erro) == (0, "")
        assert json.loads(saida)["publicacoes"]["espera"] == 0


def test_conta_o_atraso_em_eventos_e_segundos(formigueiro: Formigueiro, rede: Rede) -> None:
    rede.sortear(uuid4(), uuid4())
    rede.relogio("2026-11-30 12:10:00+00")
    codigo, saida, _ = formigueiro("estado", "--json")
    estado = json.loads(saida)
    colonia = estado["colonias"][0]
    assert (colonia["colonia"], colonia["atraso_eventos"], colonia["atraso_segundos"]) == ("D-6b", 1, 600)
    assert codigo == 1
    assert "D-6b: 1 eventos por ler, o mais antigo há 600 s" in estado["problemas"]
    rede.despachar()
    assert formigueiro("estado")[0] == 0


def test_o_que_falhou_vai_para_o_alto_e_para_o_codigo_de_saida(formigueiro: Formigueiro, rede: Rede) -> None:
    recusar_publicacao(rede.bd, "conselheiro.demanda_iniciada")
    demanda, conselheiro = uuid4(), uuid4()
    rede.sortear(demanda, conselheiro)
    rede.atualizar(demanda, conselheiro)
    rede.despachar()
    codigo, saida, _ = formigueiro("estado")
    assert codigo == 1
    assert saida.startswith("ATENÇÃO\n  D-6b: 1 na DLQ")


def test_diz_quem_detem_a_leitura(formigueiro: Formigueiro, rede: Rede, dsn: str) -> None:
    """Quem publica e não confirma segura o horizonte, e é nomeado."""
    with psycopg.connect(dsn) as parado:
        Rede(parado).sortear(uuid4(), uuid4())
        rede.sortear(uuid4(), uuid4())
        rede.despachar()
        codigo, saida, _ = formigueiro("estado", "--json")
        colonia = json.loads(saida)["colonias"][0]
        assert [detentor["pid"] for detentor in colonia["detentores"]] == [parado.info.backend_pid]
        assert codigo == 0  # ainda não é demais
        rede.bd.execute("UPDATE core.consumidores SET lacuna_desde = clock_timestamp() - interval '5 minutes'")
        codigo, saida, _ = formigueiro("estado")
        assert codigo == 1
        assert f"por pid {parado.info.backend_pid}" in saida
        parado.rollback()


@pytest.fixture
def rede(bd: psycopg.Connection[Any]) -> Rede:
    rede = Rede(bd)
    rede.relogio("2026-11-30 12:00:00+00")
    return rede
