import psycopg
import pytest

from tests.apoio.rede import Rede


@pytest.fixture
def rede(bd: psycopg.Connection) -> Rede:
    """A rede em 30/11/2026, 12h00 UTC."""
    rede = Rede(bd)
    rede.relogio("2026-11-30 12:00:00+00")
    return rede
