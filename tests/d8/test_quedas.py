"""kill -9 do servidor no meio de uma varredura: o que se confirmou fica, e cada ciclo se gera uma vez (E27)."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random

import psycopg
import pytest

from app.banco import postmaster
from app.banco.cluster import Cluster
from app.banco.migrar import migrar
from tests.apoio.espera import ate
from tests.apoio.servidor import cluster_de_teste, pasta_de_cluster
from tests.d8.apoio import Manutencao

PROJETOS = 2000


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Um servidor só deste teste, com os projetos já vencidos."""
    with pasta_de_cluster() as pasta, cluster_de_teste(pasta) as cluster:
        migrar(cluster.endereco.dsn("postgres"), simulacao=True)
        with psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as bd:
            Manutencao(bd).semear(PROJETOS)
        yield cluster


@pytest.mark.timeout(600)
@pytest.mark.parametrize("quedas", [10, pytest.param(60, marks=pytest.mark.longo)])
def test_depois_de_quedas_cada_projeto_gera_uma_vez(cluster: Cluster, quedas: int) -> None:
    sorte = Random(quedas)
    dsn = cluster.endereco.dsn("postgres")
    pegas = 0  # quedas no meio da varredura: a máquina lenta pode deixá-la acabar antes de uma ou outra
    for queda in range(1, quedas + 1):
        alvo = PROJETOS * queda // (quedas + 2) + sorte.randrange(40)
        with ThreadPoolExecutor(1) as executor, psycopg.connect(dsn, autocommit=True) as olheiro:
            varredura = executor.submit(varrer, dsn)
            ate(lambda: gerados(olheiro) >= alvo or varredura.done())  # noqa: B023  # não sai desta volta
            matar(cluster)
            varredura.result()
        cluster.religar()
        with psycopg.connect(dsn, autocommit=True) as bd:
            pegas += 0 < gerados(bd) < PROJETOS
    assert pegas

    with psycopg.connect(dsn, autocommit=True) as bd:
        d8 = Manutencao(bd)
        d8.varrer()
        assert gerados(bd) == PROJETOS
        assert d8.um("SELECT count(DISTINCT projeto_id) FROM d8.historico_manutencoes") == PROJETOS
        assert d8.um("SELECT count(*) FROM core.event_log WHERE tipo = 'demanda.recebida'") == PROJETOS
        assert d8.um("SELECT count(*) FROM core.event_log WHERE tipo = 'demanda.manutenção_gerada'") == PROJETOS
        assert d8.um(
            """
            SELECT count(*)
              FROM d8.historico_manutencoes AS h
              JOIN d8.projetos_monitorados AS p ON p.id = h.projeto_id AND p.ciclo_atual = h.ciclo_numero
              JOIN core.event_log AS e ON e.event_id = h.event_id_geracao AND e.chave = h.demanda_manutencao_id::text
             WHERE p.event_id_ultima_alteracao = h.event_id_geracao
            """
        ) == PROJETOS  # fmt: skip
        assert d8.ocorrencias() == []


def varrer(dsn: str) -> None:
    with suppress(psycopg.OperationalError), psycopg.connect(dsn, autocommit=True) as sessao:
        sessao.execute("CALL d8.executar_varredura(core.agora(), 20)")


def gerados(bd: psycopg.Connection[tuple[int]]) -> int:
    linha = bd.execute("SELECT count(*) FROM d8.historico_manutencoes").fetchone()
    assert linha is not None
    return linha[0]


def matar(cluster: Cluster) -> None:
    """kill -9 em todos os processos do servidor, e só neles, até que não reste nenhum."""

    def morreram() -> bool:
        vivos = postmaster.processos(cluster.dados)
        for pid in vivos:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return not vivos

    ate(morreram, o_que="fim dos processos do servidor")
