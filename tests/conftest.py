"""A suíte roda sempre num PostgreSQL de verdade: o embutido, ou o que FORMIGUEIRO_TESTE_BINARIOS indica.

O servidor nasce com a suíte; um banco-modelo é migrado uma vez, e cada teste recebe um clone dele.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pytest_postgresql import factories

from app.banco.cluster import Cluster
from app.banco.migrar import migrar
from tests.apoio.servidor import cluster_de_teste

_CLUSTER = pytest.StashKey[tuple[Cluster, Path]]()


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):  # o controlador do xdist já ligou o servidor
        return
    pasta = Path(tempfile.mkdtemp(prefix="formigueiro-teste-"))
    cluster = cluster_de_teste(pasta)
    cluster.__enter__()
    config.stash[_CLUSTER] = (cluster, pasta)
    config.option.postgresql_host = str(cluster.endereco.soquete)
    config.option.postgresql_port = str(cluster.endereco.porta)
    config.option.postgresql_user = "postgres"


def pytest_unconfigure(config: pytest.Config) -> None:
    if _CLUSTER in config.stash:
        cluster, pasta = config.stash[_CLUSTER]
        cluster.__exit__(None, None, None)
        shutil.rmtree(pasta, ignore_errors=True)


def _migrar_modelo(host: str, port: int, user: str, dbname: str, password: str | None = None) -> None:
    migrar(psycopg.conninfo.make_conninfo(host=host, port=port, user=user, dbname=dbname), simulacao=True)


servidor = factories.postgresql_noproc(dbname="formigueiro", load=[_migrar_modelo])
_clone = factories.postgresql("servidor")


@pytest.fixture
def dsn(_clone: psycopg.Connection[Any]) -> Iterator[str]:
    """DSN, como superusuário, de um banco recém-migrado só deste teste."""
    yield _clone.info.dsn


@pytest.fixture
def bd(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """Conexão de superusuário, em autocommit, ao banco do teste."""
    with psycopg.connect(dsn, autocommit=True) as conexao:
        yield conexao
