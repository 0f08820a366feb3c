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
        self._partida: tuple[int, Any] | None = None
        self._faltam = ["d6b", "d8"]

    async def partir(self, conexao: AsyncConnection[Any]) -> None:
        """Anota até onde ia o log, e os cursores que o relato da D-8 conta."""
        if self._partida is None:
            cursor = await conexao.execute("SELECT core.obter_maior_sequence(), d8.cursores()")
            self._partida = await cursor.fetchone()

    async def cumprir(self, conexao: AsyncConnection[Any], ocioso: bool) -> None:
        """Inicia cada colônia, uma vez, se nada ficou por fazer ou se ela já leu o que havia na partida."""
        if not self._faltam or self._partida is None:
            return
        ate, cursores = self._partida
        for colonia in self._faltam if ocioso else await _leram(conexao, ate, self._faltam):
            await _iniciar(conexao, colonia, [Jsonb(cursores)] if colonia == "d8" else [])
            self._faltam = [outra for outra in self._faltam if outra != colonia]


async def _leram(conexao: AsyncConnection[Any], ate: int, colonias: list[str]) -> list[str]:
    """Das colônias, as que leram até ali: a presa por outra sessão não detém o início da outra."""
    cursor = await conexao.execute(
        "SELECT esquema FROM core.consumidores WHERE posicao >= %s AND esquema = ANY (%s) ORDER BY ordem",
        [ate, colonias],
    )
    return [esquema for (esquema,) in await cursor.fetchall()]


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
