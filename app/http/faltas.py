"""Das mensagens de validação do msgspec, em inglês, às nossas: cada falta com o nome de seu campo."""

import re
from typing import Any

from app.http.problema import Falta
from app.validacao import em_portugues

_AUSENTE = re.compile(r"Object missing required field `(?P<campo>.+)`")


def faltas_de_validacao(extra: Any) -> list[Falta]:
    """As faltas do `extra` de uma ValidationException do Litestar."""
    itens = [item for item in extra if isinstance(item, dict)] if isinstance(extra, list) else []
    return [_falta(str(item.get("key") or "data"), str(item.get("message"))) for item in itens]


def _falta(campo: str, mensagem: str) -> Falta:
    if ausente := _AUSENTE.fullmatch(mensagem):
        return Falta(ausente["campo"], "é obrigatório")
    if mensagem == "'data'":  # sem corpo, o Litestar devolve a chave que não achou
        return Falta("corpo", "é obrigatório")
    return Falta("corpo" if campo == "data" else campo, em_portugues(mensagem))
