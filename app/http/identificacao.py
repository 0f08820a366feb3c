"""Quem é cada requisição: o identificador que a acompanha no log, na resposta e no problema."""

from uuid import uuid4

from litestar.types import Scope


def identificar(scope: Scope) -> str:
    """Dá um identificador à requisição que chega."""
    identificador = str(uuid4())
    scope.setdefault("state", {})["requisicao_id"] = identificador
    return identificador


def requisicao_id(scope: Scope) -> str:
    """O identificador da requisição."""
    return str(scope["state"]["requisicao_id"])
