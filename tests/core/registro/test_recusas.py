"""O Registro recusa, na carga, o esquema que não entenderia por inteiro, e diz onde."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

Banco = psycopg.Connection[Any]

_PADROES_RECUSADOS = [
    r"\d+", r"[\d]", r"\w", r"\y", r"\1", "a.b", "[[:alpha:]]", "(?i)a", "(?=a)", "(?<!a)", "***a", "a**", "a*?", "^*",
    "[z-a]", "[]a]", "(a", "a)", "a{,3}", "a{3,2}", "a{1000}", "ção", "\\",
]  # fmt: skip


@pytest.mark.parametrize(
    ("esquema", "lugar"),
    [
        ({"$ref": "#/x"}, "$ref"),
        ({"$defs": {}}, "$defs"),
        ({"minLenght": 1}, "minLenght"),
        ({"uniqueItems": True}, "uniqueItems"),
        ({"patternProperties": {}}, "patternProperties"),
        ({"dependentRequired": {}}, "dependentRequired"),
        ({"items": {"prefixItems": []}}, "items/prefixItems"),
        ({"properties": {"a/b": {"allOf": [{}, {"contains": {}}]}}}, "properties/a~1b/allOf/1/contains"),
        ({"if": {"format": "email"}}, "if/format"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "$schema"),
        ({"type": "texto"}, "type"),
        ({"type": ["string", "texto"]}, "type"),
        ({"type": []}, "type"),
        ({"items": [{}]}, "items"),
        ({"not": None}, "not"),
        ({"enum": []}, "enum"),
        ({"anyOf": {}}, "anyOf"),
        ({"required": "a"}, "required"),
        ({"required": [["a"]]}, "required"),
        ({"properties": []}, "properties"),
        ({"maxLength": -1}, "maxLength"),
        ({"minItems": 1.5}, "minItems"),
        ({"minimum": "1"}, "minimum"),
        ({"x-produtores": []}, "x-produtores"),
        ({"x-produtores": "D-1a"}, "x-produtores"),
        ({"x-produtores": None}, "x-produtores"),
        ({"x-campos-pessoais": [1]}, "x-campos-pessoais"),
        *[({"pattern": padrao}, "pattern") for padrao in _PADROES_RECUSADOS],
    ],
    ids=str,
)
def test_recusa_palavra_chave_que_mudaria_o_sentido_e_nomeia_o_lugar(
    bd: Banco, esquema: dict[str, Any], lugar: str
) -> None:
    with pytest.raises(psycopg.Error) as recusa:
        _carregar(bd, "teste.recusado", "1.0.0", {"x-produtores": ["teste"], **esquema})
    assert recusa.value.sqlstate == "FM422"
    assert str(recusa.value).startswith(f"teste.recusado 1.0.0#/{lugar}: ")
    assert bd.execute("SELECT registro.valido('teste.recusado', '1.0.0', '{}')").fetchone() == (None,)


def test_anotacoes_passam(bd: Banco) -> None:
    anotacoes = {"$id": "x", "$comment": "x", "title": "x", "description": "x", "default": 1, "examples": [1], "x-y": 1}
    assert _carregar(bd, "teste.anotado", "1.0.0", {"x-produtores": ["teste"], **anotacoes})
    assert bd.execute("SELECT registro.valido('teste.anotado', '1.0.0', '5')").fetchone() == (True,)


@pytest.mark.parametrize(
    ("tipo", "versao", "sqlstate"),
    [
        ("teste.nome", "1.0", "FM422"),
        ("teste.nome", "v1.0.0", "FM422"),
        ("", "1.0.0", "FM422"),
        ("1", "1.0.0", "FM422"),
        ("teste." + "x" * 50, "1.0.0", "FM422"),
        ("teste.decomposic\u0327a\u0303o", "1.0.0", "FM422"),
        (None, "1.0.0", "FM422"),
        ("teste.nome", None, "FM422"),
        ("demanda.recebidã", "2.0.0", "FM409"),
    ],
)
def test_recusa_nome_que_nao_serve_ou_que_se_confunde_com_outro(
    bd: Banco, tipo: str | None, versao: str | None, sqlstate: str
) -> None:
    with pytest.raises(psycopg.Error) as recusa:
        _carregar(bd, tipo, versao, {"x-produtores": ["teste"]})
    assert recusa.value.sqlstate == sqlstate


def _carregar(bd: Banco, tipo: str | None, versao: str | None, esquema: dict[str, Any]) -> bool:
    with bd.transaction():
        linha = bd.execute("SELECT core.carregar_esquema(%s, %s, %s)", [tipo, versao, Jsonb(esquema)]).fetchone()
    assert linha is not None
    return bool(linha[0])
