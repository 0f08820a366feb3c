"""`formigueiro trabalhar`: o trabalhador sem o servidor HTTP."""

import asyncio
import signal
from argparse import Namespace, _SubParsersAction
from typing import Any

from app.ajustes import Ajustes
from app.banco.sessao import conectar_async
from app.linha_de_comando.ambiente import abrir
from app.linha_de_comando.denylist import denylist_dos_ajustes
from app.logs.avisos import ouvir
from app.pecas.denylist import Denylist


def registrar(comandos: "_SubParsersAction[Any]") -> None:
    comando = comandos.add_parser("trabalhar", help="só o trabalhador: despacho, textos e, sem pg_cron, a agenda")
    comando.add_argument("--uma-vez", action="store_true", help="trata tudo o que está na vez e sai")
    comando.set_defaults(executar=executar)


def executar(ajustes: Ajustes, opcoes: Namespace) -> int:
    denylist = denylist_dos_ajustes(ajustes)
    with abrir(ajustes) as ambiente:
        asyncio.run((_uma_vez if opcoes.uma_vez else _ate_um_sinal)(ambiente.dsn, denylist))
    return 0


async def _uma_vez(dsn: str, denylist: Denylist) -> None:
    from app.trabalhador.trabalhador import esvaziar

    async with await conectar_async(dsn) as conexao:
        ouvir(conexao)
        # O que core.registrar diz de nível info vem em LOG; a quem trabalha sempre, app.trabalhador.conexao o pede.
        await conexao.execute("SELECT set_config('client_min_messages', 'log', false)")
        await esvaziar(conexao, denylist)


async def _ate_um_sinal(dsn: str, denylist: Denylist) -> None:
    from app.trabalhador.trabalhador import trabalhar

    parar = asyncio.Event()
    for sinal in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(sinal, parar.set)
    await trabalhar(dsn, denylist, parar)
