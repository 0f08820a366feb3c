"""Recusa migrar por um pool de transações: o que é de sessão ficaria com uma sessão do pool, e não com quem migra."""

from typing import Any
from uuid import uuid4

import psycopg
from psycopg import sql

from app.banco.erros import ErroBanco
from app.banco.sessao import com_espera

PROVA_S = 1.0


def exigir_sessao(conexao: psycopg.Connection[Any], dsn: str) -> None:
    """Levanta ErroBanco se a sessão não é de quem migra: prova-o um aviso mandado por outra, como no trabalhador."""
    canal = sql.Identifier(f"formigueiro_prova_{uuid4().hex}")
    conexao.execute(sql.SQL("LISTEN {}").format(canal))
    with psycopg.connect(com_espera(dsn), autocommit=True) as outra:
        outra.execute(sql.SQL("NOTIFY {}").format(canal))
    chegou = any(True for _ in conexao.notifies(timeout=PROVA_S, stop_after=1))
    conexao.execute(sql.SQL("UNLISTEN {}").format(canal))
    if not chegou:
        raise ErroBanco(
            "migrar precisa de uma sessão só sua, e há um pool de transações no caminho:"
            " aponte DATABASE_URL_MIGRACAO direto para o servidor"
        )
