"""kill -9 no PostgreSQL e no trabalhador, em instantes ao acaso, com a cidade andando (regras 1, 4 e 7)."""

import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from app.banco import postmaster
from app.banco.cluster import Cluster
from app.banco.migrar import migrar
from tests.apoio.espera import ate
from tests.apoio.rede import CONTEUDOS, Rede
from tests.apoio.servidor import cluster_de_teste, pasta_de_cluster
from tests.d6b.invariantes import conferir

PLANO = {"intervalo_dias": 30, "tipo": "poda", "prazo_tolerancia_dias": 5, "vida_util_dias": 300}
OBRA: dict[str, Any] = {"plano_manutencao": PLANO, "categoria": "3.9", "localizacao": {"lat": -23.5, "lng": -46.6}}
TIPOS = [tipo for tipo in CONTEUDOS if tipo != "prazo_registrado"]


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Um servidor só deste teste, que ele mata e religa."""
    with pasta_de_cluster() as pasta, cluster_de_teste(pasta) as cluster:
        with psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as conexao:
            conexao.execute("CREATE DATABASE cidade")
        migrar(cluster.endereco.dsn("cidade"), simulacao=True)
        yield cluster


class Cidade:
    """Produtores que publicam, reconectando a cada queda, e guardam o que o servidor confirmou."""

    def __init__(self, dsn: str) -> None:
        self.dsn = dsn
        self.parar = threading.Event()
        self.confirmados: list[UUID] = []

    def _conectar(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self.dsn, autocommit=True, connect_timeout=5)

    def viver(self, semente: int) -> None:
        acaso = random.Random(semente)
        while not self.parar.is_set():
            with suppress(psycopg.OperationalError), self._conectar() as conexao:
                while not self.parar.wait(acaso.uniform(0, 0.2)):  # mais que isso só faria fila para o fim
                    self._um_ciclo(Rede(conexao), acaso)

    def _um_ciclo(self, rede: Rede, acaso: random.Random) -> None:
        demanda, conselheiro = uuid4(), UUID(int=acaso.randint(1, 9))
        self.confirmados.append(rede.sortear(demanda, conselheiro))
        for _ in range(acaso.randint(0, 3)):
            self.confirmados.append(rede.atualizar(demanda, conselheiro, acaso.choice(TIPOS)))
        if acaso.random() < 0.5:
            extra: dict[str, Any] = OBRA if acaso.random() < 0.5 else {}
            self.confirmados.append(rede.concluir(demanda, conselheiro, **extra))

    def varrer(self) -> None:
        while not self.parar.is_set():
            with suppress(psycopg.OperationalError), self._conectar() as conexao:
                while not self.parar.is_set():
                    conexao.execute("CALL d8.executar_varredura(now() + interval '31 days', 5)")
                    conexao.execute(
                        "SELECT d6b.verificar_prazos_proximos(), d6b.republicar_saidas_conclusao_pendentes()"
                    )
                    self.parar.wait(0.2)


def trabalhador(dsn: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "app", "trabalhar"],
        env={
            **os.environ,
            "DATABASE_URL": make_conninfo(dsn, user="formigueiro_app"),
            "MODERACAO_DENYLIST_TEXTO": "idiota",
        },
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def matar_servidor(cluster: Cluster) -> None:
    os.kill(cluster.pid(), signal.SIGKILL)
    ate(lambda: postmaster.ler(cluster.dados) is None, o_que="morte do servidor")
    cluster.religar()


@pytest.mark.parametrize("quedas", [3, pytest.param(60, marks=[pytest.mark.longo, pytest.mark.timeout(1500)])])
def test_quedas_nao_perdem_nem_repetem_e_tudo_volta_ao_repouso(cluster: Cluster, quedas: int) -> None:
    dsn = cluster.endereco.dsn("cidade")
    cidade = Cidade(dsn)
    tarefas: list[Callable[[], None]] = [lambda s=semente: cidade.viver(s) for semente in range(3)]  # type: ignore[misc]
    linhas = [threading.Thread(target=tarefa) for tarefa in [*tarefas, cidade.varrer]]
    for linha in linhas:
        linha.start()
    acaso = random.Random(quedas)
    processos = [trabalhador(dsn)]
    try:
        for n in range(2 * quedas):
            cidade.parar.wait(acaso.uniform(0.1, 1.2))
            if n % 2:
                matar_servidor(cluster)
            else:
                matar(processos.pop())
                processos.append(trabalhador(dsn))
        cidade.parar.set()
        for linha in linhas:
            linha.join()
        conferir_repouso(dsn, cidade, quedas)
    finally:
        cidade.parar.set()
        for processo in processos:
            matar(processo)


def matar(processo: "subprocess.Popen[bytes]") -> None:
    processo.kill()
    processo.wait()


def conferir_repouso(dsn: str, cidade: Cidade, quedas: int) -> None:
    with psycopg.connect(dsn, autocommit=True) as conexao:
        rede = Rede(conexao)
        ate(lambda: em_repouso(rede), 300, "a rede em repouso, sozinha")
        conexao.execute("CALL d8.executar_varredura(now() + interval '31 days', 5)")  # o que as quedas não deixaram
        ate(lambda: em_repouso(rede), 120, "a rede em repouso, depois de varrer")
        conferir(rede)
        publicados = {linha["event_id"] for linha in rede.linhas("SELECT event_id FROM core.event_log")}
        assert set(cidade.confirmados) <= publicados
        assert len(cidade.confirmados) > 10 * quedas
        assert rede.um("SELECT count(*) FROM core.ocorrencias WHERE nivel = 'erro'") == 0
        ciclos = rede.linhas(
            "SELECT projeto_id, ciclo_numero, count(*) AS n FROM d8.historico_manutencoes GROUP BY 1, 2"
        )
        assert ciclos
        assert all(linha["n"] == 1 for linha in ciclos)


def em_repouso(rede: Rede) -> bool:
    return bool(
        rede.um(
            "SELECT core.proximo_despacho() IS NULL"
            " AND NOT EXISTS (SELECT FROM d6b.publicacoes_pendentes)"
            " AND NOT EXISTS (SELECT FROM d6b.acompanhamentos WHERE saidas_conclusao_pendentes)"
        )
    )
