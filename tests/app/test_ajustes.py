"""Os ajustes lidos do ambiente."""

import pytest

from app.ajustes import Ajustes, ErroAjuste, ler

CHAVES = (
    "FORMIGUEIRO_JWT_SEGREDO",
    "FORMIGUEIRO_JWT_SEGREDO_ANTERIOR",
    "FORMIGUEIRO_JWT_CHAVE_PUBLICA",
    "FORMIGUEIRO_JWT_CHAVE_PUBLICA_ANTERIOR",
)
OUTROS = ("FORMIGUEIRO_FUSO", "FORMIGUEIRO_LOG_NIVEL", "FORMIGUEIRO_CORS_ORIGENS", "FORMIGUEIRO_PORTA")


def test_vazio_e_ausente() -> None:
    assert ler(dict.fromkeys(CHAVES + OUTROS, "")) == Ajustes()


def test_basta_uma_das_chaves_com_as_outras_vazias() -> None:
    vazias = dict.fromkeys(CHAVES, "")
    assert ler(vazias | {"FORMIGUEIRO_JWT_SEGREDO": "s" * 32}).formigueiro_jwt_segredo == "s" * 32
    assert ler(vazias | {"FORMIGUEIRO_JWT_CHAVE_PUBLICA": "pem"}).formigueiro_jwt_chave_publica == "pem"


def test_uma_denylist_vazia_e_uma_denylist() -> None:
    assert ler({"MODERACAO_DENYLIST_TEXTO": ""}).moderacao_denylist_texto == ""


def test_um_banco_vazio_e_um_engano_e_nao_o_banco_embutido() -> None:
    with pytest.raises(ErroAjuste, match="DATABASE_URL"):
        ler({"DATABASE_URL": ""})
