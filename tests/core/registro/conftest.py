"""Nesta pasta os casos são muitos e pequenos: partilham um banco, e cada teste desfaz o que fez."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from pytest_postgresql.executors import NoopExecutor


@pytest.fixture(scope="session")
def _conexao(servidor: NoopExecutor, dsn_servidor: str) -> Iterator[psycopg.Connection[Any]]:
    banco = f"{servidor.dbname}_registro"
    with psycopg.connect(dsn_servidor, autocommit=True) as criadora:
        criadora.execute(f"CREATE DATABASE {banco} TEMPLATE {servidor.template_dbname} STRATEGY file_copy")
        with psycopg.connect(make_conninfo(dsn_servidor, dbname=banco), autocommit=True) as conexao:
            yield conexao
        criadora.execute(f"DROP DATABASE {banco} WITH (FORCE)")


@pytest.fixture
def bd(_conexao: psycopg.Connection[Any]) -> Iterator[psycopg.Connection[Any]]:
    """Conexão de superusuário, dentro de uma transação que o fim do teste desfaz."""
    with _conexao.transaction(force_rollback=True):
        yield _conexao
