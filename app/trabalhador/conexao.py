"""A conexão do trabalhador: nunca espera para sempre, e prova se os avisos chegam por ela.

Uma rede que engole pacotes não avisa. De cá, todo comando tem prazo, e quem dorme pergunta de tempos em tempos se o
servidor ainda está lá. De lá, o servidor encerra a sessão que se cala (idle_session_timeout), e com ela as travas de
líder e do sono: só então outra conexão pode liderar.
"""

import asyncio
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self
from uuid import uuid4

import psycopg
from psycopg import AsyncConnection, AsyncCursor, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from app.banco.sessao import LIMITE_DO_COMANDO_S, conectar_async
from app.logs.avisos import ouvir

FOLGA_S = 10.0  # além do limite do comando, que o servidor cobra: depois disso, quem não responde é a rede
PRAZO_DA_RESPOSTA_S = 5.0
SESSAO_CALADA_S = 15.0  # mais que o intervalo entre dois pulsos com o prazo da resposta
PROVA_S = 1.0
# O que o DSN disser prevalece; num soquete local, a libpq os ignora.
_REDE = {
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


async def abrir(dsn: str) -> AsyncConnection[Any]:
    ditos = conninfo_to_dict(dsn)
    rede = {nome: valor for nome, valor in _REDE.items() if nome not in ditos}
    conexao = await conectar_async(make_conninfo(dsn, **rede), cursor_factory=_CursorComPrazo)
    ouvir(conexao)
    return conexao


async def limitar(conexao: AsyncConnection[Any]) -> None:
    """O servidor corta o comando que passa do tempo (para a regra 4, uma morte) e a sessão que se cala.

    E manda também o que as funções dizem em LOG, que é como core.registrar diz o que é de nível info.
    """
    await conexao.execute(
        "SELECT set_config('statement_timeout', %s, false), set_config('idle_session_timeout', %s, false),"
        " set_config('client_min_messages', 'log', false)",
        [f"{round(LIMITE_DO_COMANDO_S * 1000)}ms", f"{round(SESSAO_CALADA_S * 1000)}ms"],
    )


async def recebe_avisos(conexao: AsyncConnection[Any], dsn: str) -> bool:
    """Se um NOTIFY chega a esta conexão; atrás de um pool de transações, não.

    Quem o manda é outra conexão: o da própria voltaria na resposta ao comando, mesmo através de um pool.
    """
    canal = sql.Identifier(f"formigueiro_prova_{uuid4().hex}")
    await conexao.execute(sql.SQL("LISTEN {}").format(canal))
    async with await abrir(dsn) as outra:
        await outra.execute(sql.SQL("NOTIFY {}").format(canal))
    chegou = [aviso async for aviso in conexao.notifies(timeout=PROVA_S, stop_after=1)]
    await conexao.execute(sql.SQL("UNLISTEN {}").format(canal))
    return bool(chegou)


@contextmanager
def prazo(conexao: AsyncConnection[Any], segundos: float) -> Iterator[None]:
    """Passado o prazo, corta o soquete: quem espera por ele recebe OperationalError, sem precisar do outro lado."""
    corte = asyncio.get_running_loop().call_later(segundos, _cortar, conexao)
    try:
        yield
    finally:
        corte.cancel()


def _cortar(conexao: AsyncConnection[Any]) -> None:
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(conexao.fileno())) as soquete:
        soquete.shutdown(socket.SHUT_RDWR)


class _CursorComPrazo(AsyncCursor[Any]):
    async def execute(self, *args: Any, **kwargs: Any) -> Self:
        with prazo(self.connection, LIMITE_DO_COMANDO_S + FOLGA_S):
            return await super().execute(*args, **kwargs)
