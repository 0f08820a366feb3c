"""O catálogo de eventos como documento AsyncAPI 3.0: docs/gerar.py o escreve em docs/referencia/asyncapi.json.

Um canal por tipo, uma mensagem por versão, uma operação por colônia daqui e tipo: `receive` o que ela consome, `send` o
que publica. Os nomes internos são os tipos sem acentos, como o formato pede; o endereço do canal é o tipo, com eles.
"""

import json
import tomllib
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from app.banco.recursos import RAIZ

Json = dict[str, Any]

FORMATO = "application/schema+json;version=draft-07"
COLONIAS = {"D-6b": "Relatoria e Acompanhamento", "D-8": "Manutenção Programada"}
_UUID = {"type": "string", "format": "uuid"}
CABECALHOS: Json = {
    "type": "object",
    "required": [
        "sequence_number",
        "event_id",
        "tipo",
        "origem",
        "versao_schema",
        "correlacao_id",
        "chave",
        "publicado_em",
    ],
    "properties": {
        "sequence_number": {"type": "integer", "minimum": 1, "description": "Número de ordem; crescente, com lacunas."},
        "event_id": {**_UUID, "description": "Identidade do evento; única no log."},
        "tipo": {"type": "string", "description": "O endereço do canal."},
        "origem": {"type": "string", "description": "A colônia que publicou."},
        "versao_schema": {"type": "string", "description": "A versão do payload."},
        "correlacao_id": {**_UUID, "description": "O que liga os eventos de uma mesma causa."},
        "chave": {"type": "string", "description": "demanda_id ou, sem ele, event_id: a unidade da ordem."},
        "publicado_em": {"type": "string", "format": "date-time", "description": "Começo da transação que publicou."},
    },
}


def documento(eventos: Sequence[tuple[str, str, Mapping[str, Any]]], consumidores: Mapping[str, Sequence[str]]) -> str:
    """O documento, de (tipo, versão, esquema) de cada evento e, por tipo, as colônias daqui que o consomem."""
    canais: Json = {}
    mensagens: Json = {}
    operacoes: Json = {}
    for tipo, versao, esquema in eventos:
        canal = sem_acentos(tipo)
        mensagem = f"{canal}-{versao}"
        mensagens[mensagem] = _mensagem(tipo, versao, esquema)
        canais.setdefault(canal, {"address": tipo, "messages": {}, "servers": [{"$ref": "#/servers/banco"}]})
        canais[canal]["messages"][mensagem] = {"$ref": f"#/components/messages/{mensagem}"}
        for colonia in COLONIAS:
            for acao, quem in (("receive", consumidores.get(tipo, ())), ("send", esquema["x-produtores"])):
                if colonia in quem:
                    _na_operacao(operacoes, colonia, acao, canal, mensagem)
    return json.dumps(_documento(canais, mensagens, operacoes), ensure_ascii=False, indent=2) + "\n"


def _documento(canais: Json, mensagens: Json, operacoes: Json) -> Json:
    projeto = tomllib.loads((RAIZ / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Formigueiro: os eventos da D-6b e da D-8",
            "version": projeto["version"],
            "description": (
                "O que as duas colônias consomem e publicam em core.event_log. Publica-se com core.publicar; lê-se por "
                "sequence_number, até o horizonte. As garantias de ordem estão em eventos.md, ao lado."
            ),
            "tags": [{"name": nome, "description": descricao} for nome, descricao in COLONIAS.items()],
        },
        "defaultContentType": "application/json",
        "servers": {
            "banco": {
                "host": "localhost:5432",
                "pathname": "/formigueiro",
                "protocol": "postgresql",
                "description": "O banco do Formigueiro; o log é a tabela core.event_log.",
            }
        },
        "channels": canais,
        "operations": operacoes,
        "components": {"messages": mensagens, "schemas": {"cabecalhos": CABECALHOS}},
    }


def _mensagem(tipo: str, versao: str, esquema: Mapping[str, Any]) -> Json:
    return {
        "name": tipo,
        "title": esquema["title"],
        "summary": esquema["description"],
        "contentType": "application/json",
        "headers": {"$ref": "#/components/schemas/cabecalhos"},
        "correlationId": {"location": "$message.header#/correlacao_id"},
        "payload": {"schemaFormat": FORMATO, "schema": {k: v for k, v in esquema.items() if not _do_registro(k)}},
        "x-versao": versao,
        "x-produtores": esquema["x-produtores"],
        "x-campos-pessoais": esquema["x-campos-pessoais"],
    }


def _do_registro(palavra: str) -> bool:
    return palavra == "$schema" or palavra.startswith("x-")


def _na_operacao(operacoes: Json, colonia: str, acao: str, canal: str, mensagem: str) -> None:
    nome = f"{colonia}-{'consome' if acao == 'receive' else 'publica'}-{canal}"
    operacao = operacoes.setdefault(
        nome, {"action": acao, "channel": {"$ref": f"#/channels/{canal}"}, "tags": [{"name": colonia}], "messages": []}
    )
    operacao["messages"].append({"$ref": f"#/channels/{canal}/messages/{mensagem}"})


def sem_acentos(tipo: str) -> str:
    """`manutenção.executada` → `manutencao.executada`."""
    return unicodedata.normalize("NFD", tipo).encode("ascii", "ignore").decode()
