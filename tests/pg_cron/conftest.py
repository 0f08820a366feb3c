"""Um cluster com o pg_cron de verdade, em modo libpq; onde o servidor da suíte não o tem, nada aqui se aplica."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from app.banco.cluster import Cluster
from tests.apoio.servidor import TEM_PG_CRON, cluster_de_teste, pasta_de_cluster

collect_ignore_glob = [] if TEM_PG_CRON else ["test_*.py"]


@contextmanager
def ligado(banco_do_cron: str, **parametros: str) -> Iterator[Cluster]:
    """O banco da rede é `cidade`, ainda sem nada, do papel `instalador`; o pg_cron mora onde se diz."""
    with pasta_de_cluster() as pasta:
        cluster = cluster_de_teste(pasta)
        cluster.parametros |= {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": banco_do_cron,
            "cron.host": str(cluster.endereco.soquete),
            "cron.use_background_workers": "off",
        } | {nome.replace("__", "."): valor for nome, valor in parametros.items()}
        with cluster:
            with psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as conexao:
                conexao.execute("CREATE ROLE instalador LOGIN CREATEROLE")
                conexao.execute("CREATE DATABASE cidade OWNER instalador")
            with psycopg.connect(cluster.endereco.dsn(banco_do_cron), autocommit=True) as conexao:
                conexao.execute("CREATE EXTENSION pg_cron")
            yield cluster


@pytest.fixture(scope="module")
def neste_banco() -> Iterator[Cluster]:
    """O pg_cron mora no banco da rede."""
    with ligado("cidade") as cluster:
        yield cluster


@pytest.fixture(scope="module")
def em_outro_banco() -> Iterator[Cluster]:
    """O pg_cron mora no banco `postgres`, e o superusuário é quem migra."""
    with ligado("postgres") as cluster:
        yield cluster
