"""Ajustes: lidos uma vez do ambiente, conferidos, e só então usados."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from app.validacao import em_portugues

# Nestes, vazio diz alguma coisa: uma denylist sem termos, ou um engano que não há de ligar o banco embutido.
_VAZIO_VALE = {"database_url", "database_url_migracao", "moderacao_denylist_texto"}


class ErroAjuste(ValueError):
    """Um ajuste falta, está malformado ou contradiz outro; a mensagem é uma linha."""


class Ajustes(Struct, frozen=True, kw_only=True):
    """Um campo por variável de ambiente; a tabela de docs/referencia/ajustes.md os descreve.

    `database_url` ausente é o banco embutido, que faz sua própria chave e usa a lista de exemplo da denylist.
    """

    database_url: Annotated[str, Meta(min_length=1)] | None = None
    database_url_migracao: Annotated[str, Meta(min_length=1)] | None = None
    formigueiro_jwt_segredo: Annotated[str, Meta(min_length=32)] | None = None
    formigueiro_jwt_segredo_anterior: Annotated[str, Meta(min_length=32)] | None = None
    formigueiro_jwt_chave_publica: Annotated[str, Meta(min_length=1)] | None = None
    formigueiro_jwt_chave_publica_anterior: Annotated[str, Meta(min_length=1)] | None = None
    formigueiro_jwt_tolerancia_s: Annotated[int, Meta(ge=0, le=30)] = 5
    moderacao_denylist_texto: str | UnsetType = UNSET
    formigueiro_fuso: str | UnsetType = UNSET
    formigueiro_dados: Path = Path(".dados")
    formigueiro_host: str = "127.0.0.1"
    formigueiro_porta: Annotated[int, Meta(ge=1, le=65535)] = 8000
    formigueiro_cors_origens: str = ""
    formigueiro_conexoes_http: Annotated[int, Meta(ge=1, le=500)] = 8
    formigueiro_espera_pedido_s: Annotated[float, Meta(gt=0, le=300)] = 20
    formigueiro_espera_banco_s: Annotated[float, Meta(gt=0, le=60)] = 3
    formigueiro_atraso_maximo_s: Annotated[float, Meta(gt=0)] = 300
    formigueiro_log_nivel: Literal["debug", "info", "aviso", "erro"] = "info"

    @property
    def embutido(self) -> bool:
        return self.database_url is None

    @property
    def origens_cors(self) -> tuple[str, ...]:
        """Origens de navegador que podem chamar a API; vazio é nenhuma."""
        return tuple(origem.strip() for origem in self.formigueiro_cors_origens.split(",") if origem.strip())

    def parametros(self) -> dict[str, object]:
        """O que vai dos ajustes para core.parametros."""
        return {} if self.formigueiro_fuso is UNSET else {"fuso_horario": self.formigueiro_fuso}


def ler(ambiente: Mapping[str, str] = os.environ) -> Ajustes:
    """Lê e confere os ajustes do ambiente; vazio é ausente. Levanta ErroAjuste, que nomeia a variável."""
    presentes = {campo: ambiente[campo.upper()] for campo in Ajustes.__struct_fields__ if campo.upper() in ambiente}
    valores = {campo: valor for campo, valor in presentes.items() if valor or campo in _VAZIO_VALE}
    try:
        ajustes = msgspec.convert(valores, Ajustes, strict=False, dec_hook=lambda tipo, valor: tipo(valor))
    except msgspec.ValidationError as erro:
        raise ErroAjuste(_falta(str(erro))) from None
    _conferir(ajustes)
    return ajustes


def _conferir(ajustes: Ajustes) -> None:
    if ajustes.formigueiro_jwt_segredo and ajustes.formigueiro_jwt_chave_publica:
        raise ErroAjuste("defina FORMIGUEIRO_JWT_SEGREDO ou FORMIGUEIRO_JWT_CHAVE_PUBLICA, não as duas")
    for nome in ("formigueiro_jwt_segredo", "formigueiro_jwt_chave_publica"):
        atual, anterior = getattr(ajustes, nome), getattr(ajustes, f"{nome}_anterior")
        if anterior and not atual:
            raise ErroAjuste(f"{nome.upper()}_ANTERIOR só vale com {nome.upper()}")
        if anterior and anterior == atual:
            raise ErroAjuste(f"{nome.upper()}_ANTERIOR é a chave de {nome.upper()}: defina a nova, ou tire a anterior")
    if ajustes.formigueiro_fuso is not UNSET:
        try:
            ZoneInfo(ajustes.formigueiro_fuso)
        except (ZoneInfoNotFoundError, ValueError):
            raise ErroAjuste(f"FORMIGUEIRO_FUSO: fuso desconhecido: {ajustes.formigueiro_fuso!r}") from None
    for origem in ajustes.origens_cors:
        if not re.fullmatch(r"https?://[a-z0-9.-]+(:[0-9]+)?", origem):
            raise ErroAjuste(f"FORMIGUEIRO_CORS_ORIGENS: não é uma origem (esquema://host[:porta]): {origem!r}")
    if ajustes.embutido and ajustes.database_url_migracao:
        raise ErroAjuste("DATABASE_URL_MIGRACAO só vale com DATABASE_URL")


def _falta(mensagem: str) -> str:
    """Da mensagem do msgspec (`… - at `$.campo``) à variável de ambiente e ao que ela deve ser."""
    motivo, _, onde = mensagem.partition(" - at `$.")
    return f"{onde.rstrip('`').upper()}: {em_portugues(motivo)}"
