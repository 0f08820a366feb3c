"""De publicado a tratado, num sistema ocioso, contra o procrastinate (PyPI, extra `bench`) no mesmo servidor.

Os dois trabalhadores, de verdade, dormem cada um em seu processo e com seu próprio LISTEN; uma vez um, uma vez o
outro, publica-se um sorteio (core.publicar) ou adia-se uma tarefa vazia (defer). O relógio vai da chamada até outra
sessão ver, no nosso, o evento tratado e confirmado (processed_events) e, no deles, a tarefa começada (status deixa de
ser todo); a mesma sessão os olha sem parar, do mesmo jeito. fsync e synchronous_commit ligados. Meta: razão das
medianas até 1,0. Sem o procrastinate, sai só a nossa coluna, e diz-se.

    python -m bench.latencia [--vezes N]
"""

import argparse
import asyncio
import importlib
import json
import logging
import multiprocessing
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from typing import Any

import psycopg
import structlog
from psycopg.types.json import Jsonb

from app.banco.espera import esperar
from app.pecas.denylist import Denylist
from app.trabalhador.trabalhador import trabalhar
from bench.apoio import SORTEIO, Conexao, cluster_duravel, criar_banco, criar_formigueiro, tabela

VISTO_O_NOSSO = """
    SELECT FROM d6b.processed_events AS p JOIN core.event_log AS e USING (event_id) WHERE e.sequence_number = %s
"""
VISTO_O_DELES = "SELECT FROM procrastinate_jobs WHERE id = %s AND status <> 'todo'"

# Faz o pedido de número n e devolve segundos até ele ser visto tratado.
Medida = Callable[[int], float]

try:
    procrastinate: Any = importlib.import_module("procrastinate")
except ImportError:
    procrastinate = None


def rodar_o_nosso(dsn: str) -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    asyncio.run(trabalhar(dsn, Denylist([]), asyncio.Event()))


def aplicativo(dsn: str, conector: str) -> Any:
    logging.getLogger("procrastinate").setLevel(logging.ERROR)  # reclama de nascer no módulo principal
    app = procrastinate.App(connector=getattr(procrastinate, conector)(conninfo=dsn))
    app.task(name="nada")(nada)
    return app


def nada(n: int) -> None:
    """A tarefa medida."""


def rodar_o_deles(dsn: str) -> None:
    async def trabalhador() -> None:
        app = aplicativo(dsn, "PsycopgConnector")
        async with app.open_async():
            await app.run_worker_async(install_signal_handlers=False)

    asyncio.run(trabalhador())


@contextmanager
def processo(alvo: Callable[[str], None], dsn: str) -> Iterator[None]:
    filho = multiprocessing.get_context("spawn").Process(target=alvo, args=[dsn], daemon=True)
    filho.start()
    try:
        yield
    finally:
        filho.terminate()
        filho.join()


def ate_ver(bd: Conexao, consulta: str, valor: object, inicio: float) -> float:
    while bd.execute(consulta, [valor]).fetchone() is None:
        assert time.perf_counter() - inicio < 30, "não foi tratado em 30 s"
    return time.perf_counter() - inicio


@contextmanager
def nosso(dsn: str) -> Iterator[Medida]:
    with processo(rodar_o_nosso, dsn), psycopg.connect(dsn, autocommit=True) as bd:

        def medir(n: int) -> float:
            payload = Jsonb(json.loads(SORTEIO % f"{n:012}"))
            inicio = time.perf_counter()
            linha = bd.execute("SELECT core.publicar('conselheiro.sorteado', %s, 'D-6a')", [payload]).fetchone()
            assert linha is not None
            return ate_ver(bd, VISTO_O_NOSSO, linha[0], inicio)

        dorme = "SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = core.trava_do_sono()::oid AND granted"
        esperar(lambda: bd.execute(dorme).fetchone() is not None, 30, "o trabalhador dormir")
        yield medir


@contextmanager
def deles(dsn: str) -> Iterator[Medida]:
    app = aplicativo(dsn, "SyncPsycopgConnector")
    with app.open(), psycopg.connect(dsn, autocommit=True) as bd:
        app.schema_manager.apply_schema()
        with processo(rodar_o_deles, dsn):
            tarefa = app.configure_task("nada")

            def medir(n: int) -> float:
                inicio = time.perf_counter()
                trabalho = tarefa.defer(n=n)
                return ate_ver(bd, VISTO_O_DELES, trabalho, inicio)

            escuta = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE '%LISTEN%proc%'"
            esperar(lambda: bd.execute(escuta).fetchone() is not None, 30, "o procrastinate escutar")
            yield medir


def principal() -> None:
    opcoes = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    opcoes.add_argument("--vezes", type=int, default=200)
    escolha = opcoes.parse_args()
    sorte = random.Random(7)
    with cluster_duravel() as cluster, ExitStack() as pilha:
        medidas = {"formigueiro": pilha.enter_context(nosso(criar_formigueiro(cluster, "formigueiro")))}
        if procrastinate is None:
            print("procrastinate NÃO está instalado: sem comparação; instale o extra `bench` (make bench o faz)")
        else:
            nome = f"procrastinate {version('procrastinate')}"
            medidas[nome] = pilha.enter_context(deles(criar_banco(cluster, "procrastinate")))
        tempos: dict[str, list[float]] = {nome: [] for nome in medidas}
        for n in range(-10, escolha.vezes):  # as dez primeiras aquecem
            for nome, medir in medidas.items():
                time.sleep(sorte.uniform(0.05, 0.1))  # o bastante para o trabalhador voltar a dormir
                tempo = medir(n + 10)
                if n >= 0:
                    tempos[nome].append(tempo)
    print(f"De publicado a tratado, ocioso, em ms, {escolha.vezes} vezes (fsync e synchronous_commit ligados)")
    tabela(
        ["", "mediana", "p95", "pior"],
        [
            [nome, *(f"{ms * 1e3:.2f}" for ms in (statistics.median(t), statistics.quantiles(t, n=20)[-1], max(t)))]
            for nome, t in tempos.items()
        ],
    )
    if len(tempos) == 2:
        um, outro = (statistics.median(t) for t in tempos.values())
        print(f"razão das medianas: {um / outro:.2f}; meta: até 1,0")


if __name__ == "__main__":
    principal()
