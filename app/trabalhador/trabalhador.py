"""O trabalhador: despacha os eventos, publica os textos e, sem pg_cron, cumpre a agenda.

Vários processos podem rodar um; lidera quem segura a trava consultiva de líder, que o servidor solta quando a sessão
morre. O líder dorme segurando a trava do sono (regra 7): quem publica a acha tomada e o acorda por NOTIFY.

Onde o NOTIFY não chega, como atrás de um pool de transações, uma trava de sessão também não serve: ficaria com uma
sessão do pool, e não com o processo. Ali não há líder nem sono: cada trabalhador olha o banco de tempos em tempos, o
que é seguro, pois despacho, textos e agenda se reservam no banco. Os limites de tempo, também de sessão, são ali os que
o papel ou o pool tiver; o prazo do lado de cá vale sempre.

Cada passo dá a cada trabalho sua fatia do tempo: agenda, despacho, textos. Nenhum espera que a fila de outro acabe, o
que, com quem publique sem parar, não aconteceria nunca (N70).
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import structlog
from psycopg import AsyncConnection

from app.logs.privacidade import descrever
from app.pecas.denylist import Denylist
from app.trabalhador.agenda import Agenda
from app.trabalhador.andamento import Andamento
from app.trabalhador.conexao import (
    PRAZO_DA_RESPOSTA_S,
    abrir,
    limitar,
    prazo,
    recebe_avisos,
)
from app.trabalhador.inicio import Inicio
from app.trabalhador.publicador import publicar_pendentes

TRAVA_DE_LIDER = 7031002
SONO_MAXIMO_S = 20.0
PULSO_S = 5.0
ESPERA_DE_LIDER_S = 2.0
FATIA_S = 1.0
RECUO_MINIMO_S = 0.005
RECUO_MAXIMO_S = 1.0

_log = structlog.get_logger(__name__)


async def esvaziar(conexao: AsyncConnection[Any], denylist: Denylist) -> None:
    """Trata tudo o que está na vez e volta (`trabalhar --uma-vez`). A conexão há de estar em autocommit."""
    while await _passo(conexao, denylist):
        pass


async def trabalhar(dsn: str, denylist: Denylist, parar: asyncio.Event, andamento: Andamento | None = None) -> None:
    """Trabalha até `parar`. Uma conexão perdida é refeita, com recuo; nada se perde, pois tudo se lê de novo.

    O que o banco recusa fica em `andamento`, e é tentado de novo, também com recuo.
    """
    andamento = andamento or Andamento()
    disse = False
    while not parar.is_set():
        try:
            async with await abrir(dsn) as conexao:
                avisos = await recebe_avisos(conexao, dsn)
                if avisos:
                    await limitar(conexao)
                    await _liderar(conexao, denylist, parar, andamento)
                    continue
                if not disse:
                    _log.warning("avisos do banco não chegam (um pool de transações?); o trabalhador olha o banco")
                    disse = True
                conexao.prepare_threshold = None  # um comando preparado é da sessão, e a do pool muda
                await _laco(conexao, denylist, parar, andamento, Inicio(), avisos=False)
        except psycopg.Error as erro:
            await _esperar(parar, andamento.falhou(erro))


async def _liderar(
    conexao: AsyncConnection[Any], denylist: Denylist, parar: asyncio.Event, andamento: Andamento
) -> None:
    inicio, disse = Inicio(), False
    while not parar.is_set():
        if await _um(conexao, "SELECT pg_try_advisory_lock(%s)", TRAVA_DE_LIDER):
            _log.info("trabalhador na liderança")
            await conexao.execute("LISTEN formigueiro")
            await _laco(conexao, denylist, parar, andamento, inicio, avisos=True)
            return
        if await _um(conexao, "SELECT core.ha_lider()"):
            andamento.andou()  # outro lidera: nada o impede
            await _esperar(parar, ESPERA_DE_LIDER_S)
            continue
        # Está com quem não é do aplicativo: não se espera por ele, e olha-se o banco como atrás de um pool (N40).
        if not disse:
            _log.warning("a trava do líder está com quem não é do aplicativo; o trabalhador olha o banco")
            disse = True
        await _laco(conexao, denylist, parar, andamento, inicio, avisos=False, segundos=ESPERA_DE_LIDER_S)


async def _laco(
    conexao: AsyncConnection[Any],
    denylist: Denylist,
    parar: asyncio.Event,
    andamento: Andamento,
    inicio: Inicio,
    avisos: bool,
    segundos: float = float("inf"),
) -> None:
    relogio = asyncio.get_running_loop().time
    fim = relogio() + segundos
    recuo = RECUO_MINIMO_S
    agenda = Agenda()
    await inicio.partir(conexao)
    while not parar.is_set() and relogio() < fim:
        try:
            await agenda.cumprir(conexao)
            houve = await _passo(conexao, denylist)
            andamento.andou()
            await inicio.cumprir(conexao, ocioso=not houve)
            houve = houve or (avisos and await _dormir(conexao, agenda, parar))
        except psycopg.errors.QueryCanceled as erro:
            _dizer_que_passou_do_tempo(erro)
            continue  # o lote morto será tratado evento a evento (regra 4)
        if houve:
            recuo = RECUO_MINIMO_S
        else:
            await _esperar(parar, recuo)
            recuo = min(recuo * 2, RECUO_MAXIMO_S)


def _dizer_que_passou_do_tempo(erro: psycopg.Error) -> None:
    _log.error("comando do trabalhador passou do tempo", erro=descrever(erro))


async def _passo(conexao: AsyncConnection[Any], denylist: Denylist) -> bool:
    """Uma fatia de despacho e uma de publicações; devolve se houve o que publicar ou ficou o que despachar."""
    resta = await _despachar(conexao)
    return await publicar_pendentes(conexao, denylist, FATIA_S) > 0 or resta


async def _despachar(conexao: AsyncConnection[Any]) -> bool:
    """Despacha por uma fatia; devolve se ela se gastou toda, e então pode restar o que despachar."""
    relogio = asyncio.get_running_loop().time
    inicio = relogio()
    await conexao.execute("CALL core.despachar_por(%s)", [timedelta(seconds=FATIA_S)])
    return relogio() - inicio >= FATIA_S


async def _dormir(conexao: AsyncConnection[Any], agenda: Agenda, parar: asyncio.Event) -> bool:
    """Dorme até um NOTIFY ou a próxima hora marcada; devolve False se não pôde, por haver quem esteja publicando.

    Ao acordar, despacha antes de tudo, ainda com a trava: quem a soltasse primeiro faria o evento esperar mais uma ida
    ao banco, e enquanto ela dura quem publica só paga um NOTIFY à toa.
    """
    if not await _um(conexao, "SELECT pg_try_advisory_lock(core.trava_do_sono())"):
        return False
    try:
        # Quem publicou antes da trava não avisa: olha-se de novo, já com ela.
        espera = await _ate_o_proximo_trabalho(conexao, agenda)
        if espera <= 0:
            return False
        await _aguardar_aviso(conexao, parar, min(espera, SONO_MAXIMO_S))
        await _despachar(conexao)
        return True
    finally:
        with suppress(psycopg.OperationalError):
            await conexao.execute("SELECT pg_advisory_unlock(core.trava_do_sono())")


async def _ate_o_proximo_trabalho(conexao: AsyncConnection[Any], agenda: Agenda) -> float:
    """Segundos até haver o que fazer, se nada mais chegar."""
    quando = await _um(conexao, "SELECT least(core.proximo_despacho(), d6b.proxima_publicacao())")
    with prazo(conexao, PRAZO_DA_RESPOSTA_S):
        proxima_agenda = await agenda.proxima(conexao)
    horas = [hora for hora in (quando, proxima_agenda) if isinstance(hora, datetime)]
    if not horas:
        return SONO_MAXIMO_S
    return (min(horas) - datetime.now(UTC)).total_seconds()


async def _aguardar_aviso(conexao: AsyncConnection[Any], parar: asyncio.Event, segundos: float) -> None:
    """Espera um aviso, `parar` ou o tempo; a cada pulso, confere que o servidor ainda responde."""
    relogio = asyncio.get_running_loop().time
    fim = relogio() + segundos
    while (resta := fim - relogio()) > 0 and not await _avisado(conexao, parar, min(resta, PULSO_S)):
        await _um(conexao, "SELECT 1")


async def _avisado(conexao: AsyncConnection[Any], parar: asyncio.Event, segundos: float) -> bool:
    async def aviso() -> bool:
        return bool([True async for _ in conexao.notifies(timeout=segundos, stop_after=1)])

    espera = asyncio.create_task(aviso())
    fim = asyncio.create_task(parar.wait())
    _, pendentes = await asyncio.wait({espera, fim}, return_when=asyncio.FIRST_COMPLETED)
    for tarefa in pendentes:
        tarefa.cancel()
        with suppress(asyncio.CancelledError):
            await tarefa
    return parar.is_set() or espera.result()


async def _esperar(parar: asyncio.Event, segundos: float) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(parar.wait(), segundos)


async def _um(conexao: AsyncConnection[Any], consulta: str, *valores: object) -> Any:
    """O único valor de uma consulta breve: a que não responde logo não responderá."""
    with prazo(conexao, PRAZO_DA_RESPOSTA_S):
        linha = await (await conexao.execute(consulta, valores)).fetchone()
    return linha[0] if linha else None
