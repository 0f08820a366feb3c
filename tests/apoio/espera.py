"""Espera por uma condição, nos testes: nunca um tempo fixo."""

from collections.abc import Callable
from typing import TypeVar

from app.banco.espera import esperar

T = TypeVar("T")

PRAZO_S = 20.0


def ate(condicao: Callable[[], T | None], prazo_s: float = PRAZO_S, o_que: str = "condição esperada") -> T:
    """O valor verdadeiro de `condicao`, assim que houver um; TimeoutError se não vier no prazo."""
    return esperar(condicao, prazo_s, o_que)
