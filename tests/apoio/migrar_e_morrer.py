"""Programa dos testes de queda: migra e mata a si mesmo (kill -9) no N-ésimo comando.

Uso: python -m tests.apoio.migrar_e_morrer DSN N antes|durante
`antes` morre sem mandar o comando; `durante`, com ele já a caminho do servidor e sem esperar pela resposta.
"""

import os
import signal
import sys
from itertools import count
from typing import Any

import psycopg

from app.banco import transacoes
from app.banco.migrar import migrar


def principal(dsn: str, no_comando: int, quando: str) -> None:
    numero = count(1)
    executar = psycopg.Cursor.execute

    def contar(cursor: psycopg.Cursor[Any], consulta: Any, *resto: Any, **nomeados: Any) -> Any:
        if consulta != transacoes._EM_CURSO and next(numero) == no_comando:  # quantas vezes espera, varia
            if quando == "durante":
                cursor.connection.pgconn.send_query(str(consulta).encode())
                cursor.connection.pgconn.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        return executar(cursor, consulta, *resto, **nomeados)

    psycopg.Cursor.execute = contar  # type: ignore[assignment]
    migrar(dsn)
    print(next(numero) - 1)


if __name__ == "__main__":
    principal(sys.argv[1], int(sys.argv[2]), sys.argv[3])
