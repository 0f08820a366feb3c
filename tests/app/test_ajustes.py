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


@pytest.mark.parametrize(
    ("nome", "valor", "falta"),
    [
        ("DATABASE_URL", "", "não pode ser vazio"),
        ("FORMIGUEIRO_JWT_SEGREDO", "curto", "deve ter 32 caracteres ou mais"),
        ("FORMIGUEIRO_PORTA", "http", "deve ser um número inteiro"),
        ("FORMIGUEIRO_PORTA", "0", "deve ser 1 ou mais"),
        ("FORMIGUEIRO_CONEXOES_HTTP", "501", "deve ser 500 ou menos"),
        ("FORMIGUEIRO_ESPERA_BANCO_S", "0", "deve ser mais que 0"),
        ("FORMIGUEIRO_ATRASO_MAXIMO_S", "muito", "deve ser um número"),
        ("FORMIGUEIRO_LOG_NIVEL", "tudo", "não é um dos valores possíveis"),
    ],
)
def test_um_valor_invalido_diz_qual_e_e_o_que_deve_ser(nome: str, valor: str, falta: str) -> None:
    with pytest.raises(ErroAjuste) as erro:
        ler({nome: valor})
    assert str(erro.value) == f"{nome}: {falta}"
