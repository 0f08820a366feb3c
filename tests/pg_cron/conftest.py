"""Um cluster com o pg_cron de verdade, em modo libpq; onde o servidor da suíte não o tem, nada aqui se aplica."""

from collections.abc import Iterator

import psycopg
import pytest

from app.banco.cluster import Cluster
from tests.apoio.servidor import TEM_PG_CRON, cluster_de_teste, pasta_de_cluster

collect_ignore_glob = [] if TEM_PG_CRON else ["test_*.py"]


@pytest.fixture
def cluster_com_cron() -> Iterator[Cluster]:
    """O pg_cron mora no banco `postgres`; o da rede é `cidade`."""
    with pasta_de_cluster() as pasta:
        cluster = cluster_de_teste(pasta)
        cluster.parametros |= {
            "shared_preload_libraries": "pg_cron",
            "cron.database_name": "postgres",
            "cron.host": str(cluster.endereco.soquete),
            "cron.use_background_workers": "off",
        }
        with cluster:
            with psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as conexao:
                conexao.execute("CREATE EXTENSION pg_cron")
                conexao.execute("CREATE DATABASE cidade")
            yield cluster
