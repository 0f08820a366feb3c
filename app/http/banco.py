"""O banco visto pelas rotas: uma consulta, uma linha, com prazo."""

import asyncio
import math
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, LiteralString, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.types.json import JsonbLoader
from psycopg_pool import AsyncConnectionPool, PoolClosed

from app.banco.sessao import ajustar_async
from app.logs.avisos import ouvir

Conexao = AsyncConnection[tuple[Any, ...]]
T = TypeVar("T")

_PARTE_DO_PRAZO = 0.9  # o resto é para responder ainda dentro dele


class JsonCru(Loader):
    """jsonb como bytes: o que o banco montou em JSON segue ao cliente sem ser lido."""

    def load(self, data: Buffer) -> bytes:
        return bytes(data)


class Banco:
    """Conexões emprestadas de um conjunto que sobrevive à queda do servidor e o reencontra quando ele volta.

    `nome` é o que o servidor vê em application_name, depois de "formigueiro-".
    """

    def __init__(self, dsn: str, nome: str, maximo: int, prazo_s: float) -> None:
        self._dsn = dsn
        self._nome = nome
        self._maximo = maximo
        self._prazo_s = prazo_s
        self._conexoes: AsyncConnectionPool[Conexao] | None = None
        self._em_curso: set[asyncio.Task[Any]] = set()

    async def linha(self, consulta: LiteralString, valores: Sequence[object] = ()) -> tuple[Any, ...]:
        """A única linha de uma consulta, em transação própria; jsonb vem como bytes.

        Levanta psycopg.OperationalError sem banco, TimeoutError se ele demora (a consulta é cancelada lá) e
        psycopg.Error com o SQLSTATE do que a consulta recusou.
        """
        return await self._no_prazo(self._linha(consulta, valores))

    async def linhas(self, consulta: LiteralString, limite_ms: int) -> list[tuple[Any, ...]]:
        """Todas as linhas de uma consulta que o servidor corta em `limite_ms`; jsonb vem como valor do Python.

        Levanta o que `linha` levanta.
        """
        return await self._no_prazo(self._linhas(consulta, limite_ms))

    async def _linha(self, consulta: LiteralString, valores: Sequence[object]) -> tuple[Any, ...]:
        async with self._aberta().connection() as conexao:
            linha = await (await conexao.execute(consulta, valores)).fetchone()
        assert linha is not None
        return linha

    async def _linhas(self, consulta: LiteralString, limite_ms: int) -> list[tuple[Any, ...]]:
        async with self._aberta().connection() as conexao, conexao.transaction():
            await conexao.execute("SELECT set_config('statement_timeout', %s, true)", [f"{limite_ms}ms"])
            cursor = conexao.cursor()
            cursor.adapters.register_loader("jsonb", JsonbLoader)
            return await (await cursor.execute(consulta)).fetchall()

    def _aberta(self) -> AsyncConnectionPool[Conexao]:
        if self._conexoes is None:
            raise PoolClosed("o app não está no ar")
        return self._conexoes

    async def _no_prazo(self, consulta: Coroutine[Any, Any, T]) -> T:
        """O resultado da consulta, ou TimeoutError no prazo, sem esperar por quem não responde nem a um cancelamento.

        O psycopg espera até dez segundos que o servidor confirme o cancelamento. Quem pediu não os espera: a tarefa os
        cumpre sozinha, e depois devolve ou descarta a conexão.
        """
        tarefa = asyncio.create_task(consulta)
        self._em_curso.add(tarefa)
        tarefa.add_done_callback(self._acabou)
        try:
            await asyncio.wait({tarefa}, timeout=self._prazo_s * _PARTE_DO_PRAZO)
            if tarefa.done():
                return tarefa.result()
            raise TimeoutError
        finally:
            tarefa.cancel()

    def _acabou(self, tarefa: asyncio.Task[Any]) -> None:
        self._em_curso.discard(tarefa)
        if not tarefa.cancelled():
            tarefa.exception()  # a de uma tarefa largada não vai a ninguém

    @asynccontextmanager
    async def aberto(self) -> AsyncIterator[None]:
        """Abre o conjunto sem esperar pelo banco: o processo sobe mesmo com ele fora."""
        self._conexoes = AsyncConnectionPool(
            self._dsn,
            open=False,
            name=self._nome,
            min_size=1,
            max_size=self._maximo,
            timeout=self._prazo_s,
            # Desiste logo de reconectar: quem tenta de novo é o próximo pedido, sem recuo que o atrase.
            reconnect_timeout=0,
            check=self._conferir,
            configure=_configurar,
            kwargs={
                "autocommit": True,
                "application_name": f"formigueiro-{self._nome}",
                "connect_timeout": math.ceil(self._prazo_s),
                # Sem preparar: as consultas são só chamadas de função, e assim servem atrás de um PgBouncer.
                "prepare_threshold": None,
            },
        )
        async with self._conexoes:
            yield

    async def _conferir(self, conexao: Conexao) -> None:
        assert self._conexoes is not None
        try:
            await self._conexoes.check_connection(conexao)
        except psycopg.Error:
            # O servidor caiu ou reiniciou: as outras conexões paradas também não servem, e prová-las uma a uma, com o
            # recuo que o conjunto faz entre provas, levaria segundos.
            await self._conexoes.drain()
            raise


async def _configurar(conexao: Conexao) -> None:
    await ajustar_async(conexao)
    conexao.adapters.register_loader("jsonb", JsonCru)
    ouvir(conexao)
