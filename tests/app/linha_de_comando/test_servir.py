"""`servir` num banco embutido só seu: sobe, apresenta-se, desliga tudo a um sinal, e volta a encontrar seus dados."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from app.banco import postmaster
from app.banco.recursos import RAIZ
from tests.apoio.espera import ate
from tests.apoio.servidor import pasta_de_cluster


class Servico:
    """Um `servir` num processo, com sua saída num arquivo."""

    def __init__(self, pasta: Path, porta: int) -> None:
        self.pasta = pasta
        self.porta = porta
        self.saida = pasta / "saida.txt"
        ajustes = {"FORMIGUEIRO_DADOS": str(pasta / "dados"), "FORMIGUEIRO_PORTA": str(porta)}
        limpo = {k: v for k, v in os.environ.items() if not k.startswith(("DATABASE_URL", "FORMIGUEIRO_", "MODERACAO"))}
        with self.saida.open("w") as saida:
            self.processo = subprocess.Popen(
                [sys.executable, "-m", "app", "servir"], cwd=RAIZ, stdout=saida, stderr=saida, env=limpo | ajustes
            )

    def pedir(self, caminho: str) -> int | None:
        with suppress(OSError):
            return int(urllib.request.urlopen(f"http://127.0.0.1:{self.porta}{caminho}", timeout=5).status)
        return None

    def esperar_pronto(self) -> None:
        def pronto() -> bool:
            assert self.processo.poll() is None, self.saida.read_text()
            return self.pedir("/healthz") == 200

        ate(pronto, 90, "servir responder")

    def encerrar(self, sinal: signal.Signals) -> int:
        self.processo.send_signal(sinal)
        return self.processo.wait(30)

    def servidor_ligado(self) -> bool:
        (dados,) = (self.pasta / "dados").glob("*/pg")
        return postmaster.ler(dados) is not None


@contextmanager
def servindo(pasta: Path, porta: int) -> Iterator[Servico]:
    servico = Servico(pasta, porta)
    try:
        yield servico
    finally:
        if servico.processo.poll() is None:
            servico.encerrar(signal.SIGTERM)


@pytest.fixture
def pasta() -> Iterator[Path]:
    with pasta_de_cluster() as pasta:
        yield pasta


@pytest.fixture
def porta() -> int:
    with socket.socket() as livre:
        livre.bind(("127.0.0.1", 0))
        return int(livre.getsockname()[1])


def test_a_vida_inteira_de_um_servico(pasta: Path, porta: int) -> None:
    """Primeira vez, com a demonstração; um kill -9; e uma segunda vez, que adota o que ficou e acha os dados."""
    with servindo(pasta, porta) as primeiro:
        primeiro.esperar_pronto()
        saida = primeiro.saida.read_text()
        assert "conselheiro.sorteado" in saida
        curl = re.search(r"^curl .*$", saida, re.MULTILINE)
        assert curl is not None
        resposta = subprocess.run(curl[0], shell=True, capture_output=True, text=True, check=True).stdout
        assert "score_confianca" in resposta
        segredos = list((pasta / "dados").glob("*/jwt.segredo"))
        assert [arquivo.stat().st_mode & 0o777 for arquivo in segredos] == [0o600]
        assert primeiro.encerrar(signal.SIGINT) == 0
        assert not primeiro.servidor_ligado()

    with servindo(pasta, porta) as segundo:
        segundo.esperar_pronto()
        assert "conselheiro.sorteado" not in segundo.saida.read_text()
        segundo.processo.kill()
        segundo.processo.wait()
        assert segundo.servidor_ligado()

    with servindo(pasta, porta) as terceiro:
        terceiro.esperar_pronto()
        assert terceiro.encerrar(signal.SIGTERM) == 0
        assert not terceiro.servidor_ligado()
        assert "Traceback" not in terceiro.saida.read_text()


def test_um_sinal_antes_de_estar_pronto_tambem_desliga_tudo(pasta: Path, porta: int) -> None:
    with servindo(pasta, porta) as servico:
        ate(lambda: list((pasta / "dados").glob("*/pg/postmaster.pid")), 60, "o banco começar a ligar")
        servico.encerrar(signal.SIGINT)
        assert not servico.servidor_ligado()
        assert "Traceback" not in servico.saida.read_text()


def test_a_porta_em_uso_e_dita_em_uma_linha_antes_de_tudo(pasta: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as ocupada:
        porta = ocupada.getsockname()[1]
        servico = Servico(pasta, porta)
        assert servico.processo.wait(30) == 1
    assert servico.saida.read_text() == (
        f"formigueiro: a porta {porta} de 127.0.0.1 já está em uso: escolha outra em FORMIGUEIRO_PORTA\n"
    )
    assert not list((pasta / "dados").glob("*/pg"))
