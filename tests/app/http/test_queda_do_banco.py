"""O banco cai e volta: 503 enquanto isso, e nenhum reinício do app depois."""

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from litestar import Litestar
from litestar.testing import TestClient

from app.ajustes import Ajustes
from app.banco.cluster import Cluster
from app.banco.espera import esperar
from app.banco.migrar import migrar
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt
from tests.apoio.servidor import cluster_de_teste, pasta_de_cluster
from tests.app.http.apoio import ACOMPANHAMENTO, SUGERIR, pedido, problema, ratificar

AJUSTES = Ajustes(formigueiro_espera_banco_s=2, formigueiro_conexoes_http=4)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """Um servidor só deste módulo, que ele pode derrubar."""
    with pasta_de_cluster() as pasta, cluster_de_teste(pasta) as cluster:
        migrar(cluster.endereco.dsn("postgres"), simulacao=True)
        yield cluster


@pytest.fixture
def cliente(cluster: Cluster, chave: ChaveJwt) -> Iterator[TestClient[Litestar]]:
    with TestClient(criar_app(AJUSTES, cluster.endereco.dsn("postgres", "formigueiro_app"), chave)) as cliente:
        yield cliente


def _parar(cluster: Cluster, sinal: signal.Signals) -> None:
    os.kill(cluster.pid(), sinal)
    esperar(lambda: not (cluster.dados / "postmaster.pid").exists(), 30, "o servidor parar")


@pytest.fixture
def derrubar(cluster: Cluster) -> Iterator[Callable[[], None]]:
    """Para o servidor; se o teste não o religa, religa-o o fim dele."""
    yield lambda: _parar(cluster, signal.SIGINT)
    if not (cluster.dados / "postmaster.pid").exists():
        cluster.religar()


def _chamar_todas(cliente: TestClient[Litestar], cabecalhos: dict[str, str]) -> list[httpx.Response]:
    return [
        cliente.post(SUGERIR, json=pedido(), headers=cabecalhos),
        cliente.get(ACOMPANHAMENTO, headers=cabecalhos),
        cliente.post(ratificar(uuid4()), headers=cabecalhos),
    ]


def test_banco_parado_e_503_e_a_volta_dispensa_reinicio(
    cliente: TestClient[Litestar],
    cabecalhos: dict[str, str],
    cluster: Cluster,
    derrubar: Callable[[], None],
    sessao: Callable[[UUID], dict[str, str]],
) -> None:
    # Enche o conjunto de conexões, para que todas fiquem quebradas.
    fios = [threading.Thread(target=_chamar_todas, args=(cliente, sessao(uuid4()))) for _ in range(6)]
    for fio in fios:
        fio.start()
    for fio in fios:
        fio.join()
    assert [r.status_code for r in _chamar_todas(cliente, cabecalhos)] == [201, 200, 404]

    derrubar()
    for resposta in _chamar_todas(cliente, cabecalhos):
        assert problema(resposta, 503)["title"] == "Serviço indisponível"
        assert resposta.headers["retry-after"] == "5"
    assert cliente.get("/healthz").status_code == 200
    problema(cliente.get("/readyz"), 503)
    metricas = cliente.get("/metrics")
    assert metricas.status_code == 200
    assert "formigueiro_banco_disponivel 0.0" in metricas.text
    # Sem banco, quem não tem sessão continua a ouvir 401, e não 503.
    problema(cliente.get(ACOMPANHAMENTO), 401)

    cluster.religar()
    assert [r.status_code for r in _chamar_todas(cliente, cabecalhos)] == [201, 200, 404]
    assert cliente.get("/readyz").status_code == 200


def test_conexoes_encerradas_pelo_administrador_nem_se_notam(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], cluster: Cluster
) -> None:
    assert cliente.get(ACOMPANHAMENTO, headers=cabecalhos).status_code == 200
    with psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as dba:
        dba.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'formigueiro-http'"
        )
    assert cliente.get(ACOMPANHAMENTO, headers=cabecalhos).status_code == 200


def test_conexao_encerrada_no_meio_da_consulta_e_503(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], cluster: Cluster
) -> None:
    with psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as dba:
        with dba.transaction():
            dba.execute("LOCK TABLE core.limites")  # segura o pedido dentro da consulta do limite
            respostas: list[httpx.Response] = []
            fio = threading.Thread(target=lambda: respostas.append(cliente.get(ACOMPANHAMENTO, headers=cabecalhos)))
            fio.start()
            esperar(lambda: _encerrar_quem_espera(dba), 10, "o pedido chegar ao banco")
            fio.join()
        problema(respostas[0], 503)
    assert cliente.get(ACOMPANHAMENTO, headers=cabecalhos).status_code == 200


def _encerrar_quem_espera(dba: psycopg.Connection[Any]) -> bool:
    encerrados = dba.execute(
        """
        SELECT pg_terminate_backend(pid)
          FROM pg_stat_activity
         WHERE application_name = 'formigueiro-http'
           AND wait_event_type = 'Lock'
        """
    ).fetchall()
    return bool(encerrados)


def test_o_app_sobe_com_o_banco_parado_e_o_encontra_depois(
    cluster: Cluster, chave: ChaveJwt, cabecalhos: dict[str, str], derrubar: Callable[[], None], tmp_path: Path
) -> None:
    derrubar()
    with TestClient(criar_app(AJUSTES, cluster.endereco.dsn("postgres", "formigueiro_app"), chave)) as cliente:
        assert cliente.get("/healthz").status_code == 200
        problema(cliente.get(ACOMPANHAMENTO, headers=cabecalhos), 503)
        cluster.religar()
        assert cliente.get(ACOMPANHAMENTO, headers=cabecalhos).status_code == 200


PRAZO_PROMETIDO_S = 3.0


@contextmanager
def _que_aceita_e_se_cala() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as mudo:
        yield f"host=127.0.0.1 port={mudo.getsockname()[1]} dbname=x user=x sslmode=disable gssencmode=disable"


@contextmanager
def _que_nem_aceita() -> Iterator[str]:
    """Com a fila de conexões cheia, o Linux deixa sem resposta quem quer entrar, como um filtro que engole pacotes."""
    with ExitStack() as abertos:
        cheio = abertos.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            um = abertos.enter_context(socket.socket())
            um.setblocking(False)
            um.connect_ex(cheio.getsockname())
        yield f"host=127.0.0.1 port={cheio.getsockname()[1]} dbname=x user=x sslmode=disable gssencmode=disable"


def _cronometrar(cliente: TestClient[Litestar], caminho: str) -> tuple[httpx.Response, float]:
    inicio = time.monotonic()
    resposta = cliente.get(caminho)
    return resposta, time.monotonic() - inicio


@pytest.mark.parametrize("mudo", [_que_aceita_e_se_cala, _que_nem_aceita])
def test_diante_de_um_banco_que_nao_responde_readyz_diz_que_nao_no_prazo(
    mudo: Callable[[], Any], chave: ChaveJwt
) -> None:
    with mudo() as dsn, TestClient(criar_app(Ajustes(), dsn, chave)) as cliente:
        for _ in range(2):
            resposta, duracao = _cronometrar(cliente, "/readyz")
            problema(resposta, 503)
            assert duracao < PRAZO_PROMETIDO_S
        assert cliente.get("/healthz").status_code == 200


def test_diante_de_um_banco_que_se_cala_com_as_conexoes_abertas_tambem_e_no_prazo_e_a_volta_dispensa_reinicio(
    cluster: Cluster, chave: ChaveJwt, cabecalhos: dict[str, str]
) -> None:
    """As conexões do conjunto estão boas, e nem o cancelamento da consulta terá resposta."""
    with (
        TestClient(criar_app(Ajustes(), cluster.endereco.dsn("postgres", "formigueiro_app"), chave)) as cliente,
        psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as dba,
    ):
        assert cliente.get("/readyz").status_code == 200
        processos = dba.execute(
            "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'formigueiro-%'"
        ).fetchall()
        mudos = [pid for (pid,) in processos] + [int((cluster.dados / "postmaster.pid").read_text().split()[0])]
        for pid in mudos:
            os.kill(pid, signal.SIGSTOP)
        try:
            for caminho in ("/readyz", "/readyz", "/metrics"):
                resposta, duracao = _cronometrar(cliente, caminho)
                assert resposta.status_code == (503 if caminho == "/readyz" else 200)
                assert duracao < PRAZO_PROMETIDO_S
        finally:
            for pid in mudos:
                os.kill(pid, signal.SIGCONT)
        esperar(lambda: cliente.get("/readyz").status_code == 200, 20, "o app reencontrar o banco")
        assert cliente.get(ACOMPANHAMENTO, headers=cabecalhos).status_code == 200
