"""/healthz, /readyz e /metrics."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from prometheus_client.parser import text_string_to_metric_families
from psycopg.conninfo import make_conninfo

from app.ajustes import Ajustes
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt
from tests.app.http.apoio import ACOMPANHAMENTO, problema
from tests.app.http.conftest import AJUSTES

SORTEIO = """
    SELECT core.publicar('conselheiro.sorteado',
                         jsonb_build_object('demanda_id', gen_random_uuid(), 'conselheiro_id', gen_random_uuid(),
                                            'unidade_civica_id', gen_random_uuid(), 'timestamp', core.iso(now()),
                                            'data_sorteio', core.iso(now())),
                         'D-6a')
"""


def _amostras(cliente: TestClient[Litestar]) -> dict[tuple[str, ...], float]:
    resposta = cliente.get("/metrics")
    assert resposta.status_code == 200
    assert resposta.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        (amostra.name, *(valor for rotulo, valor in sorted(amostra.labels.items()) if rotulo != "le")): amostra.value
        for familia in text_string_to_metric_families(resposta.text)
        for amostra in familia.samples
    }


def test_healthz_vive_sem_banco(chave: ChaveJwt) -> None:
    with TestClient(criar_app(Ajustes(), "host=/nao/ha dbname=x", chave)) as cliente:
        assert cliente.get("/healthz").json() == {"status": "vivo"}


def test_readyz_pronto(cliente_comum: TestClient[Litestar]) -> None:
    resposta = cliente_comum.get("/readyz")
    assert resposta.status_code == 200
    assert resposta.json()["status"] == "pronto"
    assert [c["colonia"] for c in resposta.json()["retrato"]["colonias"]] == ["D-6b", "D-8"]


def test_readyz_com_migracao_por_aplicar(cliente: TestClient[Litestar], bd: psycopg.Connection[Any]) -> None:
    bd.execute("DELETE FROM migracoes.conteudo WHERE migration_id = 'core_0005_limites_http'")
    assert problema(cliente.get("/readyz"), 503)["detail"] == "Falta a migração core_0005_limites_http: rode migrar."


def test_readyz_num_banco_vazio(dsn: str, chave: ChaveJwt, bd: psycopg.Connection[Any]) -> None:
    bd.execute("CREATE DATABASE vazio_do_http TEMPLATE template0")
    try:
        with TestClient(criar_app(AJUSTES, make_conninfo(dsn, dbname="vazio_do_http"), chave)) as cliente:
            assert problema(cliente.get("/readyz"), 503)["detail"] == "O banco não está migrado: rode migrar."
            assert cliente.get("/metrics").status_code == 200
    finally:
        bd.execute("DROP DATABASE vazio_do_http WITH (FORCE)")


def test_readyz_com_o_barramento_atrasado(cliente: TestClient[Litestar], bd: psycopg.Connection[Any]) -> None:
    bd.execute("SELECT core.definir_relogio('2026-05-01T00:00:00Z')")
    bd.execute(SORTEIO)
    assert cliente.get("/readyz").status_code == 200
    bd.execute("SELECT core.definir_relogio('2026-05-01T00:05:01Z')")
    detalhe = problema(cliente.get("/readyz"), 503)["detail"]
    assert "A D-6b está 301 s atrasada na leitura do barramento." in detalhe
    bd.execute("CALL core.despachar()")
    assert cliente.get("/readyz").status_code == 200


def test_readyz_com_uma_fila_que_cresce(cliente: TestClient[Litestar], bd: psycopg.Connection[Any]) -> None:
    bd.execute("UPDATE core.parametros SET valor = '1' WHERE nome = 'fila_tamanho_atencao'")
    bd.execute(
        "INSERT INTO core.medidas_das_filas (colonia, fila, quando, tamanho)"
        " SELECT 'D-8', 'eventos', clock_timestamp() - make_interval(mins => n), 3 - n FROM generate_series(0, 3) AS n"
    )
    assert cliente.get("/readyz").status_code == 200
    bd.execute("UPDATE core.consumidores SET posicao = -4 WHERE colonia = 'D-8'")
    resposta = cliente.get("/readyz")
    assert resposta.status_code == 503
    assert "A fila de eventos da D-8 cresce: 4, 4 a mais que há 180 s." in resposta.json()["detail"]


def test_readyz_e_metricas_com_textos_esperando_o_trabalhador(
    cliente: TestClient[Litestar], bd: psycopg.Connection[Any]
) -> None:
    bd.execute(
        """
        CREATE OR REPLACE FUNCTION d8.fila_de_publicacao(OUT pendentes bigint, OUT segundos float8)
        LANGUAGE sql AS $$ SELECT 3::bigint, 400::float8 $$
        """
    )
    bd.execute("GRANT USAGE ON SCHEMA d8 TO formigueiro_app")
    bd.execute("GRANT EXECUTE ON FUNCTION d8.fila_de_publicacao() TO formigueiro_app")
    assert problema(cliente.get("/readyz"), 503)["detail"] == "Há textos da D-8 esperando o trabalhador há 400 s."
    amostras = _amostras(cliente)
    assert amostras["formigueiro_publicacoes_pendentes", "D-8"] == 3
    assert amostras["formigueiro_publicacoes_atraso_segundos", "D-8"] == 400


@pytest.fixture
def vida(dsn_app: str, chave: ChaveJwt) -> Iterator[tuple[TestClient[Litestar], list[str]]]:
    """Um app com uma vida a mais e uma verificação que reclama enquanto há algo na lista."""
    passos: list[str] = []

    @asynccontextmanager
    async def trabalhador(_: Litestar) -> AsyncIterator[None]:
        passos.append("entrou")
        yield
        passos.append("saiu")

    def verificar() -> str | None:
        return None if passos == ["entrou"] else "O trabalhador parou."

    app = criar_app(AJUSTES, dsn_app, chave, vidas=[trabalhador], verificacoes=[verificar])
    with TestClient(app) as cliente:
        yield cliente, passos
    assert passos[-1] == "saiu"


def test_vidas_e_verificacoes_de_fora_entram_no_app(vida: tuple[TestClient[Litestar], list[str]]) -> None:
    cliente, passos = vida
    assert cliente.get("/readyz").status_code == 200
    passos.append("caiu")
    assert problema(cliente.get("/readyz"), 503)["detail"] == "O trabalhador parou."


def test_metricas_do_http_por_molde_de_rota(cliente: TestClient[Litestar], cabecalhos: dict[str, str]) -> None:
    for n in range(3):
        cliente.get(f"/nada/{n}")
        cliente.post(f"/d6b/demandas/{n}/ratificar-conclusao", headers=cabecalhos)
    cliente.get(ACOMPANHAMENTO, headers=cabecalhos)
    cliente.request("FORMIGA", "/healthz")
    amostras = _amostras(cliente)
    total = "formigueiro_http_requisicoes_total"
    assert amostras[total, "GET", "desconhecida", "404"] == 3
    assert amostras[total, "POST", "/d6b/demandas/{demanda_id}/ratificar-conclusao", "400"] == 3
    assert amostras[total, "GET", ACOMPANHAMENTO, "200"] == 1
    assert amostras[total, "outro", "/healthz", "405"] == 1
    assert amostras["formigueiro_http_duracao_segundos_count", "GET", ACOMPANHAMENTO] == 1


def test_metricas_do_barramento(cliente: TestClient[Litestar], bd: psycopg.Connection[Any]) -> None:
    bd.execute("SELECT core.definir_relogio('2026-05-01T00:00:00Z')")
    for _ in range(3):
        bd.execute(SORTEIO)
    bd.execute("SELECT core.definir_relogio('2026-05-01T00:01:00Z')")
    bd.execute(
        """
        INSERT INTO core.dlq (colonia, especie, event_id, sequence_number, tipo, chave, estado)
        VALUES ('D-8', 'evento', gen_random_uuid(), 1, 'demanda.concluída', 'a', 'pendente'),
               ('D-8', 'evento', gen_random_uuid(), 2, 'demanda.concluída', 'a', 'em_espera'),
               ('D-8', 'evento', gen_random_uuid(), 3, 'demanda.concluída', 'b', 'resolvida')
        """
    )
    amostras = _amostras(cliente)
    assert amostras["formigueiro_banco_disponivel",] == 1
    assert amostras["formigueiro_barramento_atraso_eventos", "D-6b"] == 3
    assert amostras["formigueiro_barramento_atraso_segundos", "D-6b"] == 60
    assert amostras["formigueiro_barramento_horizonte_retido_segundos", "D-6b"] == 0
    assert amostras["formigueiro_dlq_entradas", "D-8", "evento", "pendente"] == 1
    assert amostras["formigueiro_dlq_entradas", "D-8", "evento", "em_espera"] == 1
    assert ("formigueiro_dlq_entradas", "D-8", "evento", "resolvida") not in amostras
    assert amostras["formigueiro_dlq_entradas", "D-8", "saida", "pendente"] == 0
    assert amostras["formigueiro_dlq_entradas", "D-6b", "evento", "pendente"] == 0


def test_dois_apps_no_mesmo_processo_nao_misturam_metricas(dsn_app: str, chave: ChaveJwt) -> None:
    with TestClient(criar_app(AJUSTES, dsn_app, chave)) as um, TestClient(criar_app(AJUSTES, dsn_app, chave)) as outro:
        um.get("/nada")
        assert ("formigueiro_http_requisicoes_total", "GET", "desconhecida", "404") in _amostras(um)
        assert ("formigueiro_http_requisicoes_total", "GET", "desconhecida", "404") not in _amostras(outro)
