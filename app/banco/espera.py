"""Espera por uma condição, com prazo: o único lugar em que o código dorme."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

PASSO_S = 0.02


def esperar(condicao: Callable[[], T | None], prazo_s: float, o_que: str) -> T:
    """Repete `condicao` até que devolva algo verdadeiro, e o devolve; passado o prazo, TimeoutError diz o que falta."""
    fim = time.monotonic() + prazo_s
    while not (valor := condicao()):
        if time.monotonic() > fim:
            raise TimeoutError(f"{o_que}: não aconteceu em {prazo_s:g} s")
        time.sleep(PASSO_S)
    return valor
