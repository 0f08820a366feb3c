"""O juízo de referência: a biblioteca jsonschema, com os formatos e padrões que o Registro promete."""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import jsonschema
from jsonschema import Draft202012Validator, FormatChecker, validators

_DATA_HORA = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)


def uuid_valido(texto: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", texto))


def data_valida(texto: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", texto):
        return False
    try:
        date.fromisoformat(texto)
    except ValueError:
        return False
    return True


def data_hora_valida(texto: str) -> bool:
    partes = _DATA_HORA.fullmatch(texto)
    if not partes or len(texto) > 64:
        return False
    dia, hora, minuto, segundo, sinal, horas, minutos = partes.groups()
    if horas and (int(horas) > 15 or int(minutos) > 59):
        return False
    deslocamento = timedelta(hours=int(horas or 0), minutes=int(minutos or 0))
    fuso = timezone(-deslocamento if sinal == "-" else deslocamento)
    try:
        ano, mes, dia_do_mes = map(int, dia.split("-"))
        datetime(ano, mes, dia_do_mes, int(hora), int(minuto), int(segundo), tzinfo=fuso).astimezone(UTC)
    except (ValueError, OverflowError):  # o dia não existe, ou em UTC cai fora dos anos 0001 a 9999
        return False
    return True


_FORMATOS = FormatChecker(formats=())
for _nome, _conferir in {"uuid": uuid_valido, "date": data_valida, "date-time": data_hora_valida}.items():
    _FORMATOS.checks(_nome)(lambda valor, conferir=_conferir: not isinstance(valor, str) or conferir(valor))


def _padrao(_validador: Any, padrao: str, valor: object, _esquema: object) -> Iterator[jsonschema.ValidationError]:
    """No JSON Schema, `$` é só o fim do texto; no Python, também o que antecede uma quebra de linha final."""
    if isinstance(valor, str) and not re.search(padrao.replace("$", r"\Z"), valor):
        yield jsonschema.ValidationError(f"{valor!r} não segue {padrao!r}")


_Validador = validators.extend(Draft202012Validator, {"pattern": _padrao})


def validador(esquema: Any) -> Any:
    Draft202012Validator.check_schema(esquema)
    return _Validador(esquema, format_checker=_FORMATOS)
