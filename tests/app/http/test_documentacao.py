"""O OpenAPI é válido, completo e em português; a página o mostra sem buscar nada fora."""

import json
import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from litestar import Litestar
from litestar.testing import TestClient

from app.banco.recursos import RAIZ

# O esquema oficial: https://spec.openapis.org/oas/3.1/schema/2022-10-07
ESQUEMA_OPENAPI = Path(__file__).with_name("openapi-3.1.json")
SITUACOES = {
    ("post", "/d6b/sugerir-estruturacao"): {"201", "400", "401", "413", "415", "429", "500", "503"},
    ("get", "/d6b/conselheiros/me/acompanhamento"): {"200", "401", "429", "500", "503"},
    ("post", "/d6b/demandas/{demanda_id}/ratificar-conclusao"):
        {"201", "400", "401", "403", "404", "409", "429", "500", "503"},
    ("get", "/healthz"): {"200"},
    ("get", "/readyz"): {"200", "503"},
    ("get", "/metrics"): {"200"},
}  # fmt: skip


@pytest.fixture(scope="module")
def documento(cliente_comum: TestClient[Litestar]) -> dict[str, Any]:
    resposta = cliente_comum.get("/schema/openapi.json")
    assert resposta.status_code == 200
    lido: dict[str, Any] = resposta.json()
    return lido


def test_o_documento_e_openapi_3_1_valido(documento: dict[str, Any]) -> None:
    esquema = json.loads(ESQUEMA_OPENAPI.read_text())
    jsonschema.Draft202012Validator(esquema).validate(documento)
    for componente in documento["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(componente)


def test_o_documento_traz_toda_rota_e_todo_status(documento: dict[str, Any]) -> None:
    achadas = {
        (metodo, caminho): operacao["responses"].keys()
        for caminho, item in documento["paths"].items()
        for metodo, operacao in item.items()
    }
    assert achadas == SITUACOES


def test_cada_erro_e_um_problema_com_exemplo_que_cabe_no_esquema(documento: dict[str, Any]) -> None:
    esquema = {**documento["components"]["schemas"]["Problema"], "components": documento["components"]}
    for item in documento["paths"].values():
        for operacao in item.values():
            for status, resposta in operacao["responses"].items():
                if status >= "400":
                    exemplos = resposta["content"]["application/problem+json"]["examples"].values()
                    assert exemplos
                    for exemplo in exemplos:
                        jsonschema.validate(exemplo["value"], esquema)
                        assert str(exemplo["value"]["status"]) == status
                cabecalho = {"401": "WWW-Authenticate", "429": "Retry-After", "503": "Retry-After"}.get(status)
                assert cabecalho is None or cabecalho in resposta["headers"]


def test_cada_exito_tem_exemplo_que_cabe_no_esquema(documento: dict[str, Any]) -> None:
    for item in documento["paths"].values():
        for operacao in item.values():
            (conteudo,) = [
                c for status, r in operacao["responses"].items() if status < "400" for c in r["content"].values()
            ]
            esquema = {**conteudo["schema"], "components": documento["components"]}
            assert conteudo["examples"]
            for exemplo in conteudo["examples"].values():
                jsonschema.validate(exemplo["value"], esquema, format_checker=jsonschema.FormatChecker())


def test_o_exemplo_da_sugestao_e_a_resposta_ao_exemplo_do_pedido(
    documento: dict[str, Any], cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str]
) -> None:
    campos = documento["components"]["schemas"]["PedidoSugestao"]["properties"]
    corpo = {nome: campo["examples"][0] for nome, campo in campos.items()}
    respostas = documento["paths"]["/d6b/sugerir-estruturacao"]["post"]["responses"]
    (exemplo,) = respostas["201"]["content"]["application/json"]["examples"].values()
    assert cliente_comum.post("/d6b/sugerir-estruturacao", headers=cabecalhos, json=corpo).json() == exemplo["value"]


def test_os_exemplos_de_acompanhamento_e_de_prontidao_tem_os_campos_da_resposta(
    documento: dict[str, Any], cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str]
) -> None:
    for rota in ("/d6b/conselheiros/me/acompanhamento", "/readyz"):
        resposta = documento["paths"][rota]["get"]["responses"]["200"]["content"]["application/json"]
        recebida = cliente_comum.get(rota, headers=cabecalhos).json()
        assert all(exemplo["value"].keys() == recebida.keys() for exemplo in resposta["examples"].values())


def test_as_rotas_da_d6b_pedem_sessao_e_as_de_operacao_nao(documento: dict[str, Any]) -> None:
    for caminho, item in documento["paths"].items():
        for operacao in item.values():
            assert operacao.get("security") == ([{"sessaoGoogle": []}] if caminho.startswith("/d6b/") else None)


def test_tudo_o_que_se_le_esta_em_portugues(documento: dict[str, Any]) -> None:
    """As frases que o Litestar e o http.HTTPStatus poriam em inglês não aparecem."""
    texto = json.dumps(documento, ensure_ascii=False)
    assert not re.search(
        r"(?<!-)\b(Request|Successful|Additional|Bad|created|Document|follows|Validation|Error)\b", texto
    )
    for item in documento["paths"].values():
        for operacao in item.values():
            assert operacao["summary"]
            assert operacao["description"]
            assert operacao["tags"]


class _Leitor(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.etiquetas: list[str] = []
        self.enderecos: list[str] = []
        self.ancoras: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.etiquetas.append(tag)
        self.ancoras |= {valor or "" for nome, valor in attrs if nome == "id"}
        self.enderecos += [valor or "" for nome, valor in attrs if nome in ("src", "href", "action", "data")]


def test_a_pagina_mostra_tudo_e_nao_busca_nada_fora(cliente_comum: TestClient[Litestar]) -> None:
    resposta = cliente_comum.get("/schema")
    assert resposta.status_code == 200
    assert resposta.headers["content-type"].startswith("text/html")
    for _, rota in SITUACOES:
        assert rota in resposta.text
    leitor = _Leitor()
    leitor.feed(resposta.text)
    assert [e for e in leitor.enderecos if not e.startswith("#")] == ["/schema/openapi.json"]
    assert {e[1:] for e in leitor.enderecos if e.startswith("#")} <= leitor.ancoras
    assert not {"script", "img", "link", "iframe", "object"} & set(leitor.etiquetas)
    assert "http://" not in resposta.text
    assert "https://" not in resposta.text
    politica = resposta.headers["content-security-policy"]
    assert politica.startswith("default-src 'none'; style-src 'sha256-")
    assert "`" not in resposta.text


def test_a_versao_da_api_e_a_do_projeto(documento: dict[str, Any]) -> None:
    projeto = tomllib.loads((RAIZ / "pyproject.toml").read_text(encoding="utf-8"))
    assert documento["info"]["version"] == projeto["project"]["version"]


def test_o_exemplo_de_curl_da_pagina_usa_os_exemplos_do_documento(cliente_comum: TestClient[Litestar]) -> None:
    pagina = cliente_comum.get("/schema").text
    assert "curl -X POST localhost:8000/d6b/sugerir-estruturacao" in pagina
    assert "localhost:8000/d6b/demandas/5f0c7c0e-6a3e-4f3b-9a44-5f6f2f1a9b10/ratificar-conclusao" in pagina
    assert "&quot;tipoAtualizacao&quot;: &quot;protocolo_aberto&quot;" in pagina
