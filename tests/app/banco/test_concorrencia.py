"""Várias migrações ao mesmo tempo: os papéis são do cluster inteiro, e um banco só pode ter um migrador por vez."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from structlog.testing import capture_logs

from app.banco import funcoes, trava
from app.banco.cluster import Cluster
from app.banco.erros import ErroBanco
from app.banco.insistir import IMPASSE_MS, ceder_cedo
from app.banco.migrar import migrar
from app.banco.recursos import FUNCOES, RAIZ
from tests.apoio.espera import ate
from tests.apoio.fotografia import fotografar
from tests.apoio.servidor import cluster_de_teste, pasta_de_cluster

MIGRADORES = 4
ESPERA_S = 30

_TRAVADA = """
    SELECT 1 FROM pg_locks
     WHERE relation = %s::regclass AND granted AND mode = 'AccessExclusiveLock' AND pid <> pg_backend_pid()
"""


@pytest.fixture
def cluster_novo() -> Iterator[Cluster]:
    """Um cluster em que nenhum papel do projeto existe ainda."""
    with pasta_de_cluster() as pasta, cluster_de_teste(pasta) as cluster:
        yield cluster


def _migrar_juntos(dsns: list[str]) -> None:
    programa = "import sys; from app.banco.migrar import migrar; migrar(sys.argv[1])"
    processos = [
        subprocess.Popen([sys.executable, "-c", programa, dsn], cwd=RAIZ, stderr=subprocess.PIPE, text=True)
        for dsn in dsns
    ]
    assert [processo.communicate()[1] for processo in processos] == [""] * len(dsns)
    assert [processo.returncode for processo in processos] == [0] * len(dsns)


def _criar_bancos(cluster: Cluster, dono: str, quantos: int = MIGRADORES) -> list[str]:
    bancos = [f"cidade_{n}" for n in range(quantos)]
    with psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as conexao:
        if dono != "postgres":
            conexao.execute(f"CREATE ROLE {dono} LOGIN CREATEROLE")
        for banco in bancos:
            conexao.execute(f"CREATE DATABASE {banco} OWNER {dono}")
    return [cluster.endereco.dsn(banco, dono) for banco in bancos]


@pytest.mark.parametrize("dono", ["postgres", "prefeitura"])
def test_bancos_diferentes_de_um_cluster_sem_papeis(dono: str, cluster_novo: Cluster) -> None:
    """Como superusuário e como um dono com CREATEROLE apenas, que não pode travar pg_authid."""
    dsns = _criar_bancos(cluster_novo, dono)
    _migrar_juntos(dsns)
    primeira, *outras = [fotografar(dsn) for dsn in dsns]
    assert all(outra == primeira for outra in outras)


def test_o_mesmo_banco(banco_vazio: Callable[[], str]) -> None:
    dsn, sozinho = banco_vazio(), banco_vazio()
    _migrar_juntos([dsn] * MIGRADORES)
    migrar(sozinho)
    assert fotografar(dsn) == fotografar(sozinho)


def test_num_impasse_com_quem_usa_o_banco_cede_quem_migra(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Instalar trava tabelas (os gatilhos); quem as usa, e pede depois o que instalar segura, fecha o ciclo.

    A outra sessão, com o deadlock_timeout padrão, só espera; quem instala cede e tenta de novo.
    """
    pasta = tmp_path / "functions"
    shutil.copytree(FUNCOES, pasta)
    (pasta / "core" / "_trava.sql").write_text("LOCK TABLE core.parametros; LOCK TABLE core.relogio;", encoding="utf-8")
    tomou = Event()
    cedidas: list[psycopg.Error] = []

    def disputar() -> None:
        with psycopg.connect(dsn) as outra:
            outra.execute("LOCK TABLE core.relogio")
            tomou.set()
            ate(lambda: outra.execute(_TRAVADA, ["core.parametros"]).fetchone(), o_que="instalar travar a tabela")
            outra.execute("LOCK TABLE core.parametros")

    trocar = funcoes._trocar

    def anotar(*argumentos: Any) -> Any:
        try:
            return trocar(*argumentos)
        except (psycopg.errors.DeadlockDetected, psycopg.errors.LockNotAvailable) as erro:
            cedidas.append(erro)
            raise

    monkeypatch.setattr(funcoes, "_trocar", anotar)
    with psycopg.connect(dsn, autocommit=True) as conexao, ThreadPoolExecutor() as executor:
        disputa = executor.submit(disputar)
        assert tomou.wait(ESPERA_S)
        assert funcoes.instalar(conexao, pasta)
        disputa.result(ESPERA_S)
    assert cedidas


def test_quem_migra_procura_cedo_um_impasse(bd: psycopg.Connection[Any]) -> None:
    """Para ser a vítima dele, antes de quem trabalha no banco."""
    ceder_cedo(bd)
    assert bd.execute("SHOW deadlock_timeout").fetchone() == (f"{IMPASSE_MS}ms",)


def test_quem_segura_uma_tabela_por_muito_tempo_e_dito(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """E enquanto quem migra espera por ele, quem publica não espera mais que um instante de cada vez."""
    monkeypatch.setattr("app.banco.insistir.ESPERAS", 2)
    with psycopg.connect(dsn) as longa, psycopg.connect(dsn, autocommit=True) as conexao:
        conexao.execute("DELETE FROM migracoes.funcoes")
        longa.execute("LOCK TABLE core.event_log IN ROW EXCLUSIVE MODE")
        with pytest.raises(ErroBanco, match="transações longas"):
            migrar(dsn)
    migrar(dsn)


def test_nao_espera_por_trava_que_um_login_qualquer_possa_tomar(dsn: str, bd: psycopg.Connection[Any]) -> None:
    """Nem pela tabela da vez, nem, onde migrar não pôde fechá-las, por travas consultivas."""
    bd.execute("GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint), pg_advisory_lock(int, int) TO formigueiro_leitura")
    bd.execute("GRANT USAGE ON SCHEMA migracoes TO formigueiro_leitura")
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_leitura"), autocommit=True) as intruso:
        intruso.execute("SELECT pg_advisory_lock(813092442), pg_advisory_lock(hashtext('core.espelhar_agenda'))")
        for modo in ("ACCESS SHARE", "ROW SHARE", "EXCLUSIVE"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege), intruso.transaction():
                intruso.execute(f"LOCK TABLE migracoes.trava IN {modo} MODE")
        with capture_logs() as linhas:
            migrar(dsn, simulacao=True)
    assert linhas == []


def test_por_quem_instala_espera_o_que_for_preciso_e_diz_uma_vez(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trava, "ESPERA_MS", 10)
    tentar, tentativas = trava._tentar, []

    def contar(conexao: psycopg.Connection[Any]) -> bool:
        tentativas.append(conexao)
        return tentar(conexao)

    monkeypatch.setattr(trava, "_tentar", contar)
    with psycopg.connect(dsn) as outra, ThreadPoolExecutor() as executor, capture_logs() as linhas:
        outra.execute("LOCK TABLE migracoes.trava IN EXCLUSIVE MODE")
        espera = executor.submit(migrar, dsn, simulacao=True)
        ate(lambda: len(tentativas) > 5 or espera.done(), o_que="migrar insistir")
        outra.rollback()
        espera.result(ESPERA_S)
        assert [linha["event"] for linha in linhas] == [
            f"migrar espera por quem segura a trava dele: postgres (pid {outra.info.backend_pid})"
        ]


def test_espera_tambem_a_sessao_de_um_migrar_que_morreu_no_meio(dsn: str, bd: psycopg.Connection[Any]) -> None:
    """Morto o processo, a guarda cai logo, mas o servidor ainda acaba o comando em que a outra sessão estava."""
    impostor = make_conninfo(dsn, user="formigueiro_leitura", application_name=trava.NOME)
    with (
        psycopg.connect(impostor),
        psycopg.connect(dsn, autocommit=True, application_name=trava.NOME) as orfa,
        ThreadPoolExecutor() as executor,
    ):
        espera = executor.submit(migrar, dsn, simulacao=True)
        ate(lambda: _guarda_na_vez(bd) or espera.done(), o_que="a guarda tomar a vez")
        assert not espera.done()
        orfa.close()
        espera.result(ESPERA_S)
    assert not _guarda_na_vez(bd)


def _guarda_na_vez(bd: psycopg.Connection[Any]) -> bool:
    consulta = "SELECT FROM pg_locks WHERE relation = 'migracoes.trava'::regclass AND granted"
    return bd.execute(consulta).rowcount > 0
