"""Das mensagens de validação do msgspec, em inglês, às nossas: cada falta com o nome de seu campo."""

import re
from typing import Any

from app.http.problema import Falta

_TIPOS = {
    "str": "um texto",
    "int": "um número inteiro",
    "float": "um número",
    "bool": "verdadeiro ou falso",
    "uuid": "um UUID",
    "object": "um objeto",
    "array": "uma lista",
}
_AUSENTE = re.compile(r"Object missing required field `(?P<campo>.+)`")
_PADROES: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"'data'"), "é obrigatório"),  # sem corpo, o Litestar devolve a chave que não achou
    (re.compile(r"Expected `str` of length >= 1"), "não pode ser vazio"),
    (re.compile(r"Expected `str` of length >= (\d+)"), "deve ter {0} caracteres ou mais"),
    (re.compile(r"Expected `str` of length <= (\d+)"), "deve ter {0} caracteres ou menos"),
    (re.compile(r"Expected `str` matching regex .*"), "não tem a forma esperada"),
    (re.compile(r"Invalid UUID"), "deve ser um UUID"),
]
_TIPO_ESPERADO = re.compile(r"Expected `(\w+)`.*")


def faltas_de_validacao(extra: Any) -> list[Falta]:
    """As faltas do `extra` de uma ValidationException do Litestar."""
    itens = [item for item in extra if isinstance(item, dict)] if isinstance(extra, list) else []
    return [_falta(str(item.get("key") or "data"), str(item.get("message"))) for item in itens]


def _falta(campo: str, mensagem: str) -> Falta:
    if ausente := _AUSENTE.fullmatch(mensagem):
        return Falta(ausente["campo"], "é obrigatório")
    return Falta("corpo" if campo == "data" else campo, _em_portugues(mensagem))


def _em_portugues(mensagem: str) -> str:
    for padrao, nossa in _PADROES:
        if achado := padrao.fullmatch(mensagem):
            return nossa.format(*achado.groups())
    if esperado := _TIPO_ESPERADO.fullmatch(mensagem):
        return f"deve ser {_TIPOS.get(esperado[1], 'de outro tipo')}"
    return "tem um valor inválido"
