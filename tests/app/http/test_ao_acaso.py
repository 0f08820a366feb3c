"""Nenhuma entrada dá 500: pedidos ao acaso, bem e mal formados, contra o app inteiro."""

import json
from collections.abc import Callable
from urllib.parse import quote
from uuid import UUID, uuid4

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from litestar import Litestar
from litestar.testing import TestClient

from tests.app.http.apoio import ACOMPANHAMENTO, SUGERIR, pedido

AJUSTES = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

json_qualquer = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda filho: st.lists(filho, max_size=4) | st.dictionaries(st.text(), filho, max_size=4),
    max_leaves=12,
)
tipos = st.sampled_from(
    ["contato_realizado", "protocolo_aberto", "documento_anexado", "entrave_registrado", "status_atualizado",
     "prazo_registrado"]
)  # fmt: skip
relatos = st.text(max_size=300) | st.lists(
    st.sampled_from(
        ["protocolo", "nº", "2026/004512", "até", "31/02/2026", "99/99/9999", "concluído", "29/02/2028", ".", " ", "\n",
         "1" * 60, "🐜", "\u0301", "\u202e", "\x00"]
    )
).map(" ".join)  # fmt: skip
corpos = (
    st.fixed_dictionaries({"textoBruto": relatos, "tipoAtualizacao": tipos, "demandaId": st.uuids().map(str)})
    | st.fixed_dictionaries(
        {},
        optional={
            "textoBruto": relatos | json_qualquer,
            "tipoAtualizacao": tipos | json_qualquer,
            "demandaId": st.uuids().map(str) | json_qualquer,
            "outro": json_qualquer,
        },
    )
    | json_qualquer
).map(lambda corpo: json.dumps(corpo).encode())
# Latin-1 imprimível: o que um cliente HTTP consegue pôr num cabeçalho.
cabecalho = st.text(st.characters(min_codepoint=33, max_codepoint=255, exclude_characters="\x7f\x85\xa0"), max_size=60)
segmento = st.text(min_size=1, max_size=40).filter(lambda texto: texto.isprintable())


@pytest.fixture(scope="module")
def documentados(cliente_comum: TestClient[Litestar]) -> Callable[[str, str], set[int]]:
    """Os status que o OpenAPI promete para uma rota."""
    caminhos = cliente_comum.get("/schema/openapi.json").json()["paths"]
    return lambda metodo, rota: {int(status) for status in caminhos[rota][metodo]["responses"]}


def _crus(cabecalhos: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(nome.encode(), valor.encode("latin-1")) for nome, valor in cabecalhos.items()]


@AJUSTES
@given(corpo=corpos | st.binary(max_size=200), tipo=st.just("application/json") | cabecalho)
def test_nenhum_corpo_da_500(
    cliente_comum: TestClient[Litestar],
    sessao: Callable[[UUID], dict[str, str]],
    documentados: Callable[[str, str], set[int]],
    corpo: bytes,
    tipo: str,
) -> None:
    resposta = cliente_comum.post(SUGERIR, content=corpo, headers=_crus(sessao(uuid4()) | {"Content-Type": tipo}))
    assert resposta.status_code in documentados("post", SUGERIR) - {401, 429, 500, 503}, resposta.text
    if resposta.status_code == 201:
        jsonschema.validate(resposta.json(), {"required": ["titulo_sugerido", "texto_sugerido", "campos_estruturados"]})
    else:
        assert resposta.headers["content-type"] == "application/problem+json"


@AJUSTES
@given(demanda=segmento | st.uuids().map(str), corpo=st.binary(max_size=50))
def test_nenhum_endereco_da_500(
    cliente_comum: TestClient[Litestar], sessao: Callable[[UUID], dict[str, str]], demanda: str, corpo: bytes
) -> None:
    rota = f"/d6b/demandas/{quote(demanda)}/ratificar-conclusao"
    resposta = cliente_comum.post(rota, content=corpo, headers=sessao(uuid4()))
    assert resposta.status_code in (400, 404), resposta.text
    assert resposta.headers["content-type"] == "application/problem+json"


@AJUSTES
@given(autorizacao=cabecalho | cabecalho.map("Bearer {}".format), metodo=st.sampled_from(["GET", "POST", "HEAD", "X"]))
def test_nenhuma_autorizacao_nem_metodo_da_500(
    cliente_comum: TestClient[Litestar], autorizacao: str, metodo: str
) -> None:
    resposta = cliente_comum.request(metodo, ACOMPANHAMENTO, headers=_crus({"Authorization": autorizacao}))
    assert resposta.status_code == (401 if metodo == "GET" else 405)


def test_o_pedido_dos_testes_e_aceito(
    cliente_comum: TestClient[Litestar], sessao: Callable[[UUID], dict[str, str]]
) -> None:
    """Sem isto, os de cima poderiam passar por nunca chegar à peça."""
    assert cliente_comum.post(SUGERIR, json=pedido(), headers=sessao(uuid4())).status_code == 201
