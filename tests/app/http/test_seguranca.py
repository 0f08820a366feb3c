"""O JWT: quem entra, quem não entra, e por que o algoritmo é da chave."""

import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from litestar import Litestar
from litestar.testing import TestClient

from app.ajustes import Ajustes, ErroAjuste, ler
from app.http.seguranca import ChaveJwt, TokenInvalido, chave_dos_ajustes, conferir_token, emitir_token
from tests.app.http.apoio import ACOMPANHAMENTO, problema
from tests.app.http.conftest import SEGREDO

Privada = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


def _exp(segundos: float = 3600) -> int:
    return int((datetime.now(UTC) + timedelta(seconds=segundos)).timestamp())


def _declaracoes(**mudancas: object) -> dict[str, object]:
    return {"cidadao_id": str(uuid4()), "auth_provider": "google", "exp": _exp(), **mudancas}


def _assinar(declaracoes: Mapping[str, object], segredo: str = SEGREDO, algoritmo: str = "HS256") -> str:
    return jwt.encode(dict(declaracoes), segredo, algoritmo)


def _sem(declaracoes: dict[str, object], *nomes: str) -> dict[str, object]:
    return {nome: valor for nome, valor in declaracoes.items() if nome not in nomes}


def _pem(privada: Privada) -> str:
    return privada.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def _pem_privado(privada: Privada) -> str:
    return privada.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def _parte(conteudo: bytes) -> str:
    return urlsafe_b64encode(conteudo).decode().rstrip("=")


def _montar(cabecalho: str, corpo: str) -> str:
    return f"{_parte(cabecalho.encode())}.{_parte(corpo.encode())}"


INVALIDOS: dict[str, Callable[[], str]] = {
    "outro algoritmo da mesma chave": lambda: _assinar(_declaracoes(), algoritmo="HS512"),
    "alg none": lambda: jwt.encode(_declaracoes(), "", "none"),
    "alg none escrito à mão": lambda: _montar('{"alg":"nOnE"}', json.dumps(_declaracoes())) + ".",
    "expirado": lambda: _assinar(_declaracoes(exp=_exp(-60))),
    "sem exp": lambda: _assinar(_sem(_declaracoes(), "exp")),
    "exp nulo": lambda: _assinar(_declaracoes(exp=None)),
    "exp infinito": lambda: _assinar(_declaracoes(exp=float("inf"))),
    "exp que não é número": lambda: _assinar(_declaracoes(exp=["amanhã"])),
    "ainda não vale": lambda: _assinar(_declaracoes(nbf=_exp(60))),
    "emitido no futuro": lambda: _assinar(_declaracoes(iat=_exp(60))),
    "cidadao_id com caractere nulo": lambda: _assinar(_declaracoes(cidadao_id=f"{uuid4()}\x00")),
    "cidadao_id com meio par substituto": lambda: _assinar(_declaracoes(cidadao_id="\ud800" * 32)),
    "outro provedor": lambda: _assinar(_declaracoes(auth_provider="govbr")),
    "provedor com outra caixa": lambda: _assinar(_declaracoes(auth_provider="Google")),
    "sem provedor": lambda: _assinar(_sem(_declaracoes(), "auth_provider")),
    "sem cidadao_id": lambda: _assinar(_sem(_declaracoes(), "cidadao_id")),
    "cidadao_id que não é UUID": lambda: _assinar(_declaracoes(cidadao_id="123")),
    "cidadao_id que não é texto": lambda: _assinar(_declaracoes(cidadao_id={"id": 1})),
    "cidadao_id nulo": lambda: _assinar(_declaracoes(cidadao_id=None)),
    "outra chave": lambda: _assinar(_declaracoes(), segredo="outro-segredo-com-mais-de-32-caracteres!!"),
    "assinatura cortada": lambda: _assinar(_declaracoes())[:-4],
    "lixo": lambda: "a.b.c",
    "sem pontos": lambda: "abc",
    "cabeçalho aninhado sem fim": lambda: _montar("[" * 20_000, "{}") + ".x",
}


@pytest.mark.parametrize("nome", INVALIDOS)
def test_token_invalido_e_401_com_www_authenticate(cliente_comum: TestClient[Litestar], nome: str) -> None:
    resposta = cliente_comum.get(ACOMPANHAMENTO, headers={"Authorization": f"Bearer {INVALIDOS[nome]()}"})
    assert problema(resposta, 401)["title"] == "Não autenticado"
    assert resposta.headers["www-authenticate"] == 'Bearer realm="formigueiro", error="invalid_token"'


@pytest.mark.parametrize("cabecalho", [None, "", "Bearer", "Bearer  ", "Basic dTpz", "bearerabc"])
def test_sem_token_e_401_sem_acusar_token(cliente_comum: TestClient[Litestar], cabecalho: str | None) -> None:
    resposta = cliente_comum.get(ACOMPANHAMENTO, headers={} if cabecalho is None else {"Authorization": cabecalho})
    assert "token de sessão Google" in problema(resposta, 401)["detail"]
    assert resposta.headers["www-authenticate"] == 'Bearer realm="formigueiro"'


@pytest.mark.parametrize(
    ("nome", "detalhe"),
    [
        ("expirado", "O token expirou."),
        ("ainda não vale", "O token ainda não vale."),
        ("sem exp", "O token não tem validade (exp)."),
        ("outro provedor", "A sessão não é do Google."),
        ("cidadao_id que não é UUID", "O cidadao_id do token não é um UUID."),
        ("outra chave", "O token não é válido."),
    ],
)
def test_o_detalhe_diz_o_que_falta_ao_token(cliente_comum: TestClient[Litestar], nome: str, detalhe: str) -> None:
    resposta = cliente_comum.get(ACOMPANHAMENTO, headers={"Authorization": f"Bearer {INVALIDOS[nome]()}"})
    assert resposta.json()["detail"] == detalhe


@pytest.mark.parametrize("rota", ["sugestao", "ratificacao"])
def test_as_outras_rotas_tambem_exigem_sessao(cliente_comum: TestClient[Litestar], rota: str) -> None:
    caminho = "/d6b/sugerir-estruturacao" if rota == "sugestao" else f"/d6b/demandas/{uuid4()}/ratificar-conclusao"
    # Antes do corpo e do endereço: quem não entrou não fica sabendo de mais nada.
    problema(cliente_comum.post(caminho, content=b"nem json"), 401)


def test_token_valido_entra(cliente_comum: TestClient[Litestar]) -> None:
    token = _assinar(_declaracoes(aud="outro-app", iss="bff", iat=_exp(0), extra=[1]))
    assert cliente_comum.get(ACOMPANHAMENTO, headers={"Authorization": f"bearer {token}"}).status_code == 200


@pytest.mark.parametrize("declaracao", ["exp", "nbf", "iat"])
def test_a_tolerancia_cobre_a_diferenca_de_relogio_e_nao_mais(declaracao: str) -> None:
    """Um segundo de diferença não pode barrar quem acaba de entrar."""
    chave = ChaveJwt.de_segredo(SEGREDO)
    lado = -1 if declaracao == "exp" else 1
    dentro, fora = (_assinar(_declaracoes(**{declaracao: _exp(lado * segundos)})) for segundos in (1, 40))
    assert conferir_token(chave, dentro, 30)
    with pytest.raises(TokenInvalido):
        conferir_token(chave, fora, 30)
    if declaracao == "exp":
        with pytest.raises(TokenInvalido, match="expirou"):
            conferir_token(chave, dentro, 0)


def test_a_tolerancia_e_um_ajuste_de_no_maximo_trinta_segundos(cliente_comum: TestClient[Litestar]) -> None:
    assert ler({}).formigueiro_jwt_tolerancia_s == 5
    assert ler({"FORMIGUEIRO_JWT_TOLERANCIA_S": "30"}).formigueiro_jwt_tolerancia_s == 30
    for fora in ("31", "-1", "x", "2.5"):
        with pytest.raises(ErroAjuste, match="FORMIGUEIRO_JWT_TOLERANCIA_S"):
            ler({"FORMIGUEIRO_JWT_TOLERANCIA_S": fora})
    for declaracoes in (_declaracoes(exp=_exp(-1)), _declaracoes(nbf=_exp(1)), _declaracoes(iat=_exp(1))):
        token = {"Authorization": f"Bearer {_assinar(declaracoes)}"}
        assert cliente_comum.get(ACOMPANHAMENTO, headers=token).status_code == 200


def test_chave_publica_decide_o_algoritmo() -> None:
    cidadao = uuid4()
    privadas: list[tuple[Privada, str]] = [
        (rsa.generate_private_key(65537, 2048), "RS256"),
        (ec.generate_private_key(ec.SECP256R1()), "ES256"),
    ]
    for privada, algoritmo in privadas:
        chave = ChaveJwt.de_chave_publica(_pem(privada).replace("\n", "\\n"))
        assert chave.algoritmo == algoritmo
        declaracoes = _declaracoes(cidadao_id=str(cidadao))
        assert conferir_token(chave, _assinar(declaracoes, _pem_privado(privada), algoritmo)) == cidadao
        with pytest.raises(TokenInvalido):
            conferir_token(chave, _assinar(declaracoes))
        with pytest.raises(ErroAjuste, match="chave privada"):
            emitir_token(chave, cidadao)


def test_assinar_com_a_chave_publica_como_segredo_nao_engana() -> None:
    pem = _pem(rsa.generate_private_key(65537, 2048))
    corpo = _montar('{"alg":"HS256","typ":"JWT"}', json.dumps(_declaracoes()))
    assinatura = hmac.digest(pem.encode(), corpo.encode(), "sha256")
    with pytest.raises(TokenInvalido):
        conferir_token(ChaveJwt.de_chave_publica(pem), f"{corpo}.{_parte(assinatura)}")


@pytest.mark.parametrize(
    "pem",
    [
        "não é PEM",
        _pem(rsa.generate_private_key(65537, 1024)),
        _pem(ec.generate_private_key(ec.SECP384R1())),
    ],
    ids=["lixo", "RSA curta", "outra curva"],
)
def test_chave_publica_fraca_ou_errada_impede_de_subir(pem: str) -> None:
    with pytest.raises(ErroAjuste, match="FORMIGUEIRO_JWT_CHAVE_PUBLICA"):
        ChaveJwt.de_chave_publica(pem)


def test_chave_publica_no_lugar_do_segredo_impede_de_subir() -> None:
    with pytest.raises(ErroAjuste, match="FORMIGUEIRO_JWT_SEGREDO"):
        ChaveJwt.de_segredo(_pem(rsa.generate_private_key(65537, 2048)))


def test_a_chave_nao_aparece_quando_impressa(chave: ChaveJwt) -> None:
    assert SEGREDO not in f"{chave!r} {chave} {[chave]}"


NOVO = "o-segredo-novo-com-bem-mais-de-32-caracteres"


def _trocada() -> ChaveJwt:
    return chave_dos_ajustes(Ajustes(formigueiro_jwt_segredo=NOVO, formigueiro_jwt_segredo_anterior=SEGREDO))


def test_numa_troca_valem_os_tokens_das_duas_chaves_e_so_a_nova_assina() -> None:
    cidadao = uuid4()
    declaracoes = _declaracoes(cidadao_id=str(cidadao))
    trocada = _trocada()
    assert conferir_token(trocada, _assinar(declaracoes, NOVO)) == cidadao
    assert conferir_token(trocada, _assinar(declaracoes, SEGREDO)) == cidadao
    emitido = emitir_token(trocada, cidadao)
    assert conferir_token(ChaveJwt.de_segredo(NOVO), emitido) == cidadao
    with pytest.raises(TokenInvalido, match="não é válido"):
        conferir_token(ChaveJwt.de_segredo(SEGREDO), emitido)


@pytest.mark.parametrize("nome", INVALIDOS)
def test_a_chave_anterior_nao_afrouxa_nada(nome: str) -> None:
    """Os tokens inválidos são todos, menos um, assinados pela chave que aqui é a anterior."""
    with pytest.raises(TokenInvalido):
        conferir_token(_trocada(), INVALIDOS[nome]())


def test_fechada_a_troca_o_token_da_chave_anterior_e_recusado() -> None:
    fechada = chave_dos_ajustes(Ajustes(formigueiro_jwt_segredo=NOVO))
    with pytest.raises(TokenInvalido, match="não é válido"):
        conferir_token(fechada, _assinar(_declaracoes()))


def test_a_troca_de_chave_publica_pode_mudar_de_algoritmo() -> None:
    """De RSA para curva elíptica: cada chave só aceita o algoritmo dela."""
    antiga, nova, alheia = (
        rsa.generate_private_key(65537, 2048),
        ec.generate_private_key(ec.SECP256R1()),
        ec.generate_private_key(ec.SECP256R1()),
    )
    trocada = chave_dos_ajustes(
        Ajustes(formigueiro_jwt_chave_publica=_pem(nova), formigueiro_jwt_chave_publica_anterior=_pem(antiga))
    )
    cidadao = uuid4()
    declaracoes = _declaracoes(cidadao_id=str(cidadao))
    assert conferir_token(trocada, _assinar(declaracoes, _pem_privado(nova), "ES256")) == cidadao
    assert conferir_token(trocada, _assinar(declaracoes, _pem_privado(antiga), "RS256")) == cidadao
    for intruso in (
        _assinar(declaracoes, _pem_privado(alheia), "ES256"),
        _assinar(declaracoes, _pem_privado(antiga), "RS512"),
        _assinar(declaracoes),
    ):
        with pytest.raises(TokenInvalido):
            conferir_token(trocada, intruso)


def test_chave_anterior_fraca_impede_de_subir() -> None:
    nova, fraca = ec.generate_private_key(ec.SECP256R1()), rsa.generate_private_key(65537, 1024)
    with pytest.raises(ErroAjuste, match="chave anterior: FORMIGUEIRO_JWT_CHAVE_PUBLICA: use RSA"):
        chave_dos_ajustes(
            Ajustes(formigueiro_jwt_chave_publica=_pem(nova), formigueiro_jwt_chave_publica_anterior=_pem(fraca))
        )


@pytest.mark.parametrize(
    ("ambiente", "mensagem"),
    [
        ({"SEGREDO_ANTERIOR": "x" * 32}, "SEGREDO_ANTERIOR só vale com FORMIGUEIRO_JWT_SEGREDO"),
        ({"SEGREDO": "x" * 32, "SEGREDO_ANTERIOR": "curto"}, "SEGREDO_ANTERIOR: deve ter 32 caracteres"),
        ({"SEGREDO": "x" * 32, "SEGREDO_ANTERIOR": "x" * 32}, "SEGREDO_ANTERIOR é a chave de"),
        ({"SEGREDO": "x" * 32, "CHAVE_PUBLICA_ANTERIOR": "y"}, "CHAVE_PUBLICA_ANTERIOR só vale com"),
    ],
)
def test_chave_anterior_sem_sentido_impede_de_subir(ambiente: dict[str, str], mensagem: str) -> None:
    with pytest.raises(ErroAjuste, match=mensagem):
        ler({f"FORMIGUEIRO_JWT_{nome}": valor for nome, valor in ambiente.items()})


def test_emitir_token_vale_por_quanto_se_pede(chave: ChaveJwt) -> None:
    cidadao = uuid4()
    assert conferir_token(chave, emitir_token(chave, cidadao)) == cidadao
    with pytest.raises(TokenInvalido, match="expirou"):
        conferir_token(chave, emitir_token(chave, cidadao, timedelta(seconds=-1)))


def test_sem_chave_configurada_so_o_banco_embutido_faz_a_sua(tmp_path: Path) -> None:
    with pytest.raises(ErroAjuste, match="FORMIGUEIRO_JWT_SEGREDO ou FORMIGUEIRO_JWT_CHAVE_PUBLICA"):
        chave_dos_ajustes(Ajustes(database_url="postgresql://banco/x"))
    embutido = Ajustes(formigueiro_dados=tmp_path)
    token = emitir_token(chave_dos_ajustes(embutido), UUID(int=1))
    assert conferir_token(chave_dos_ajustes(embutido), token) == UUID(int=1)
    (arquivo,) = tmp_path.rglob("jwt.segredo*")
    assert arquivo.stat().st_mode & 0o077 == 0
