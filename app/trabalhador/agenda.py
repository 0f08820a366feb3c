"""A agenda de core.agendamentos, cumprida pelo app onde não há pg_cron."""

from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

import structlog
from cronsim import CronSim
from psycopg import AsyncConnection, Error

from app.logs.privacidade import descrever

_log = structlog.get_logger(__name__)


class Agenda:
    """Sabe a próxima hora marcada, para não ler a tabela a cada passo do trabalhador."""

    # O que um operador mudar na tabela se vê ao dormir ou, a quem não dorme, depois deste tempo.
    RELEITURA = timedelta(minutes=1)

    def __init__(self) -> None:
        self._olhar_em = 0.0  # no relógio que não anda para trás: o da máquina pode ser acertado

    async def cumprir(self, conexao: AsyncConnection[Any]) -> None:
        """Executa o que está na hora. Uma hora perdida é cumprida uma vez; cada hora, por um só processo."""
        if monotonic() < self._olhar_em:
            return
        for nome, cron, ultima in await _agendamentos(conexao):
            hora = _hora_mais_recente(cron, ultima, datetime.now(UTC))
            if hora is None:
                continue
            linha = await (await conexao.execute("SELECT core.reservar_execucao(%s, %s)", [nome, hora])).fetchone()
            comando = linha[0] if linha else None
            if comando is None:
                continue  # outro processo a tomou, ou um operador segura a linha
            try:
                await conexao.execute(comando)
            except Error as erro:
                if conexao.broken:
                    raise
                _log.error("agendamento falhou", agendamento=nome, erro=descrever(erro), sqlstate=erro.sqlstate)
        await self.proxima(conexao)

    async def proxima(self, conexao: AsyncConnection[Any]) -> datetime | None:
        """A próxima hora marcada; None se a agenda é do pg_cron."""
        agora = datetime.now(UTC)
        horas = [
            _hora_mais_recente(cron, ultima, agora) or next(CronSim(cron, agora))
            for _, cron, ultima in await _agendamentos(conexao)
        ]
        espera = min([*horas, agora + self.RELEITURA]) - agora
        self._olhar_em = monotonic() + espera.total_seconds()
        return min(horas, default=None)


async def _agendamentos(conexao: AsyncConnection[Any]) -> list[tuple[str, str, datetime]]:
    cursor = await conexao.execute("SELECT nome, cron, ultima_execucao FROM core.agenda_do_app()")
    return await cursor.fetchall()


def _hora_mais_recente(cron: str, ultima: datetime, agora: datetime) -> datetime | None:
    """A última hora marcada depois de `ultima` que já passou; as anteriores a ela não se repetem."""
    recente = None
    for hora in CronSim(cron, ultima.astimezone(UTC)):
        if hora > agora:
            return recente
        recente = hora
    return recente
