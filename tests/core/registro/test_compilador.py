"""O compilador de esquemas julga como a biblioteca jsonschema, seja qual for o esquema e o valor."""

from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from tests.core.registro.comparacao import comparar
from tests.core.registro.geradores import INSTANCIAS, esquemas

Banco = psycopg.Connection[Any]


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(esquema=esquemas(), instancias=st.lists(INSTANCIAS, min_size=12, max_size=12))
def test_concorda_com_jsonschema_em_esquemas_e_valores_quaisquer(
    bd: Banco, esquema: Any, instancias: list[Any]
) -> None:
    # Um esquema true ou false não leva x-produtores; entra como a única forma de um que leva.
    raiz = {"x-produtores": ["teste"], **(esquema if isinstance(esquema, dict) else {"allOf": [esquema]})}
    with bd.transaction(force_rollback=True):
        bd.execute("SELECT core.carregar_esquema('teste.qualquer', '1.0.0', %s)", [Jsonb(raiz)])
        comparar(bd, "teste.qualquer", "1.0.0", raiz, instancias)


@pytest.mark.parametrize(
    ("esquema", "validos", "invalidos"),
    [
        ({"minLength": 3}, [1, None, [], {}, "abc", "😀😀😀", "x" * 12], ["", "ab", "😀😀"]),
        ({"minLength": 999_999_999}, [None], ["x"]),
        ({"maxLength": 3}, ["", "abc", "ééé", "😀😀😀"], ["abcd", "😀😀😀😀"]),
        ({"type": "integer"}, [1, 1.0, -3, 10**400], [1.5, "1", True, None]),
        ({"enum": [1, "a", None]}, [1, 1.0, "a", None], [True, "1", 0]),
        ({"const": {"a": [1]}}, [{"a": [1.0]}], [{"a": [True]}, {"a": [1, 1]}, {"a": 1}]),
        ({"minimum": 1e308}, [10**400, "a"], [0, -(10**400)]),
        ({"properties": {"a": {"type": "string"}}}, [{}, ["a"], "a", {"a": "b"}], [{"a": None}]),
        ({"required": ["a"]}, [{"a": None}, ["b"], "b"], [{}, {"b": 1}]),
        ({"required": ["a"], "properties": {"a": False}}, [1, "a"], [{}, {"a": 1}]),
        ({"properties": {"a": True}, "additionalProperties": False}, [{}, {"a": 1}, ["b"]], [{"b": 1}]),
        ({"additionalProperties": {"type": "null"}}, [{}, {"b": None}, 3], [{"b": 1}]),
        ({"items": {"items": {"type": "null"}}}, [[], [[]], [[None]], [1], {}], [[[1]], [[], [None, 1]]]),
        ({"not": {"properties": {"a": {"minLength": 1}}}}, [{"a": ""}], [{}, {"a": "x"}, 1]),
        ({"oneOf": [{"type": "number"}, {"minimum": 2}]}, [1, "a"], [2, 3.5]),
        ({"if": {"required": ["a"]}, "then": {"required": ["b"]}}, [{}, {"a": 1, "b": 1}], [{"a": 1}]),
        ({"then": False}, [1, "a", None], []),
        ({"pattern": "^a[^b]$"}, [1, "a\n", "aç"], ["ab", "a", "a\n\n", "xac"]),
        ({"properties": {"it's %s 'q'": {"const": "%L '' \\"}}}, [{"it's %s 'q'": "%L '' \\"}], [{"it's %s 'q'": ""}]),
    ],
    ids=str,
)
def test_segue_a_semantica_do_json_schema(
    bd: Banco, esquema: dict[str, Any], validos: list[Any], invalidos: list[Any]
) -> None:
    raiz = {"x-produtores": ["teste"], **esquema}
    bd.execute("SELECT core.carregar_esquema('teste.caso', '1.0.0', %s)", [Jsonb(raiz)])
    assert _julgar(bd, validos) == [True] * len(validos)
    assert _julgar(bd, invalidos) == [False] * len(invalidos)


def _julgar(bd: Banco, valores: list[Any]) -> list[bool]:
    linhas = bd.execute(
        """
        SELECT registro.valido('teste.caso', '1.0.0', v.valor), registro.faltas('teste.caso', '1.0.0', v.valor) = '{}'
          FROM jsonb_array_elements(%s) WITH ORDINALITY AS v (valor, posicao)
         ORDER BY v.posicao
        """,
        [Jsonb(valores)],
    ).fetchall()
    assert all(valido == sem_faltas for valido, sem_faltas in linhas)
    return [valido for valido, _ in linhas]
