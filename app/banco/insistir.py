"""Repete um passo atômico que perdeu para uma sessão concorrente."""

from collections.abc import Callable
from time import sleep
from typing import Any, ParamSpec, TypeVar

import psycopg
from psycopg import errors

from app.banco.erros import ErroBanco

P = ParamSpec("P")
T = TypeVar("T")

IMPASSES = 5
ESPERAS = 60
PAUSA_S = 0.5

# Menos que o deadlock_timeout de quem trabalha no banco (1 s): num impasse, quem cede é sempre quem migra.
TRAVA_MS = 400
IMPASSE_MS = 200


def insistir(passo: Callable[P, T], *argumentos: P.args, **nomeados: P.kwargs) -> T:
    """Roda `passo`, de novo se um impasse o desfez: DDL num banco em uso disputa travas com quem trabalha nele.

    O catálogo partilhado do cluster (papéis) falha como erro interno, "tuple concurrently updated". De uma trava que
    não veio a tempo (ver `ceder`) desiste-se só ao fim de um minuto, com pausas em que os outros andam.
    """
    impasses = esperas = 0
    while True:
        try:
            return passo(*argumentos, **nomeados)
        except (errors.DeadlockDetected, errors.InternalError_):
            impasses += 1
            if impasses == IMPASSES:
                raise
        except errors.LockNotAvailable as erro:
            esperas += 1
            if esperas == ESPERAS:
                raise ErroBanco(
                    "há transações longas que seguram as tabelas que migrar precisa mudar:"
                    f" encerre-as e repita ({erro.diag.message_primary})"
                ) from erro
            sleep(PAUSA_S)


def ceder(conexao: psycopg.Connection[Any]) -> None:
    """Na transação corrente, ninguém espera muito por quem migra: uma trava que não vem logo desfaz o passo.

    Quem espera por nós pode segurar o que pedimos; cedendo antes que ele procure o impasse, quem trabalha no banco só
    sente uma espera curta.
    """
    conexao.execute(f"SET LOCAL lock_timeout = {TRAVA_MS}")


def ceder_cedo(conexao: psycopg.Connection[Any]) -> None:
    """Nesta sessão, um impasse (ou um autovacuum no caminho) se procura cedo; só o superusuário pode pedi-lo."""
    if conexao.execute("SELECT 1 FROM pg_roles WHERE rolname = current_user AND rolsuper").fetchone():
        conexao.execute(f"SET deadlock_timeout = {IMPASSE_MS}")
