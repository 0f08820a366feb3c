"""O que um operador manda de errado é recusado pelo nome do campo, e nada muda."""

import psycopg
import pytest

from tests.apoio.rede import Rede


@pytest.mark.parametrize("limite", ["-1", "0", "NULL"])
@pytest.mark.parametrize(
    "funcao",
    [
        "d6b.processar_pendentes({})",
        "d8.processar_pendentes({})",
        "d6b.reservar_publicacoes({})",
        "d6b.republicar_saidas_conclusao_pendentes({})",
        "core.replay_de_sequence(0, '{{demanda.recebida}}', {})",
    ],
)
def test_limite_menor_que_um_e_recusado(rede: Rede, funcao: str, limite: str) -> None:
    with pytest.raises(psycopg.Error, match="O campo limite deve ser de pelo menos 1") as recusa:
        rede.bd.execute(f"SELECT {funcao.format(limite)}")
    assert recusa.value.sqlstate == "FM422"


@pytest.mark.parametrize("argumentos", ["NULL, '{}'", "0, NULL"])
def test_replay_recusa_o_que_falta(rede: Rede, argumentos: str) -> None:
    with pytest.raises(psycopg.Error, match="apos e tipos") as recusa:
        rede.bd.execute(f"SELECT core.replay_de_sequence({argumentos})")
    assert recusa.value.sqlstate == "FM422"


@pytest.mark.parametrize(
    "argumentos", ["NULL, 'x'", "'grave', 'x'", "'erro', NULL", "'erro', 'x', NULL", "'erro', 'x', '[]'"]
)
def test_ocorrencia_malfeita_e_recusada(rede: Rede, argumentos: str) -> None:
    with pytest.raises(psycopg.Error, match="nivel") as recusa:
        rede.bd.execute(f"SELECT core.registrar({argumentos})")
    assert recusa.value.sqlstate == "FM422"
    assert rede.um("SELECT count(*) FROM core.ocorrencias") == 0
