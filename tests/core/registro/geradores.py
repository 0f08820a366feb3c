"""Estratégias de hypothesis: payloads que um esquema descreve, suas mutações e esquemas pequenos quaisquer."""

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st

# Valores de fronteira, onde validadores costumam divergir: números iguais escritos de dois modos, textos vazios,
# caracteres fora do plano básico, datas que não existem.
VALORES: list[Any] = [
    None, True, False, 0, 1, 1.0, 1.5, -1, 2, 3, 10**20, 1e300,
    "", "a", "ab", "abc", "é", "😀", "😀😀", "a\n", "x" * 2001, "é" * 10000, "é" * 10001, "sistema", "1",
    [], [1], [True], ["a"], ["a", None], [[]], {}, {"a": 1}, {"a": 1.0}, {"endereco": 5}, {"lat": 1, "lng": 2},
]  # fmt: skip
DATAS = [
    "2026-11-30", "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29", "2026-04-31", "2026-13-01", "2026-00-10",
    "0000-01-01", "0001-01-01", "9999-12-31", "2026-1-1", "2026-11-30 ", "20261130", "٢٠٢٦-11-30",
]  # fmt: skip
DATAS_HORAS = [
    "2026-11-30T12:34:56.780Z", "2026-11-30T12:34:56Z", "2026-11-30t12:34:56z", "2026-11-30T09:34:56-03:00",
    "2026-11-30T12:34:56+15:59", "2026-11-30T12:34:56+16:00", "2026-11-30T12:34:56-15:60", "2026-11-30T24:00:00Z",
    "2026-11-30T23:59:60Z", "2026-11-30T23:60:00Z", "2026-11-30T12:34:56", "2026-11-30 12:34:56Z",
    "2026-11-30T12:34:56.Z", "2026-11-30T12:34:56." + "1" * 43 + "Z", "2026-11-30T12:34:56." + "1" * 44 + "Z",
    "2026-02-29T00:00:00Z", "2026-11-30T12:34Z", "0001-01-01T00:00:00Z", "0001-01-01T02:59:59+03:00",
    "0001-01-01T03:00:00+03:00", "9999-12-31T23:59:59Z", "9999-12-31T20:59:59-03:00", "9999-12-31T21:00:00-03:00",
    "2026-11-30T12:34:56Z\n", "2026-11-30T12:34:56+0300", "+2026-11-30T12:34:56Z",
]  # fmt: skip
UUIDS = [
    "550e8400-e29b-41d4-a716-446655440000", "550E8400-E29B-41D4-A716-446655440000",
    "550e8400e29b41d4a716446655440000", "{550e8400-e29b-41d4-a716-446655440000}",
    "550e8400-e29b-41d4-a716-44665544000", "550e8400-e29b-41d4-a716-44665544000g",
    "550e8400-e29b-41d4-a716--46655440000", "550e8400-e29b-41d4-a716-446655440000\n",
    "-50e8400-e29b-41d4-a716-446655440000", "५50e8400-e29b-41d4-a716-446655440000",
]  # fmt: skip
QUALQUER = st.sampled_from([*VALORES, *DATAS, *DATAS_HORAS, *UUIDS])

_DE_FORMATO = {"uuid": UUIDS[:2], "date": DATAS[:2], "date-time": DATAS_HORAS[:4]}


def payloads(esquema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Valores que seguem o esquema na forma; quase todos válidos."""
    if "const" in esquema:
        return st.just(esquema["const"])
    tipos = esquema.get("type", "qualquer")
    opcoes = [_do_tipo(tipo, esquema) for tipo in ([tipos] if isinstance(tipos, str) else tipos)]
    return st.one_of(opcoes)


def _do_tipo(tipo: str, esquema: dict[str, Any]) -> st.SearchStrategy[Any]:
    match tipo:
        case "null":
            return st.none()
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(-2, 40)
        case "number":
            return st.sampled_from([0, 0.5, -23.5, 1])
        case "string":
            formatos = [esquema.get("format"), *(forma.get("format") for forma in esquema.get("anyOf", []))]
            conhecidos = [exemplo for formato in formatos if formato for exemplo in _DE_FORMATO[formato]]
            return st.sampled_from(conhecidos or ["a", "sistema", "Rua é 😀", "x" * esquema.get("maxLength", 9)])
        case "array":
            return st.lists(payloads(esquema.get("items", {})), max_size=3)
        case "object":
            propriedades = {nome: payloads(sub) for nome, sub in esquema.get("properties", {}).items()}
            obrigatorias = {n: p for n, p in propriedades.items() if n in esquema.get("required", [])}
            demais = {n: p for n, p in propriedades.items() if n not in obrigatorias}
            return st.fixed_dictionaries(obrigatorias, optional=demais)
        case _:
            return QUALQUER


@st.composite
def mutacoes(draw: st.DrawFn, de: st.SearchStrategy[Any]) -> Any:
    """Um payload com um ou dois lugares trocados, removidos ou acrescentados."""
    payload = draw(de)
    for _ in range(draw(st.integers(1, 2))):
        payload = _mutar(draw, deepcopy(payload))
    return payload


def _mutar(draw: st.DrawFn, valor: Any) -> Any:
    if isinstance(valor, dict) and valor and draw(st.integers(0, 9)):
        chave = draw(st.sampled_from(sorted(valor)))
        match draw(st.integers(0, 4)):
            case 0:
                del valor[chave]
            case 1:
                valor[draw(st.sampled_from(["a", "canal", "audio_object_key", "dossie"]))] = draw(QUALQUER)
            case _:
                valor[chave] = _mutar(draw, valor[chave])
        return valor
    if isinstance(valor, list) and valor and draw(st.booleans()):
        posicao = draw(st.integers(0, len(valor) - 1))
        valor[posicao] = _mutar(draw, valor[posicao])
        return valor
    return draw(QUALQUER)


_PEQUENOS = st.sampled_from([
    None, True, False, 0, 1, 1.0, 1.5, 2, -1, "", "a", "ab", "abc", "b1", "a\n", "é", "😀", DATAS[0], DATAS[2],
    DATAS_HORAS[0], DATAS_HORAS[8], UUIDS[0], UUIDS[6],
])  # fmt: skip
_CHAVES = st.sampled_from(["a", "b", "ç d", 'e"f', "g'h"])

INSTANCIAS = st.recursive(
    _PEQUENOS,
    lambda dentro: st.lists(dentro, max_size=3) | st.dictionaries(_CHAVES, dentro, max_size=3),
    max_leaves=6,
)

_TIPOS = ["object", "array", "string", "number", "integer", "boolean", "null"]
_PADROES = ["^a", "b$", "^[a-z]+$", "[0-9]", "^(a|b[0-9])?$", "a{2,3}", "^[^a]*$", "(?:ab)+c?", r"\.", "", "a|^$"]


@st.composite
def esquemas(draw: st.DrawFn, profundidade: int = 2) -> Any:
    """Um esquema qualquer com as palavras-chave que o Registro conhece."""
    if not profundidade or not draw(st.integers(0, 9)):
        return draw(st.booleans() | _folhas)
    grupos = _grupos(esquemas(profundidade - 1))
    esquema: dict[str, Any] = {}
    for grupo in draw(st.lists(st.sampled_from(grupos), min_size=1, max_size=3)):
        esquema |= draw(grupo)
    return esquema


def _grupos(dentro: st.SearchStrategy[Any]) -> list[st.SearchStrategy[dict[str, Any]]]:
    """Palavras-chave que interessam juntas."""
    formas = st.lists(dentro, min_size=1, max_size=3)
    limite = st.integers(0, 3)
    numero = st.sampled_from([-1, 0, 1, 1.0, 1.5, 2])
    lista = st.lists(st.sampled_from(_TIPOS), min_size=1, max_size=3, unique=True)
    grupos: list[dict[str, st.SearchStrategy[Any]]] = [
        {"type": st.sampled_from(_TIPOS) | lista},
        {"enum": st.lists(INSTANCIAS, min_size=1, max_size=3), "const": INSTANCIAS},
        {"minLength": limite, "maxLength": limite, "pattern": st.sampled_from(_PADROES)},
        {"format": st.sampled_from(["uuid", "date", "date-time"])},
        {"minimum": numero, "maximum": numero, "exclusiveMinimum": numero, "exclusiveMaximum": numero},
        {"minItems": limite, "maxItems": limite, "items": dentro},
        {
            "required": st.lists(_CHAVES, max_size=2, unique=True),
            "properties": st.dictionaries(_CHAVES, dentro, max_size=3),
            "additionalProperties": dentro,
        },
        {"allOf": formas, "anyOf": formas, "oneOf": formas, "not": dentro},
        {"if": dentro, "then": dentro, "else": dentro},
        {"description": st.just("só uma anotação"), "x-nota": st.just([1])},
    ]
    return [st.fixed_dictionaries({}, optional=grupo) for grupo in grupos]


_folhas = st.one_of(_grupos(st.booleans())[:5])
