import psycopg
import pytest

from tests.apoio.rede import Rede


@pytest.fixture
def rede(bd: psycopg.Connection) -> Rede:
    return Rede(bd)
