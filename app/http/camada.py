"""O que vale para toda requisição, mesmo a que não acha rota: identificador, cabeçalhos, log e métricas.

O Litestar só chama seus middlewares depois de achar a rota; um 404 ou um 405 não passaria por eles.
"""

import time
from uuid import UUID

import structlog
from litestar.datastructures import MutableScopeHeaders
from litestar.types import HTTPScope, Message, Receive, Send

from app.http.caminhos import Caminhos
from app.http.identificacao import identificar
from app.http.metricas import Metricas
from app.http.tipos import AppHttp

_log = structlog.get_logger(__name__)

# A resposta pode dizer outra coisa (a página de documentação tem sua própria política); isto é o que vale se cala.
CABECALHOS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SONDAS = {"/healthz", "/readyz", "/metrics"}


def com_registro(app: AppHttp, metricas: Metricas, caminhos: Caminhos) -> AppHttp:
    """Envolve `app` com o identificador, os cabeçalhos, a linha de log e a contagem de cada requisição."""

    async def camada(scope: HTTPScope, receive: Receive, send: Send) -> None:
        inicio = time.perf_counter()
        identificador = identificar(scope)
        status = 500  # se nada chegar a ser respondido

        async def enviar(mensagem: Message) -> None:
            nonlocal status
            if mensagem["type"] == "http.response.start":
                status = mensagem["status"]
                cabecalhos = MutableScopeHeaders.from_message(mensagem)
                cabecalhos["X-Request-Id"] = identificador
                for nome, valor in CABECALHOS.items():
                    cabecalhos.setdefault(nome, valor)
                if status == 405:  # o Litestar recusa o método sem dizer quais aceita (RFC 9110, 15.5.6)
                    cabecalhos["Allow"] = ", ".join(caminhos.metodos(scope["path"]))
            await send(mensagem)

        try:
            # O que o banco avisar enquanto atende sai com o identificador da requisição.
            with structlog.contextvars.bound_contextvars(requisicao_id=identificador):
                await app(scope, receive, enviar)
        finally:
            duracao_s = time.perf_counter() - inicio
            rota = caminhos.molde(scope["path"])
            metricas.contar(scope["method"], rota, status, duracao_s)
            _registrar(scope, identificador, rota, status, duracao_s)

    return camada


def _registrar(scope: HTTPScope, identificador: str, rota: str, status: int, duracao_s: float) -> None:
    cidadao = scope.get("user")
    registrar = _log.debug if rota in SONDAS and status < 400 else _log.info
    registrar(
        "requisição",
        metodo=scope["method"],
        rota=rota,
        status=status,
        duracao_ms=round(duracao_s * 1000, 2),
        conselheiro_id=str(cidadao) if isinstance(cidadao, UUID) else None,
        requisicao_id=identificador,
        **_demanda(scope),
    )


def _demanda(scope: HTTPScope) -> dict[str, str]:
    """A demanda do endereço, se é um UUID: o que mais alguém escreva ali não vai ao log."""
    try:
        return {"demanda_id": str(UUID(str(scope.get("path_params", {})["demanda_id"])))}
    except (KeyError, ValueError):
        return {}
