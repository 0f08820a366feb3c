"""O token da sessão: conferir, com o algoritmo que a chave manda, e emitir, para desenvolvimento."""

import getpass
import os
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Self
from uuid import UUID

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from msgspec import Struct
from msgspec.structs import replace

from app.ajustes import Ajustes, ErroAjuste

PROVEDOR = "google"
BITS_RSA_MINIMOS = 2048
# `aud` e `iss` não fazem parte do contrato.
_OPCOES: Any = {"require": ["exp"], "verify_aud": False, "verify_iss": False}


class TokenInvalido(Exception):
    """O token não vale; a mensagem, em português, diz por quê sem revelar nada da chave."""


class ChaveJwt(Struct, frozen=True):
    """A chave e o único algoritmo que ela aceita: quem escolhe é a chave, nunca o cabeçalho do token.

    `anterior` ainda confere, e não assina, enquanto vivem os tokens de antes de uma troca.
    """

    algoritmo: str
    conferencia: str | RSAPublicKey | EllipticCurvePublicKey
    assinatura: str | None = None
    anterior: "ChaveJwt | None" = None

    def __repr__(self) -> str:
        return f"ChaveJwt({self.algoritmo})"

    @classmethod
    def de_segredo(cls, segredo: str) -> Self:
        """HS256. Levanta ErroAjuste se o texto é, na verdade, uma chave pública ou privada."""
        try:
            jwt.get_algorithm_by_name("HS256").prepare_key(segredo)
        except jwt.InvalidKeyError:
            raise ErroAjuste("FORMIGUEIRO_JWT_SEGREDO: isto é uma chave assimétrica, não um segredo") from None
        return cls("HS256", segredo, segredo)

    @classmethod
    def de_chave_publica(cls, pem: str) -> Self:
        """RS256 ou ES256, conforme a chave. `\\n` escrito vale por quebra de linha, como em arquivos de ambiente."""
        try:
            chave = load_pem_public_key(pem.replace("\\n", "\n").encode())
        except (ValueError, UnsupportedAlgorithm):
            raise ErroAjuste("FORMIGUEIRO_JWT_CHAVE_PUBLICA: não é uma chave pública em PEM") from None
        if isinstance(chave, RSAPublicKey) and chave.key_size >= BITS_RSA_MINIMOS:
            return cls("RS256", chave)
        if isinstance(chave, EllipticCurvePublicKey) and isinstance(chave.curve, SECP256R1):
            return cls("ES256", chave)
        raise ErroAjuste(f"FORMIGUEIRO_JWT_CHAVE_PUBLICA: use RSA de ao menos {BITS_RSA_MINIMOS} bits, ou EC P-256")


def chave_dos_ajustes(ajustes: Ajustes) -> ChaveJwt:
    """A chave configurada ou, no banco embutido, uma própria, guardada ao lado dos dados."""
    if ajustes.formigueiro_jwt_segredo:
        return _com_anterior(
            ChaveJwt.de_segredo, ajustes.formigueiro_jwt_segredo, ajustes.formigueiro_jwt_segredo_anterior
        )
    if ajustes.formigueiro_jwt_chave_publica:
        return _com_anterior(
            ChaveJwt.de_chave_publica,
            ajustes.formigueiro_jwt_chave_publica,
            ajustes.formigueiro_jwt_chave_publica_anterior,
        )
    if ajustes.embutido:
        return ChaveJwt.de_segredo(_segredo_guardado(ajustes.formigueiro_dados / getpass.getuser() / "jwt.segredo"))
    raise ErroAjuste("defina FORMIGUEIRO_JWT_SEGREDO ou FORMIGUEIRO_JWT_CHAVE_PUBLICA")


def _com_anterior(ler: Callable[[str], ChaveJwt], atual: str, anterior: str | None) -> ChaveJwt:
    chave = ler(atual)
    if anterior is None:
        return chave
    try:
        return replace(chave, anterior=ler(anterior))
    except ErroAjuste as erro:
        raise ErroAjuste(f"na chave anterior: {erro}") from None


def _segredo_guardado(arquivo: Path) -> str:
    """Lê o segredo ou o cria, só legível pelo dono; dois processos que o criem juntos ficam com o mesmo."""
    arquivo.parent.mkdir(parents=True, exist_ok=True)
    if not arquivo.exists():
        novo = arquivo.with_name(f"{arquivo.name}.{os.getpid()}")
        novo.touch(mode=0o600)
        novo.write_text(secrets.token_urlsafe(48))
        try:
            arquivo.hardlink_to(novo)
        except FileExistsError:
            pass  # outro processo chegou antes
        finally:
            novo.unlink()
    return arquivo.read_text().strip()


def emitir_token(chave: ChaveJwt, cidadao_id: UUID, validade: timedelta = timedelta(hours=12)) -> str:
    """Um token de desenvolvimento. Levanta ErroAjuste se a chave só confere."""
    if chave.assinatura is None:
        raise ErroAjuste("com FORMIGUEIRO_JWT_CHAVE_PUBLICA só quem tem a chave privada emite tokens")
    declaracoes = {"cidadao_id": str(cidadao_id), "auth_provider": PROVEDOR, "exp": datetime.now(UTC) + validade}
    return jwt.encode(declaracoes, chave.assinatura, chave.algoritmo)


def conferir_token(chave: ChaveJwt, token: str, tolerancia_s: int = 0) -> UUID:
    """O cidadao_id de um token válido, da chave ou da anterior. Levanta TokenInvalido.

    `tolerancia_s` é quanto o relógio de quem emite pode diferir do nosso, em exp, nbf e iat.
    """
    try:
        declaracoes = jwt.decode(
            token, chave.conferencia, algorithms=[chave.algoritmo], options=_OPCOES, leeway=tolerancia_s
        )
    except jwt.ExpiredSignatureError:
        raise TokenInvalido("O token expirou.") from None
    except jwt.ImmatureSignatureError:
        raise TokenInvalido("O token ainda não vale.") from None
    except jwt.MissingRequiredClaimError:
        raise TokenInvalido("O token não tem validade (exp).") from None
    except (jwt.InvalidSignatureError, jwt.InvalidAlgorithmError):
        if chave.anterior is not None:
            return conferir_token(chave.anterior, token, tolerancia_s)
        raise TokenInvalido("O token não é válido.") from None
    except Exception:
        # O token vem de fora: o que quer que ele provoque na biblioteca (até RecursionError) é um token inválido.
        raise TokenInvalido("O token não é válido.") from None
    if declaracoes.get("auth_provider") != PROVEDOR:
        raise TokenInvalido("A sessão não é do Google.")
    try:
        return UUID(declaracoes["cidadao_id"])
    except (KeyError, AttributeError, TypeError, ValueError):
        raise TokenInvalido("O cidadao_id do token não é um UUID.") from None
