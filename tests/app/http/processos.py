"""Sobe processos do app e os encerra."""

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from app.banco.espera import esperar
from app.banco.recursos import RAIZ


@contextmanager
def no_ar(dsn: str, quantos: int, logs: Path) -> Iterator[list[httpx.Client]]:
    """`quantos` processos do app sobre `dsn`, cada um com um cliente; o log do n-ésimo fica em `logs`/n.log."""
    with ExitStack() as pilha:
        yield [pilha.enter_context(um("tests.app.http.processo", [dsn], logs / f"{n}.log")) for n in range(quantos)]


@contextmanager
def um(modulo: str, argumentos: list[str], log: Path) -> Iterator[httpx.Client]:
    """Um processo de `modulo`, a que se dá uma porta livre e os argumentos, e um cliente dele."""
    porta = _porta_livre()
    with log.open("w") as saida:
        comando = [sys.executable, "-m", modulo, str(porta), *argumentos]
        processo = subprocess.Popen(comando, cwd=RAIZ, stderr=saida)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{porta}", timeout=30) as cliente:
            esperar(lambda: _vivo(cliente), 30, "o app subir")
            yield cliente
    finally:
        processo.terminate()
        # O uvicorn termina o que tem em mãos e só então morre do sinal.
        assert processo.wait(30) == -signal.SIGTERM


def _vivo(cliente: httpx.Client) -> bool:
    try:
        return cliente.get("/healthz").status_code == 200
    except httpx.TransportError:
        return False


def _porta_livre() -> int:
    with socket.socket() as soquete:
        soquete.bind(("127.0.0.1", 0))
        porta: int = soquete.getsockname()[1]
        return porta
