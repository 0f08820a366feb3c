"""A suíte roda sempre num PostgreSQL de verdade: o embutido, ou o que FORMIGUEIRO_TESTE_BINARIOS indica.

O servidor nasce com a suíte; um banco-modelo é migrado uma vez por processo do xdist, e cada teste recebe um clone.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from pytest_postgresql import factories
from pytest_postgresql.executors import NoopExecutor

from app.banco.cluster import SUPERUSUARIO
from app.banco.erros import ErroBanco
from app.banco.migrar import migrar
from tests.apoio.servidor import BINARIOS, TEM_PG_CRON, cluster_de_teste, pasta_de_cluster

_LIGADO = pytest.StashKey[ExitStack]()
_NUMERO_DO_CLONE = count(1)


def pytest_configure(config: pytest.Config) -> None:
    if (do_controlador := getattr(config, "workerinput", None)) is not None:
        _apontar(config, **do_controlador["servidor"])
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # para que um kill também desligue o servidor
    ligado = ExitStack()
    try:
        cluster = ligado.enter_context(cluster_de_teste(ligado.enter_context(pasta_de_cluster())))
    except ErroBanco as erro:
        raise pytest.UsageError(str(erro)) from None
    config.stash[_LIGADO] = ligado
    _apontar(config, str(cluster.endereco.soquete), str(cluster.endereco.porta))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """O controlador do xdist já ligou o servidor: conta a cada processo onde ele está."""
    opcoes = node.config.option
    node.workerinput["servidor"] = {"soquete": opcoes.postgresql_host, "porta": opcoes.postgresql_port}


def _apontar(config: pytest.Config, soquete: str, porta: str) -> None:
    """Diz ao pytest-postgresql onde está o servidor."""
    config.option.postgresql_host = soquete
    config.option.postgresql_port = porta
    config.option.postgresql_user = SUPERUSUARIO


def pytest_report_header() -> str:
    return f"servidor: {BINARIOS}" + ("" if TEM_PG_CRON else " (sem pg_cron: tests/pg_cron não se aplica)")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _LIGADO in config.stash:
        config.stash[_LIGADO].close()


def _migrar_modelo(host: str, port: int, user: str, dbname: str, **_: object) -> None:
    migrar(make_conninfo(host=host, port=port, user=user, dbname=dbname), simulacao=True)


servidor = factories.postgresql_noproc(dbname="formigueiro", load=[_migrar_modelo])


@pytest.fixture(scope="session")
def dsn_servidor(request: pytest.FixtureRequest) -> str:
    """DSN, como superusuário, do banco `postgres` do servidor da suíte."""
    opcoes = request.config.option
    return make_conninfo(
        host=opcoes.postgresql_host, port=opcoes.postgresql_port, user=opcoes.postgresql_user, dbname="postgres"
    )


@pytest.fixture(scope="session")
def _criador(dsn_servidor: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn_servidor, autocommit=True) as conexao:
        yield conexao


@pytest.fixture
def dsn(servidor: NoopExecutor, dsn_servidor: str, _criador: psycopg.Connection[Any]) -> Iterator[str]:
    """DSN, como superusuário, de um banco recém-migrado só deste teste."""
    banco = f"{servidor.dbname}_{next(_NUMERO_DO_CLONE)}"
    # file_copy clona em um quarto do tempo do wal_log, pois sem fsync os dois checkpoints que pede são baratos.
    _criador.execute(f"CREATE DATABASE {banco} TEMPLATE {servidor.template_dbname} STRATEGY file_copy")
    # O que não vai num clone: os direitos no banco.
    _criador.execute(f"REVOKE ALL ON DATABASE {banco} FROM PUBLIC")
    _criador.execute(
        f"GRANT CONNECT ON DATABASE {banco}"
        " TO formigueiro_app, formigueiro_produtor, formigueiro_dba, formigueiro_leitura"
    )
    yield make_conninfo(dsn_servidor, dbname=banco)
    _criador.execute(f"DROP DATABASE {banco} WITH (FORCE)")


@pytest.fixture
def banco_vazio(dsn_servidor: str, _criador: psycopg.Connection[Any]) -> Iterator[Callable[[], str]]:
    """Cria bancos sem nada dentro e devolve o DSN de cada um."""
    criados: list[str] = []

    def criar() -> str:
        criados.append(f"vazio_{os.getpid()}_{next(_NUMERO_DO_CLONE)}")
        _criador.execute(f"CREATE DATABASE {criados[-1]} STRATEGY file_copy")
        return make_conninfo(dsn_servidor, dbname=criados[-1])

    yield criar
    for banco in criados:
        _criador.execute(f"DROP DATABASE {banco} WITH (FORCE)")


@pytest.fixture
def bd(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """Conexão de superusuário, em autocommit, ao banco do teste."""
    conexao = psycopg.connect(dsn, autocommit=True)
    yield conexao
    conexao.close()
