"""Compara, em lote, o juízo do Registro com o de referência."""

from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from tests.core.registro.referencia import validador

_JULGAR = """
    SELECT registro.valido(%(tipo)s, %(versao)s, p.payload), registro.faltas(%(tipo)s, %(versao)s, p.payload)
      FROM jsonb_array_elements(%(payloads)s) WITH ORDINALITY AS p (payload, posicao)
     ORDER BY p.posicao
"""


def comparar(
    bd: psycopg.Connection[Any], tipo: str, versao: str, esquema: Any, payloads: Sequence[Any]
) -> tuple[int, int]:
    """Exige o mesmo juízo sobre cada payload; devolve quantos são válidos e quantos não."""
    referencia = validador(esquema)
    juizos = bd.execute(_JULGAR, {"tipo": tipo, "versao": versao, "payloads": Jsonb(list(payloads))}).fetchall()
    validos = 0
    for payload, (valido, faltas) in zip(payloads, juizos, strict=True):
        esperado = referencia.is_valid(payload)
        assert valido is esperado, f"registro.valido deu {valido} a {payload!r} diante de {esquema!r}"
        assert (faltas == []) is esperado, f"registro.faltas deu {faltas} a {payload!r} diante de {esquema!r}"
        validos += esperado
    return validos, len(payloads) - validos
