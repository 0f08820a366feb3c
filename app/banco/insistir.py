"""Repete um passo atômico que perdeu para uma sessão concorrente."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from psycopg import errors

P = ParamSpec("P")
T = TypeVar("T")

TENTATIVAS = 5


def insistir(passo: Callable[P, T], *argumentos: P.args, **nomeados: P.kwargs) -> T:
    """Roda `passo`, de novo se um impasse o desfez: DDL num banco em uso disputa travas com quem trabalha nele.

    O catálogo partilhado do cluster (papéis) falha como erro interno, "tuple concurrently updated".
    """
    for _ in range(TENTATIVAS - 1):
        try:
            return passo(*argumentos, **nomeados)
        except (errors.DeadlockDetected, errors.InternalError_):
            continue
    return passo(*argumentos, **nomeados)
