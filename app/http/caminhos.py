"""O endereço pedido: só o canônico tem rota (N44), e seu molde serve ao log, às métricas e ao Allow de um 405."""

import re
from collections.abc import Iterable
from urllib.parse import quote

from litestar.routes import BaseRoute, HTTPRoute
from litestar.types import HTTPScope, Receive, Send

from app.http.identificacao import requisicao_id
from app.http.problema import NADA_AQUI, TIPO_DE_MIDIA, Recusa, corpo
from app.http.tipos import AppHttp

DESCONHECIDO = "desconhecida"
_LIVRES = "/!$&'()*+,;=:@-._~"  # o que um endereço escreve sem escapar (RFC 3986, pchar e a barra)


def so_canonicos(app: AppHttp) -> AppHttp:
    """Envolve `app` com um 404 para o endereço escrito de outro modo que o da rota.

    O Litestar responderia a //metrics, /metrics/ ou /%6detrics como a /metrics, e a regra que um intermediário tem
    para este endereço não o veria naqueles.
    """

    async def camada(scope: HTTPScope, receive: Receive, send: Send) -> None:
        if _canonico(scope):
            await app(scope, receive, send)
            return
        problema = corpo(Recusa(404, NADA_AQUI), requisicao_id(scope))
        cabecalhos = [(b"content-type", TIPO_DE_MIDIA.encode()), (b"content-length", str(len(problema)).encode())]
        await send({"type": "http.response.start", "status": 404, "headers": cabecalhos})
        await send({"type": "http.response.body", "body": problema, "more_body": False})

    return camada


def _canonico(scope: HTTPScope) -> bool:
    caminho = scope["path"]
    if caminho == "/":
        return True
    vazio, *segmentos = caminho.split("/")
    return (
        vazio == ""
        and not {"", ".", ".."}.intersection(segmentos)
        and scope["raw_path"].partition(b"?")[0] == quote(caminho, _LIVRES, errors="replace").encode()
    )


class Caminhos:
    """As rotas HTTP do app, achadas por endereço sem olhar o método."""

    def __init__(self, rotas: Iterable[BaseRoute]) -> None:
        # Os moldes sem parâmetros primeiro: /schema/openapi.json antes de /schema/{path}.
        rotas_http = sorted((r for r in rotas if isinstance(r, HTTPRoute)), key=lambda r: r.path_format.count("{"))
        self._rotas = [
            (_expressao(r.path_format), r.path_format or "/", sorted(map(str, r.methods))) for r in rotas_http
        ]

    def molde(self, caminho: str) -> str:
        """O molde da rota (`/d6b/demandas/{demanda_id}/…`), ou `desconhecida`."""
        return next((molde for expressao, molde, _ in self._rotas if expressao.fullmatch(caminho)), DESCONHECIDO)

    def metodos(self, caminho: str) -> list[str]:
        """Os métodos que o endereço aceita."""
        return next((metodos for expressao, _, metodos in self._rotas if expressao.fullmatch(caminho)), [])


def _expressao(molde: str) -> re.Pattern[str]:
    partes = (r"[^/]+" if parte.startswith("{") else re.escape(parte) for parte in molde.strip("/").split("/"))
    return re.compile("/" + "/".join(partes), re.DOTALL)
