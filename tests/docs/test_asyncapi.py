"""O documento AsyncAPI é válido, coerente, e diz o que o Registro e as colônias dizem."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import psycopg
import pytest

from docs.asyncapi import CABECALHOS, FORMATO, sem_acentos
from docs.gerar import ler_eventos
from tests.docs.blocos import DOCS

# O esquema oficial, http://asyncapi.com/definitions/3.0.0/asyncapi.json (Apache 2.0).
ESQUEMA_ASYNCAPI = Path(__file__).with_name("asyncapi-3.0.0.json.gz")
# Palavras que o 2020-12 tem e o draft-07 não, ou em que os dois diferem: com uma delas, FORMATO mentiria.
SO_NO_2020_12 = {
    "$anchor", "$defs", "$dynamicRef", "dependentRequired", "dependentSchemas", "maxContains", "minContains",
    "prefixItems", "unevaluatedItems", "unevaluatedProperties",
}  # fmt: skip


@pytest.fixture(scope="module")
def documento() -> dict[str, Any]:
    lido: dict[str, Any] = json.loads((DOCS / "referencia" / "asyncapi.json").read_text(encoding="utf-8"))
    return lido


def test_o_documento_e_asyncapi_3_valido(documento: dict[str, Any]) -> None:
    jsonschema.Draft7Validator(json.loads(gzip.decompress(ESQUEMA_ASYNCAPI.read_bytes()))).validate(documento)


def _referencias(no: object) -> Iterator[str]:
    if isinstance(no, dict):
        if isinstance(referencia := no.get("$ref"), str):
            yield referencia
        for filho in no.values():
            yield from _referencias(filho)
    elif isinstance(no, list):
        for filho in no:
            yield from _referencias(filho)


def _achar(documento: dict[str, Any], referencia: str) -> Any:
    no: Any = documento
    for passo in referencia.removeprefix("#/").split("/"):
        no = no[passo]
    return no


def test_toda_referencia_chega_a_algum_lugar(documento: dict[str, Any]) -> None:
    referencias = list(_referencias(documento))
    assert referencias
    for referencia in referencias:
        assert _achar(documento, referencia)


def test_cada_evento_do_registro_e_uma_mensagem_do_canal_do_seu_tipo(documento: dict[str, Any]) -> None:
    mensagens = {
        (canal["address"], _achar(documento, mensagem["$ref"])["x-versao"]): _achar(documento, mensagem["$ref"])
        for canal in documento["channels"].values()
        for mensagem in canal["messages"].values()
    }
    eventos = ler_eventos()
    assert mensagens.keys() == {(evento.tipo, evento.versao) for evento in eventos}
    for evento in eventos:
        mensagem = mensagens[evento.tipo, evento.versao]
        proprias = {k: v for k, v in evento.esquema.items() if k.startswith("x-")}
        assert {k: v for k, v in mensagem.items() if k in proprias} == proprias
        assert mensagem["payload"]["schema"] == {
            k: v for k, v in evento.esquema.items() if k != "$schema" and k not in proprias
        }


def test_o_payload_e_mesmo_do_formato_que_se_diz(documento: dict[str, Any]) -> None:
    for mensagem in documento["components"]["messages"].values():
        assert mensagem["payload"]["schemaFormat"] == FORMATO
        jsonschema.Draft7Validator.check_schema(mensagem["payload"]["schema"])
        assert not SO_NO_2020_12 & set(_palavras(mensagem["payload"]["schema"]))


def _palavras(esquema: object) -> Iterator[str]:
    if isinstance(esquema, dict):
        yield from esquema
        for filho in esquema.values():
            yield from _palavras(filho)
    elif isinstance(esquema, list):
        for filho in esquema:
            yield from _palavras(filho)


def test_as_operacoes_sao_o_que_cada_colonia_consome_e_publica(
    documento: dict[str, Any], bd: psycopg.Connection[Any]
) -> None:
    achadas = {
        (operacao["tags"][0]["name"], operacao["action"], _achar(documento, operacao["channel"]["$ref"])["address"])
        for operacao in documento["operations"].values()
    }
    consumos = bd.execute(
        "SELECT unnest(d6b.tipos_consumidos()), 'D-6b' UNION SELECT unnest(d8.tipos_consumidos()), 'D-8'"
    )
    consome = {(colonia, "receive", tipo) for tipo, colonia in consumos}
    publica = {
        (colonia, "send", evento.tipo)
        for evento in ler_eventos()
        for colonia in evento.esquema["x-produtores"]
        if colonia in ("D-6b", "D-8")
    }
    assert achadas == consome | publica
    for operacao in documento["operations"].values():
        canal = operacao["channel"]["$ref"]
        assert all(m["$ref"].startswith(f"{canal}/messages/") for m in operacao["messages"])


def test_um_evento_do_log_tem_os_cabecalhos_e_o_payload_descritos(
    documento: dict[str, Any], bd: psycopg.Connection[Any]
) -> None:
    bd.execute(
        """
        SELECT core.publicar('conselheiro.sorteado',
                             jsonb_build_object('demanda_id', gen_random_uuid(), 'conselheiro_id', gen_random_uuid(),
                                                'unidade_civica_id', gen_random_uuid()), 'D-6a')
        """
    )
    (cabecalhos, payload), *_ = bd.execute(
        "SELECT to_jsonb(e) - 'payload', e.payload FROM core.event_log AS e"
    ).fetchall()
    jsonschema.Draft7Validator(CABECALHOS, format_checker=jsonschema.FormatChecker()).validate(cabecalhos)
    assert cabecalhos.keys() - CABECALHOS["properties"].keys() == {"impressao"}
    mensagem = documento["components"]["messages"][f"{sem_acentos('conselheiro.sorteado')}-1.0.0"]
    jsonschema.Draft7Validator(mensagem["payload"]["schema"]).validate(payload)
