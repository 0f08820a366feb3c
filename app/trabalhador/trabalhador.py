"""O trabalhador: despacha os eventos, publica os textos e, sem pg_cron, cumpre a agenda.

Vários processos podem rodar um; lidera quem segura a trava consultiva de líder, que o servidor solta quando a sessão
morre. O líder dorme segurando a trava do sono (regra 7): quem publica a acha tomada e o acorda por NOTIFY.

Onde o NOTIFY não chega, como atrás de um pool de transações, uma trava de sessão também não serve: ficaria com uma
sessão do pool, e não com o processo. Ali não há líder nem sono: cada trabalhador olha o banco de tempos em tempos, o
que é seguro, pois despacho, textos e agenda se reservam no banco. Os limites de tempo, também de sessão, são ali os que
o papel ou o pool tiver; o prazo do lado de cá vale sempre.
"""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import psycopg
import structlog
from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from app.logs.privacidade import descrever
from app.pecas.denylist import Denylist
from app.trabalhador.agenda import Agenda
from app.trabalhador.conexao import (
    LIMITE_DO_COMANDO_S,
    PRAZO_DA_RESPOSTA_S,
    abrir,
    limitar,
    prazo,
    recebe_avisos,
)
from app.trabalhador.publicador import publicar_pendentes

TRAVA_DE_LIDER = 7031002
SONO_MAXIMO_S = 20.0
PULSO_S = 5.0
ESPERA_DE_LIDER_S = 2.0
RECUO_MINIMO_S = 0.005
RECUO_MAXIMO_S = 1.0

_log = structlog.get_logger(__name__)


async def esvaziar(conexao: AsyncConnection[Any], denylist: Denylist) -> None:
    """Trata tudo o que está na vez e volta (`trabalhar --uma-vez`). A conexão há de estar em autocommit."""
    while await _passo(conexao, denylist):
        pass


async def trabalhar(dsn: str, denylist: Denylist, parar: asyncio.Event) -> None:
    """Trabalha até `parar`. Uma conexão perdida é refeita, com recuo; nada se perde, pois tudo se lê de novo."""
    recuo = RECUO_MINIMO_S
    disse = so_leitura = False
    while not parar.is_set():
        try:
            async with await abrir(dsn) as conexao:
                avisos = await recebe_avisos(conexao, dsn)
                recuo = RECUO_MINIMO_S
                if avisos:
                    await limitar(conexao)
                    await _liderar(conexao, denylist, parar)
                    continue
                if not disse:
                    _log.warning("avisos do banco não chegam (um pool de transações?); o trabalhador olha o banco")
                    disse = True
                conexao.prepare_threshold = None  # um comando preparado é da sessão, e a do pool muda
                await _iniciar(conexao)
                await _laco(conexao, denylist, parar, avisos=False)
        except psycopg.errors.ReadOnlySqlTransaction as erro:
            recuo = min(max(recuo * 2, 0.1), 10.0)
            if not so_leitura:
                _log.warning("banco em recuperação, ou só de leitura; o trabalhador espera", erro=descrever(erro))
            so_leitura = True
            await _esperar(parar, recuo)
        except psycopg.OperationalError as erro:
            so_leitura = False
            recuo = min(max(recuo * 2, 0.1), 10.0)
            _log.warning("conexão do trabalhador perdida; nova tentativa", espera_s=recuo, erro=descrever(erro))
            await _esperar(parar, recuo)


async def _liderar(conexao: AsyncConnection[Any], denylist: Denylist, parar: asyncio.Event) -> None:
    iniciou = False
    while not parar.is_set():
        if await _um(conexao, "SELECT pg_try_advisory_lock(%s)", TRAVA_DE_LIDER):
            _log.info("trabalhador na liderança")
            await conexao.execute("LISTEN formigueiro")
            await _iniciar(conexao)
            await _laco(conexao, denylist, parar, avisos=True)
            return
        if await _um(conexao, "SELECT core.ha_lider()"):
            await _esperar(parar, ESPERA_DE_LIDER_S)
            continue
        # Está com quem não é do aplicativo: não se espera por ele, e olha-se o banco como atrás de um pool (N40).
        if not iniciou:
            _log.warning("a trava do líder está com quem não é do aplicativo; o trabalhador olha o banco")
            await _iniciar(conexao)
            iniciou = True
        await _laco(conexao, denylist, parar, avisos=False, segundos=ESPERA_DE_LIDER_S)


async def _iniciar(conexao: AsyncConnection[Any]) -> None:
    """O protocolo de inicialização das colônias (D-6b 4.3, D-8 4.5), depois de posto o atraso em dia, em lotes."""
    relogio = asyncio.get_running_loop().time
    cursores = await _um(conexao, "SELECT d8.cursores()")
    esvaziou = False
    while not esvaziou:
        inicio = relogio()
        try:
            await conexao.execute("CALL core.despachar()")
        except psycopg.errors.QueryCanceled as erro:
            _dizer_que_passou_do_tempo(erro)
            continue
        # O despacho acaba por si na metade do statement_timeout: se acabou antes, não ficou atraso.
        esvaziou = relogio() - inicio < LIMITE_DO_COMANDO_S / 2
    for colonia, argumentos in (("d6b", []), ("d8", [Jsonb(cursores)])):
        marcas = ", ".join(["%s"] * len(argumentos))
        try:
            # O prazo dura só este comando: uma transação alheia que segure uma colônia não impede de trabalhar (N66).
            await conexao.execute(
                f"SELECT set_config('lock_timeout', '1s', true), {colonia}.iniciar({marcas})", argumentos
            )
        except psycopg.errors.LockNotAvailable as erro:
            _log.warning("uma colônia está presa por outra sessão; segue sem inicializá-la", erro=descrever(erro))
        except psycopg.Error as erro:  # o início de uma colônia não há de deter a outra, nem o trabalho
            if conexao.broken:
                raise
            _log.error("início da colônia falhou", colonia=colonia, erro=descrever(erro), sqlstate=erro.sqlstate)


async def _laco(
    conexao: AsyncConnection[Any],
    denylist: Denylist,
    parar: asyncio.Event,
    avisos: bool,
    segundos: float = float("inf"),
) -> None:
    relogio = asyncio.get_running_loop().time
    fim = relogio() + segundos
    recuo = RECUO_MINIMO_S
    agenda = Agenda()
    while not parar.is_set() and relogio() < fim:
        try:
            await agenda.cumprir(conexao)
            houve = await _passo(conexao, denylist) or (avisos and await _dormir(conexao, agenda, parar))
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
    """Um despacho e um lote de publicações; devolve se houve o que publicar."""
    await conexao.execute("CALL core.despachar()")
    return await publicar_pendentes(conexao, denylist) > 0


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
        await conexao.execute("CALL core.despachar()")
        return True
    finally:
        with suppress(psycopg.OperationalError):
            await conexao.execute("SELECT pg_advisory_unlock(core.trava_do_sono())")


async def _ate_o_proximo_trabalho(conexao: AsyncConnection[Any], agenda: Agenda) -> float:
    """Segundos até haver o que fazer, se nada mais chegar."""
    quando = await _um(conexao, "SELECT least(core.proximo_despacho(), d6b.proxima_publicacao())")
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
