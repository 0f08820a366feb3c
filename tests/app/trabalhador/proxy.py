"""Um intermediário TCP entre o trabalhador e o servidor, que pode cair, calar-se ou reter os avisos."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo


class Proxy:
    def __init__(self, dsn: str, reter_avisos: bool = False) -> None:
        origem = conninfo_to_dict(dsn)
        self._soquete = f"{origem['host']}/.s.PGSQL.{origem['port']}"
        self._reter_avisos = reter_avisos
        self._escritores: list[asyncio.StreamWriter] = []
        self._caladas: set[asyncio.StreamWriter] = set()
        self._bombas: set[asyncio.Task[None]] = set()
        self.aceitas = 0

    def fechar(self) -> None:
        """Corta as conexões que há."""
        for escritor in self._escritores:
            escritor.transport.abort()

    def calar(self) -> None:
        """Das conexões que há, nada mais passa, nos dois sentidos, nem o fim; as novas passam."""
        self._caladas.update(self._escritores)

    async def atender(self, leitor: asyncio.StreamReader, escritor: asyncio.StreamWriter) -> None:
        self.aceitas += 1
        do_servidor, ao_servidor = await asyncio.open_unix_connection(self._soquete)
        self._escritores += [escritor, ao_servidor]
        ler = _mensagem_sem_aviso if self._reter_avisos else _bloco
        for bomba in (self._passar(_bloco, leitor, ao_servidor), self._passar(ler, do_servidor, escritor)):
            tarefa = asyncio.create_task(bomba)
            self._bombas.add(tarefa)
            tarefa.add_done_callback(self._bombas.discard)

    async def _passar(
        self, ler: Callable[[asyncio.StreamReader], Any], origem: asyncio.StreamReader, destino: asyncio.StreamWriter
    ) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while (dados := await ler(origem)) is not None:
                if destino not in self._caladas:
                    destino.write(dados)
                    await destino.drain()
        if destino not in self._caladas:
            destino.close()

    async def encerrar(self) -> None:
        self.fechar()
        await asyncio.gather(*self._bombas, return_exceptions=True)


async def _bloco(leitor: asyncio.StreamReader) -> bytes | None:
    return await leitor.read(65536) or None


async def _mensagem_sem_aviso(leitor: asyncio.StreamReader) -> bytes:
    """A próxima mensagem do servidor; nada, se é um NotificationResponse."""
    cabeca = await leitor.readexactly(5)
    corpo = await leitor.readexactly(int.from_bytes(cabeca[1:], "big") - 4)
    return b"" if cabeca[:1] == b"A" else cabeca + corpo


@asynccontextmanager
async def intermediar(dsn: str, reter_avisos: bool = False) -> AsyncIterator[tuple[Proxy, str]]:
    """O intermediário e o DSN, por TCP, que passa por ele."""
    proxy = Proxy(dsn, reter_avisos)
    servidor = await asyncio.start_server(proxy.atender, "127.0.0.1", 0)
    porta = servidor.sockets[0].getsockname()[1]
    try:
        yield proxy, make_conninfo(dsn, host="127.0.0.1", port=porta, sslmode="disable", gssencmode="disable")
    finally:
        servidor.close()
        await proxy.encerrar()
