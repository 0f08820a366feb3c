"""`dlq`: ver, tentar de novo e descartar, com motivo."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao
from tests.apoio.rede import Rede
from tests.app.linha_de_comando.conftest import Formigueiro

SAIDA = "conselheiro.demanda_iniciada"


@pytest.fixture
def rede(bd: psycopg.Connection[Any]) -> Rede:
    return Rede(bd)


@pytest.fixture
def demanda(rede: Rede) -> UUID:
    """Uma demanda cuja primeira saída não pôde ser publicada."""
    recusar_publicacao(rede.bd, SAIDA)
    demanda, conselheiro = uuid4(), uuid4()
    rede.sortear(demanda, conselheiro)
    rede.atualizar(demanda, conselheiro)
    rede.despachar()
    return demanda


def _entrada(rede: Rede) -> str:
    return str(rede.um("SELECT id FROM core.dlq WHERE estado = 'pendente'"))


def test_vazia(formigueiro: Formigueiro) -> None:
    assert formigueiro("dlq", "listar") == (0, "Nada na DLQ.\n", "")


def test_lista_o_que_falhou_com_o_erro(formigueiro: Formigueiro, demanda: UUID) -> None:
    codigo, saida, _ = formigueiro("dlq", "listar")
    assert codigo == 0
    for trecho in (SAIDA, str(demanda), "pendente", "53100 falha de teste"):
        assert trecho in saida


def test_reprocessa_e_diz_no_que_deu(formigueiro: Formigueiro, rede: Rede, demanda: UUID) -> None:
    entrada = _entrada(rede)
    codigo, saida, _ = formigueiro("dlq", "reprocessar", entrada)
    assert codigo == 1
    assert saida.startswith("falhou: falha de teste")
    aceitar_publicacao(rede.bd)
    assert formigueiro("dlq", "reprocessar", entrada) == (0, "publicada\n", "")
    assert rede.tipos(demanda) == [SAIDA]


def test_descarta_com_motivo(formigueiro: Formigueiro, rede: Rede, demanda: UUID) -> None:
    entrada = _entrada(rede)
    assert formigueiro("dlq", "descartar", entrada, "--motivo", "já avisado por telefone")[0] == 0
    assert rede.um("SELECT estado || ': ' || motivo FROM core.dlq") == "descartada: já avisado por telefone"
    codigo, _, erro = formigueiro("dlq", "descartar", entrada, "--motivo", "de novo")
    assert codigo == 1
    assert "já está descartada" in erro


def test_uma_entrada_que_nao_existe_e_dita_em_uma_linha(formigueiro: Formigueiro) -> None:
    assert formigueiro("dlq", "reprocessar", "99") == (1, "", "formigueiro: A entrada 99 não existe na DLQ.\n")
