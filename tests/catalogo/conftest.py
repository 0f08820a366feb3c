"""O exame do catálogo: perguntas que só leem o banco-modelo da suíte, e por isso dispensam um clone."""

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from pytest_postgresql.executors import NoopExecutor

Perguntar = Callable[..., list[Any]]


@pytest.fixture
def perguntar(servidor: NoopExecutor, dsn_servidor: str) -> Perguntar:
    """Faz uma consulta e devolve a primeira coluna de cada linha."""
    dsn = make_conninfo(dsn_servidor, dbname=servidor.template_dbname)

    def consultar(consulta: str, *valores: object) -> list[Any]:
        with psycopg.connect(dsn) as conexao:  # fechada logo: o modelo só se clona sem ninguém nele
            return [linha[0] for linha in conexao.execute(consulta, valores).fetchall()]

    return consultar
