"""A página de documentação: HTML montado aqui do próprio OpenAPI, sem JavaScript e sem nada de fora."""

import json
import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Any

from litestar import Request
from litestar.openapi.plugins import OpenAPIRenderPlugin

_ESTILO = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid #8886; margin-top: 2rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .875rem; }
h2 code { font-size: 1.125rem; }
h2 code, td code { overflow-wrap: anywhere; }
pre { background: #8882; padding: .75rem; border-radius: .25rem; white-space: pre-wrap; overflow-wrap: anywhere; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; border-bottom: 1px solid #8883; }
.metodo { font-weight: 700; margin-right: .5rem; }
summary { cursor: pointer; }
"""
ESTILO_PERMITIDO = f"'sha256-{b64encode(sha256(_ESTILO.encode()).digest()).decode()}'"

Json = dict[str, Any]


class Pagina(OpenAPIRenderPlugin):
    """Renderiza o OpenAPI como uma página de leitura."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: Json) -> bytes:
        """A página inteira."""
        info = openapi_schema["info"]
        sessoes = openapi_schema["components"]["securitySchemes"].values()
        sessao = "".join(f"<p>Sessão: {_prosa(s['description'])}</p>" for s in sessoes)
        indice = "".join(
            f'<li><a href="#{escape(operacao["operationId"])}">'
            f"<code>{escape(f'{metodo.upper()} {caminho}')}</code></a>: {escape(operacao['summary'])}</li>"
            for caminho, item in openapi_schema["paths"].items()
            for metodo, operacao in item.items()
        )
        operacoes = "".join(
            _operacao(openapi_schema, caminho, metodo, operacao)
            for caminho, item in openapi_schema["paths"].items()
            for metodo, operacao in item.items()
        )
        componentes = openapi_schema["components"]["schemas"]
        tipos = "".join(_componente(openapi_schema, nome, esquema) for nome, esquema in componentes.items())
        documento = escape(self.get_openapi_json_route(request))
        return (
            f'<!DOCTYPE html><html lang="pt-BR"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width"><title>{escape(info["title"])}</title>'
            f"<style>{_ESTILO}</style></head><body><h1>{escape(info['title'])}</h1>"
            f"<p>{_prosa(info['description'])}</p>{sessao}"
            f'<p>Para máquinas: <a href="{documento}">OpenAPI {escape(openapi_schema["openapi"])}</a>, '
            f"versão {escape(info['version'])} da API.</p><nav><ul>{indice}</ul></nav>{operacoes}"
            f"<section><h2>Tipos</h2>{tipos}</section></body></html>"
        ).encode()


def _operacao(documento: Json, caminho: str, metodo: str, operacao: Json) -> str:
    corpo = operacao.get("requestBody", {}).get("content", {})
    partes = [
        f'<section id="{escape(operacao["operationId"])}">',
        f'<h2><code><span class="metodo">{escape(metodo.upper())}</span>{escape(caminho)}</code></h2>',
        f"<p><strong>{escape(operacao['summary'])}</strong></p>",
        f"<p>{_prosa(operacao.get('description', ''))}</p>",
        _tabela("Parâmetros", [_linha(p["name"], p["schema"], p.get("required", False), p.get("description"))
                               for p in operacao.get("parameters", [])]),
    ]  # fmt: skip
    for midia, conteudo in corpo.items():
        partes.append(_tabela(f"Corpo ({midia})", _campos(documento, conteudo["schema"])))
    partes.append(f"<h3>Chamada</h3><pre>{escape(_curl(documento, caminho, metodo, operacao))}</pre>")
    partes.append("<h3>Respostas</h3>")
    for status, resposta in sorted(operacao["responses"].items()):
        partes.append(_resposta(status, resposta))
    return "".join(partes) + "</section>"


def _componente(documento: Json, nome: str, esquema: Json) -> str:
    ancora = escape(nome)
    return f'<h3 id="{ancora}">{ancora}</h3>{_tabela("", _campos(documento, esquema))}'


def _resposta(status: str, resposta: Json) -> str:
    cabecalhos = "".join(
        f"<p><code>{escape(nome)}</code>: {_prosa(c.get('description', ''))}</p>"
        for nome, c in resposta.get("headers", {}).items()
    )
    conteudos = "".join(
        f"<p><code>{escape(midia)}</code>: {_tipo(c['schema'])}</p>{_exemplo(c)}"
        for midia, c in resposta.get("content", {}).items()
    )
    descricao = _prosa(resposta["description"])
    return f"<details><summary><code>{escape(status)}</code> {descricao}</summary>{cabecalhos}{conteudos}</details>"


def _exemplo(conteudo: Json) -> str:
    valores = [json.dumps(e["value"], ensure_ascii=False, indent=2) for e in conteudo.get("examples", {}).values()]
    return "".join(f"<pre>{escape(valor)}</pre>" for valor in valores)


def _campos(documento: Json, esquema: Json) -> list[str]:
    esquema = _resolver(documento, esquema)
    exigidos = esquema.get("required", [])
    return [
        _linha(nome, campo, nome in exigidos, campo.get("description"))
        for nome, campo in esquema.get("properties", {}).items()
    ]


def _linha(nome: str, esquema: Json, exigido: bool, descricao: str | None) -> str:
    situacao = "obrigatório" if exigido else "opcional"
    return (
        f"<tr><td><code>{escape(nome)}</code></td><td>{_tipo(esquema)}, {situacao}</td>"
        f"<td>{_prosa(descricao or '')}</td></tr>"
    )


def _prosa(texto: str) -> str:
    """Texto corrido, com o que vem entre crases como código."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(texto))


def _tipo(esquema: Json) -> str:
    """O tipo em português; os nossos levam a sua tabela."""
    for opcoes in ("oneOf", "allOf"):
        if opcoes in esquema:
            return " ou ".join(_tipo(opcao) for opcao in esquema[opcoes])
    if "$ref" in esquema:
        nome = escape(esquema["$ref"].rsplit("/", 1)[1])
        return f'<a href="#{nome}">{nome}</a>'
    if "enum" in esquema or "const" in esquema:
        return " ou ".join(f"<code>{escape(str(v))}</code>" for v in esquema.get("enum", [esquema.get("const")]))
    tipo = esquema.get("type", "qualquer")
    if tipo == "array":
        return f"lista de {_tipo(esquema.get('items', {}))}"
    nome = {"string": "texto", "integer": "inteiro", "number": "número", "boolean": "booleano", "object": "objeto",
            "null": "nulo"}.get(tipo, str(tipo))  # fmt: skip
    return escape(f"{nome} ({esquema['format']})" if "format" in esquema else nome)


def _tabela(titulo: str, linhas: list[str]) -> str:
    if not linhas:
        return ""
    cabeca = f"<h3>{escape(titulo)}</h3>" if titulo else ""
    return f"{cabeca}<table><tr><th>Campo</th><th>Tipo</th><th>Descrição</th></tr>{''.join(linhas)}</table>"


def _curl(documento: Json, caminho: str, metodo: str, operacao: Json) -> str:
    for parametro in operacao.get("parameters", []):
        exemplo = (parametro["schema"].get("examples") or ["…"])[0]
        caminho = caminho.replace("{" + parametro["name"] + "}", str(exemplo))
    linhas = [f"curl -X {metodo.upper()} localhost:8000{caminho}"]
    if operacao.get("security"):
        linhas.append('-H "Authorization: Bearer $TOKEN"')
    for midia, conteudo in operacao.get("requestBody", {}).get("content", {}).items():
        campos = _resolver(documento, conteudo["schema"]).get("properties", {})
        exemplo = {nome: (campo.get("examples") or ["…"])[0] for nome, campo in campos.items()}
        linhas += [f'-H "Content-Type: {midia}"', f"-d '{json.dumps(exemplo, ensure_ascii=False, indent=2)}'"]
    return " \\\n  ".join(linhas)


def _resolver(documento: Json, esquema: Json) -> Json:
    referencia = esquema.get("$ref")
    if not referencia:
        return esquema
    achado: Json = documento["components"]["schemas"][referencia.rsplit("/", 1)[1]]
    return achado
