"""A inicialização das colônias (D-6b 4.3, D-8 4.5), que vem depois de tratado, em fatias, o que já havia."""

from typing import Any

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from app.logs.privacidade import descrever

_log = structlog.get_logger(__name__)


class Inicio:
    """Sabe de onde se partiu, e que colônias falta iniciar nesta sessão."""

    def __init__(self) -> None:
        self._ate: int | None = None
        self._argumentos: dict[str, list[Jsonb]] = {}

    async def partir(self, conexao: AsyncConnection[Any]) -> None:
        """Anota até onde ia o log, e os cursores que o relato da D-8 conta."""
        if self._ate is not None:
            return
        cursor = await conexao.execute("SELECT core.obter_maior_sequence(), d8.cursores()")
        self._ate, cursores = await cursor.fetchone() or (0, None)
        self._argumentos = {"d6b": [], "d8": [Jsonb(cursores)]}

    async def cumprir(self, conexao: AsyncConnection[Any], ocioso: bool) -> None:
        """Inicia, uma vez, cada colônia que já leu o que havia na partida; se nada ficou por fazer, todas."""
        if not self._argumentos:
            return
        prontas = list(self._argumentos)
        if not ocioso:
            cursor = await conexao.execute("SELECT esquema FROM core.consumidores WHERE posicao >= %s", [self._ate])
            prontas = [esquema for (esquema,) in await cursor.fetchall() if esquema in self._argumentos]
        for colonia in prontas:
            await _iniciar(conexao, colonia, self._argumentos.pop(colonia))


async def _iniciar(conexao: AsyncConnection[Any], colonia: str, argumentos: list[Jsonb]) -> None:
    """O início de uma colônia não há de deter a outra, nem o trabalho."""
    marcas = ", ".join(["%s"] * len(argumentos))
    try:
        # O prazo dura só este comando: uma transação alheia que segure uma colônia não impede de trabalhar (N66).
        await conexao.execute(f"SELECT set_config('lock_timeout', '1s', true), {colonia}.iniciar({marcas})", argumentos)
    except psycopg.errors.LockNotAvailable as erro:
        _log.warning("uma colônia está presa por outra sessão; segue sem inicializá-la", erro=descrever(erro))
    except psycopg.Error as erro:
        if conexao.broken:
            raise
        _log.error("início da colônia falhou", colonia=colonia, erro=descrever(erro), sqlstate=erro.sqlstate)
