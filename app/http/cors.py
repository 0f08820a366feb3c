"""CORS para as origens configuradas; sem nenhuma, esta camada nem existe.

O do Litestar responde text/plain à consulta que recusa e não passa pelos nossos erros. Aqui a recusa é a ausência dos
cabeçalhos: o navegador não precisa de mais.
"""

from collections.abc import Sequence

from litestar.datastructures import Headers, MutableScopeHeaders
from litestar.types import HTTPScope, Message, Receive, Send

from app.http.tipos import AppHttp

_CONSULTA = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "600",
}
_EXPOSTOS = {"Access-Control-Expose-Headers": "Retry-After, WWW-Authenticate, X-Request-Id"}


def com_cors(app: AppHttp, origens: Sequence[str]) -> AppHttp:
    """Envolve `app` com os cabeçalhos de CORS das `origens`."""

    async def camada(scope: HTTPScope, receive: Receive, send: Send) -> None:
        pedido = Headers.from_scope(scope)
        origem = pedido.get("origin")
        aceitos = {"Access-Control-Allow-Origin": origem} if origem in origens else {}
        consulta = scope["method"] == "OPTIONS" and "access-control-request-method" in pedido
        if aceitos:
            aceitos |= _CONSULTA if consulta else _EXPOSTOS

        async def enviar(mensagem: Message) -> None:
            if mensagem["type"] == "http.response.start":
                cabecalhos = MutableScopeHeaders.from_message(mensagem)
                cabecalhos.update({"Vary": "Origin"} | aceitos)
            await send(mensagem)

        if aceitos and consulta:
            await enviar({"type": "http.response.start", "status": 204, "headers": []})
            await enviar({"type": "http.response.body", "body": b"", "more_body": False})
        else:
            await app(scope, receive, enviar)

    return camada
