"""O que o msgspec diz de um valor inválido, em inglês, nas nossas palavras: completam "o campo X …"."""

import re

_TIPOS = {
    "str": "um texto",
    "int": "um número inteiro",
    "float": "um número",
    "bool": "verdadeiro ou falso",
    "uuid": "um UUID",
    "object": "um objeto",
    "array": "uma lista",
}
_PADROES: list[tuple[re.Pattern[str], str]] = [
    (re.compile(r"Expected `str` of length >= 1"), "não pode ser vazio"),
    (re.compile(r"Expected `str` of length >= (\d+)"), "deve ter {0} caracteres ou mais"),
    (re.compile(r"Expected `str` of length <= (\d+)"), "deve ter {0} caracteres ou menos"),
    (re.compile(r"Expected `str` matching regex .*\\u0000.*"), "não pode ter o caractere nulo"),
    (re.compile(r"Expected `str` matching regex .*"), "não tem a forma esperada"),
    (re.compile(r"Expected `(?:int|float)` >= (\d+)(?:\.0)?"), "deve ser {0} ou mais"),
    (re.compile(r"Expected `(?:int|float)` <= (\d+)(?:\.0)?"), "deve ser {0} ou menos"),
    (re.compile(r"Expected `(?:int|float)` > (\d+)(?:\.0)?"), "deve ser mais que {0}"),
    (re.compile(r"Invalid enum value .*"), "não é um dos valores possíveis"),
    (re.compile(r"Invalid UUID"), "deve ser um UUID"),
]
_TIPO_ESPERADO = re.compile(r"Expected `(\w+)`, got .*|Expected `(\w+)`")


def em_portugues(mensagem: str) -> str:
    """Da mensagem, sem o lugar, ao que o valor deve ser."""
    for padrao, nossa in _PADROES:
        if achado := padrao.fullmatch(mensagem):
            return nossa.format(*achado.groups())
    if esperado := _TIPO_ESPERADO.fullmatch(mensagem):
        return f"deve ser {_TIPOS.get(esperado[1] or esperado[2], 'de outro tipo')}"
    return "tem um valor inválido"
