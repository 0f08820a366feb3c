"""Parar com cortesia: a um sinal, ou a dois, o que está em curso termina, com o lote do trabalhador, e a saída é 0."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from app.banco.recursos import RAIZ
from app.http.seguranca import ChaveJwt, emitir_token
from tests.apoio.espera import ate
from tests.apoio.rede import Rede

SEGREDO = "segredo-de-teste-bem-comprido-para-o-hs256"
ANA = UUID(int=11)


class Servico:
    def __init__(self, dsn: str, log: Path) -> None:
        with socket.socket() as livre:
            livre.bind(("127.0.0.1", 0))
            self.porta = int(livre.getsockname()[1])
        self.log = log
        ajustes = {
            "DATABASE_URL": make_conninfo(dsn, user="formigueiro_app"),
            "FORMIGUEIRO_JWT_SEGREDO": SEGREDO,
            "MODERACAO_DENYLIST_TEXTO": "idiota",
            "FORMIGUEIRO_PORTA": str(self.porta),
            "FORMIGUEIRO_ESPERA_BANCO_S": "30",
        }
        with log.open("w") as saida:
            self.processo = subprocess.Popen(
                [sys.executable, "-m", "app", "servir", "--sem-migrar"],
                cwd=RAIZ, stdout=saida, stderr=saida, env=os.environ | ajustes,
            )  # fmt: skip
        ate(self._vivo, 30, "servir responder")

    def _vivo(self) -> bool:
        assert self.processo.poll() is None, self.log.read_text()
        with suppress(OSError):
            return self.pedir("/healthz") == 200
        return False

    def pedir(self, caminho: str) -> int:
        token = emitir_token(ChaveJwt.de_segredo(SEGREDO), ANA)
        pedido = urllib.request.Request(
            f"http://127.0.0.1:{self.porta}{caminho}", headers={"Authorization": f"Bearer {token}"}
        )
        with urllib.request.urlopen(pedido, timeout=30) as resposta:
            json.load(resposta)
            return int(resposta.status)


@pytest.fixture
def servico(dsn: str, tmp_path: Path) -> Iterator[Servico]:
    servico = Servico(dsn, tmp_path / "log")
    yield servico
    if servico.processo.poll() is None:
        servico.processo.kill()
    servico.processo.wait()


def _esperando_trava(bd: psycopg.Connection[Any]) -> bool:
    linha = bd.execute(
        "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'formigueiro_app'"
        " AND datname = current_database())"
    ).fetchone()
    return bool(linha and linha[0])


@pytest.mark.parametrize("sinais", [[signal.SIGTERM], [signal.SIGINT, signal.SIGINT]], ids=["TERM", "INT, INT"])
def test_a_requisicao_em_curso_termina(
    servico: Servico, sinais: list[signal.Signals], bd: psycopg.Connection[Any], dsn: str
) -> None:
    bd.execute(
        """
        CREATE OR REPLACE FUNCTION d6b.acompanhamento_conselheiro(p_conselheiro_id uuid) RETURNS jsonb
        LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock(77); RETURN '{}'; END $$;
        GRANT EXECUTE ON FUNCTION pg_advisory_xact_lock(bigint) TO formigueiro_app
        """
    )
    respostas: list[int] = []
    with psycopg.connect(dsn, autocommit=True) as trava:
        trava.execute("SELECT pg_advisory_lock(77)")
        pedido = threading.Thread(target=lambda: respostas.append(servico.pedir("/d6b/conselheiros/me/acompanhamento")))
        pedido.start()
        ate(lambda: _esperando_trava(bd), 20, "a requisição chegar ao banco")
        for sinal in sinais:  # ao segundo, o primeiro já foi atendido
            servico.processo.send_signal(sinal)
            ate(lambda: not _aceita(servico.porta), 20, "parar de aceitar conexões")
        assert servico.processo.poll() is None
    pedido.join(20)
    assert respostas == [200]
    assert servico.processo.wait(20) == 0
    assert "Traceback" not in servico.log.read_text()


def _aceita(porta: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", porta), 1).close()
    except OSError:
        return False
    return True


def test_o_lote_em_curso_termina(servico: Servico, bd: psycopg.Connection[Any], dsn: str) -> None:
    rede = Rede(bd)
    demanda = uuid4()
    with psycopg.connect(dsn) as trava:
        trava.execute("LOCK TABLE d6b.acompanhamentos IN EXCLUSIVE MODE")
        rede.sortear(demanda, ANA)
        ate(lambda: _esperando_trava(bd), 20, "o lote começar")
        servico.processo.send_signal(signal.SIGTERM)
        ate(lambda: not _aceita(servico.porta), 20, "parar de aceitar conexões")
        assert servico.processo.poll() is None
        assert rede.acompanhamentos(demanda) == []
    inicio = time.monotonic()
    assert servico.processo.wait(20) == 0
    assert time.monotonic() - inicio < 10
    assert rede.acompanhamento(demanda)["conselheiro_id"] == ANA
    assert rede.linhas("SELECT mortes, reserva_vxid FROM core.consumidores WHERE colonia = 'D-6b'") == [
        {"mortes": 0, "reserva_vxid": None}
    ]
    assert "Traceback" not in servico.log.read_text()
