"""O que se exige antes de ler o corpo, nesta ordem: sessão (401), limite (429), tipo de conteúdo (415)."""

from collections.abc import Awaitable, Callable
from typing import Any

from litestar.connection import ASGIConnection
from litestar.handlers import BaseRouteHandler

from app.http.banco import Banco
from app.http.problema import Recusa
from app.http.seguranca import ChaveJwt, TokenInvalido, conferir_token

Guarda = Callable[[ASGIConnection[Any, Any, Any, Any], BaseRouteHandler], Awaitable[None]]

LIMITE_PADRAO = 60  # por minuto, para uma rota que não diz o seu em opt["limite_por_minuto"]


def exigir_conselheiro(chave: ChaveJwt, tolerancia_s: int) -> Guarda:
    """Exige um JWT de sessão Google e deixa o cidadao_id em `request.user`."""

    async def guarda(conexao: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
        esquema, _separador, token = conexao.headers.get("Authorization", "").partition(" ")
        if esquema.lower() != "bearer" or not token.strip():
            raise _nao_autenticado("É preciso um token de sessão Google no cabeçalho Authorization.")
        try:
            conexao.scope["user"] = conferir_token(chave, token.strip(), tolerancia_s)
        except TokenInvalido as erro:
            raise _nao_autenticado(str(erro), ', error="invalid_token"') from None

    return guarda


def _nao_autenticado(detalhe: str, complemento: str = "") -> Recusa:
    return Recusa(401, detalhe, {"WWW-Authenticate": f'Bearer realm="formigueiro"{complemento}'})


def limitar(banco: Banco) -> Guarda:
    """Conta o pedido no limite do cidadão na rota; a conta é do PostgreSQL, e vale para todos os processos."""

    async def guarda(conexao: ASGIConnection[Any, Any, Any, Any], rota: BaseRouteHandler) -> None:
        limite = rota.opt.get("limite_por_minuto", LIMITE_PADRAO)
        chave = f"{conexao.user} {conexao.scope['path_template']}"
        (espera,) = await banco.linha("SELECT core.consumir_limite(%s, %s)", [chave, limite])
        if espera:
            raise Recusa(
                429, f"O limite é de {limite} pedidos por minuto. Volte em {espera} s.", {"Retry-After": str(espera)}
            )

    return guarda


async def exigir_json(conexao: ASGIConnection[Any, Any, Any, Any], _: BaseRouteHandler) -> None:
    """O Litestar leria como JSON qualquer tipo de conteúdo."""
    tipo = conexao.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if tipo != "application/json":
        raise Recusa(415, "O corpo deve ser application/json.")
