"""Espera por uma condição, nos testes: nunca um tempo fixo."""

from collections.abc import Callable
from typing import Any, TypeVar

import psycopg

from app.banco.espera import esperar

T = TypeVar("T")

PRAZO_S = 60.0


def ate(condicao: Callable[[], T | None], prazo_s: float = PRAZO_S, o_que: str = "condição esperada") -> T:
    """O valor verdadeiro de `condicao`, assim que houver um; TimeoutError se não vier no prazo."""
    return esperar(condicao, prazo_s, o_que)


def ate_uma_sessao_esperar(bd: psycopg.Connection[Any], o_que: str) -> None:
    """Até que uma sessão deste banco, e não de outro teste no mesmo servidor, espere por uma trava."""
    consulta = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ate(lambda: bd.execute(consulta).rowcount, o_que=o_que)
