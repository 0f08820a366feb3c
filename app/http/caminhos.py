"""Do endereço pedido ao molde da rota, para log, métricas e o Allow de um 405."""

import re
from collections.abc import Iterable

from litestar.routes import BaseRoute, HTTPRoute

DESCONHECIDO = "desconhecida"


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
    return re.compile("/+" + "/+".join(partes) + "/*", re.DOTALL)
