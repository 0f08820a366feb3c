from typing import Any

import psycopg
import pytest

from tests.d8.apoio import Manutencao


@pytest.fixture
def d8(bd: psycopg.Connection[Any]) -> Manutencao:
    return Manutencao(bd)
