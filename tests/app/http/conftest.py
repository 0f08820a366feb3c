"""O app inteiro contra o banco do teste, conectado como o papel que usa em produção."""

from collections.abc import Callable, Iterator
from uuid import UUID, uuid4

import psycopg
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier
from pytest_postgresql.executors import NoopExecutor

from app.ajustes import Ajustes
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt, emitir_token

SEGREDO = "segredo-de-teste-bem-comprido-para-servir-tambem-ao-hs512-que-pede-64"


AJUSTES = Ajustes(formigueiro_espera_banco_s=10)


@pytest.fixture(scope="session")
def chave() -> ChaveJwt:
    return ChaveJwt.de_segredo(SEGREDO)


@pytest.fixture
def dsn_app(dsn: str) -> str:
    """DSN do banco do teste como formigueiro_app."""
    return make_conninfo(dsn, user="formigueiro_app")


@pytest.fixture
def cliente(dsn_app: str, chave: ChaveJwt) -> Iterator[TestClient[Litestar]]:
    """Um app sobre o banco do teste, o mesmo de `bd`."""
    with TestClient(criar_app(AJUSTES, dsn_app, chave)) as cliente:
        yield cliente


@pytest.fixture(scope="session")
def dsn_comum(servidor: NoopExecutor, dsn_servidor: str) -> Iterator[str]:
    """DSN, como formigueiro_app, de um banco para os testes que não o mudam: cada um usa seu próprio cidadão."""
    banco = Identifier(f"{servidor.dbname}_http")
    with psycopg.connect(dsn_servidor, autocommit=True) as conexao:
        conexao.execute(
            SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(banco, Identifier(servidor.template_dbname))
        )
        yield make_conninfo(dsn_servidor, dbname=f"{servidor.dbname}_http", user="formigueiro_app")
        conexao.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(banco))


@pytest.fixture(scope="session")
def cliente_comum(dsn_comum: str, chave: ChaveJwt) -> Iterator[TestClient[Litestar]]:
    """Um app sobre o banco comum."""
    with TestClient(criar_app(AJUSTES, dsn_comum, chave)) as cliente:
        yield cliente


@pytest.fixture
def cidadao() -> UUID:
    return uuid4()


@pytest.fixture
def sessao(chave: ChaveJwt) -> Callable[[UUID], dict[str, str]]:
    """Os cabeçalhos de uma sessão do cidadão dado."""
    return lambda cidadao: {"Authorization": f"Bearer {emitir_token(chave, cidadao)}"}


@pytest.fixture
def cabecalhos(sessao: Callable[[UUID], dict[str, str]], cidadao: UUID) -> dict[str, str]:
    """Os cabeçalhos de uma sessão de `cidadao`."""
    return sessao(cidadao)
