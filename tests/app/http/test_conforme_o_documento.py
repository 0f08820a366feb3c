"""O app responde o que seu OpenAPI promete: o Schemathesis gera os pedidos do documento e confere cada resposta."""

from collections.abc import Callable, Iterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from litestar import Litestar
from litestar.testing import TestClient
from psycopg.conninfo import make_conninfo
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from app.ajustes import Ajustes
from app.http.aplicacao import criar_app
from app.http.limites import CORPO_MAXIMO
from app.http.seguranca import ChaveJwt, emitir_token
from tests.apoio.rede import CONTEUDOS, Rede
from tests.app.http.apoio import ACOMPANHAMENTO, PENDENCIA, SUGERIR, abrir_acompanhamento, confirmar, pedido, ratificar
from tests.app.http.conftest import AJUSTES, SEGREDO
from tests.app.http.processos import no_ar

CONFERENCIAS = [
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
RATIFICAR = ratificar("{demanda_id}")
ESQUEMA = schemathesis.openapi.from_dict(
    criar_app(AJUSTES, "", ChaveJwt.de_segredo(SEGREDO)).openapi_schema.to_schema(),
    config=schemathesis.Config.from_dict({"seed": 1}),
)


@ESQUEMA.hook
def map_body(_: schemathesis.HookContext, body: Any) -> Any:
    """Dá um tipo que existe à maior parte dos relatos: ao acaso, quase nenhum passaria daí."""
    if isinstance(body, dict) and isinstance(tipo := body.get("tipoAtualizacao"), str):
        return body | {"tipoAtualizacao": (*CONTEUDOS, tipo)[len(tipo) % 7]}
    return body


@pytest.fixture(scope="module")
def endereco(dsn_comum: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Onde um processo do app atende."""
    with no_ar(dsn_comum, 1, tmp_path_factory.mktemp("logs")) as (cliente,):
        yield str(cliente.base_url)


def test_o_documento_conferido_e_o_servido(endereco: str) -> None:
    assert httpx.get(f"{endereco}/schema/openapi.json").json() == ESQUEMA.raw_schema


@ESQUEMA.parametrize()
@settings(
    max_examples=60,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
def test_ao_acaso(case: schemathesis.Case[Any], endereco: str, chave: ChaveJwt) -> None:
    # Um cidadão por pedido: o limite por minuto, que é de cada um, não chega.
    autorizacao = {"Authorization": f"Bearer {emitir_token(chave, uuid4())}"}
    case.call_and_validate(endereco, headers=autorizacao, checks=[not_a_server_error, *CONFERENCIAS])


def _conferir(resposta: httpx.Response, metodo: str, rota: str, status: int) -> None:
    """A resposta tem o status e é, nesse status, o que o documento diz da rota."""
    assert resposta.status_code == status, resposta.text
    caso = ESQUEMA[rota][metodo].Case(path_parameters={"demanda_id": resposta.url.path.split("/")[-2]})
    caso.validate_response(resposta, checks=CONFERENCIAS)


def test_um_ciclo_com_de_tudo(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], cidadao: UUID, bd: psycopg.Connection[Any]
) -> None:
    rede, demanda = Rede(bd), uuid4()
    rede.relogio("2026-11-30 12:00:00+00")
    rede.sortear(demanda, cidadao)
    for tipo in CONTEUDOS:
        rede.atualizar(demanda, cidadao, tipo)
    rede.atualizar(demanda, cidadao, texto="", audio_object_key="a.ogg")
    confirmar(bd, demanda)
    bd.execute("SELECT d6b.verificar_prazos_proximos('2026-12-18 12:00:00+00')")
    resposta = cliente.get(ACOMPANHAMENTO, headers=cabecalhos)
    _conferir(resposta, "GET", ACOMPANHAMENTO, 200)
    corpo = resposta.json()
    assert corpo["acompanhamento"]["pendencia_conclusao"]["total_conclusoes"] == 5
    assert corpo["prazos"][0]["alerta_enviado"]
    assert {a["tipo"] for a in corpo["atualizacoes"]} == set(CONTEUDOS)
    assert {a["status"] for a in corpo["atualizacoes"]} == {"publicada", "aguardando_transcricao"}


def test_cada_resposta_da_ratificacao(
    cliente: TestClient[Litestar],
    sessao: Callable[[UUID], dict[str, str]],
    cidadao: UUID,
    bd: psycopg.Connection[Any],
) -> None:
    demanda, alheia = abrir_acompanhamento(bd, cidadao), abrir_acompanhamento(bd, uuid4(), PENDENCIA)
    confirmar(bd, demanda)
    pedidos: list[tuple[object, int]] = [
        (demanda, 201),
        (demanda, 404),
        (abrir_acompanhamento(bd, cidadao), 409),
        (alheia, 403),
        ("1", 400),
        (demanda, 429),
    ]
    cabecalhos = sessao(cidadao)
    for qual, status in pedidos:
        _conferir(cliente.post(ratificar(qual), headers=cabecalhos), "POST", RATIFICAR, status)
    _conferir(cliente.post(ratificar(demanda)), "POST", RATIFICAR, 401)


def test_corpo_grande_demais(cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str]) -> None:
    resposta = cliente_comum.post(SUGERIR, json=pedido(textoBruto="a" * CORPO_MAXIMO), headers=cabecalhos)
    _conferir(resposta, "POST", SUGERIR, 413)


@pytest.mark.parametrize(("metodo", "rota"), [("GET", ACOMPANHAMENTO), ("POST", RATIFICAR), ("POST", SUGERIR)])
def test_sem_banco(dsn_comum: str, chave: ChaveJwt, cabecalhos: dict[str, str], metodo: str, rota: str) -> None:
    fora = make_conninfo(dsn_comum, port=1)
    with TestClient(criar_app(Ajustes(formigueiro_espera_banco_s=0.2), fora, chave)) as cliente:
        resposta = cliente.request(metodo, rota.format(demanda_id=uuid4()), headers=cabecalhos)
    _conferir(resposta, metodo, rota, 503)
