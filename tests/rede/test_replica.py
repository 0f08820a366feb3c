"""O que docs/discussao/escala.md diz de uma réplica física: o que se lê nela, o horizonte, e o que ela recusa."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from litestar.testing import TestClient

from app.ajustes import Ajustes
from app.banco.cluster import Cluster
from app.banco.erros import EmRecuperacao
from app.banco.espera import esperar
from app.banco.migrar import migrar
from app.banco.recursos import RAIZ
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt, emitir_token
from tests.apoio.servidor import BINARIOS, cluster_de_teste, pasta_de_cluster

ANA, CHAVE = UUID(int=11), ChaveJwt.de_segredo("s" * 32)
PAGINA = (RAIZ / "docs" / "discussao" / "escala.md").read_text(encoding="utf-8")
SORTEIO = """
    SELECT core.publicar('conselheiro.sorteado',
                         jsonb_build_object('demanda_id', gen_random_uuid(), 'conselheiro_id', %s::uuid,
                                            'unidade_civica_id', gen_random_uuid()), 'D-6a')
"""
ATE_O_HORIZONTE = (
    "SELECT array_agg(e.sequence_number ORDER BY 1) FROM core.event_log AS e WHERE e.sequence_number <= %s"
)


@pytest.fixture
def par() -> Iterator[tuple[Cluster, Cluster]]:
    """Um primário migrado e uma réplica dele."""
    with ExitStack() as pilha:
        pasta = pilha.enter_context(pasta_de_cluster())
        primario = pilha.enter_context(cluster_de_teste(pasta / "primario"))
        migrar(primario.endereco.dsn("postgres"))
        dono = primario.dados.stat()
        (pasta / "replica").mkdir(mode=0o755)
        os.chown(pasta / "replica", dono.st_uid, dono.st_gid)
        origem = f"host={primario.endereco.soquete} user=postgres"
        copiar = [str(BINARIOS / "pg_basebackup"), "-R", "--checkpoint=fast", "--no-sync", "-d", origem]
        subprocess.run(
            [*copiar, "-D", str(pasta / "replica" / "pg")],
            check=True,
            user=dono.st_uid,
            group=dono.st_gid,
            capture_output=True,
        )
        yield primario, pilha.enter_context(cluster_de_teste(pasta / "replica"))


def test_a_replica_le_ate_o_horizonte_e_recusa_escrever(par: tuple[Cluster, Cluster]) -> None:
    primario, replica = (cluster.endereco.dsn("postgres") for cluster in par)
    with (
        psycopg.connect(primario, autocommit=True) as aqui,
        psycopg.connect(primario) as demorado,
        psycopg.connect(replica, autocommit=True) as la,
    ):

        def alcancar() -> None:
            lsn = aqui.execute("SELECT pg_current_wal_lsn()").fetchone()
            esperar(
                lambda: la.execute("SELECT pg_last_wal_replay_lsn() >= %s", lsn).fetchone() == (True,), 20, "a réplica"
            )

        def lido() -> tuple[int, list[int] | None]:
            """Como a página manda: o horizonte, e num comando posterior os eventos até ele."""
            horizonte = la.execute("SELECT max(horizonte) FROM core.consumidores").fetchone()
            assert horizonte
            eventos = la.execute(ATE_O_HORIZONTE, horizonte).fetchone()
            assert eventos
            return horizonte[0], eventos[0]

        aqui.execute(SORTEIO, [ANA])
        demorado.execute(SORTEIO, [ANA])  # o 2, por confirmar
        aqui.execute(SORTEIO, [ANA])
        aqui.execute("CALL core.despachar()")
        alcancar()
        assert la.execute("SELECT core.obter_maior_sequence()").fetchone() == (3,)
        assert lido() == (1, [1])
        demorado.commit()
        aqui.execute("CALL core.despachar()")
        alcancar()
        assert lido() == (3, [1, 2, 3])

        consultas = re.search(
            r"^```sql executável\nSET default_transaction_read_only = on;\n(.*?)^```$", PAGINA, re.M | re.S
        )
        assert consultas
        for consulta in consultas[1].replace(r"\g /dev/null", ";").split(";"):
            if consulta.strip():
                la.execute(consulta.encode())

    with TestClient(criar_app(Ajustes(), replica, CHAVE)) as cliente:
        sessao = {"Authorization": f"Bearer {emitir_token(CHAVE, ANA)}"}
        resposta = cliente.get("/d6b/conselheiros/me/acompanhamento", headers=sessao)
        assert (resposta.status_code, "retry-after" in resposta.headers) == (503, True)
        assert cliente.get("/metrics").status_code == 200


def porta_livre() -> int:
    with socket.socket() as livre:
        livre.bind(("127.0.0.1", 0))
        return int(livre.getsockname()[1])


@contextmanager
def processo(comando: list[str], dsn: str, log: Path, **ajustes: str) -> Iterator[subprocess.Popen[bytes]]:
    ajustes = {"DATABASE_URL": dsn, "MODERACAO_DENYLIST_TEXTO": "idiota", "FORMIGUEIRO_JWT_SEGREDO": "s" * 40} | ajustes
    with log.open("w") as saida:
        filho = subprocess.Popen(
            [sys.executable, "-m", "app", *comando], cwd=RAIZ, stdout=saida, stderr=saida, env=os.environ | ajustes
        )
    try:
        yield filho
    finally:
        filho.send_signal(signal.SIGTERM)
        filho.wait(30)


@pytest.mark.parametrize("comando", [["servir"], ["servir", "--sem-migrar"], ["trabalhar"]], ids=" ".join)
def test_quem_sobe_numa_replica_espera_diz_por_que_e_serve_quando_ela_e_promovida(
    par: tuple[Cluster, Cluster], comando: list[str], tmp_path: Path
) -> None:
    replica, log, porta = par[1].endereco.dsn("postgres"), tmp_path / "log", porta_livre()

    def dito() -> list[dict[str, Any]]:
        linhas = [json.loads(linha) for linha in log.read_text().splitlines()]
        return [linha for linha in linhas if "em recuperação" in linha["mensagem"] + str(linha.get("erro"))]

    def prontidao() -> tuple[int, str]:
        try:
            resposta = httpx.get(f"http://127.0.0.1:{porta}/readyz", timeout=20)
        except httpx.TransportError:
            return 0, ""
        return resposta.status_code, resposta.json().get("detail", "")

    with (
        psycopg.connect(replica, autocommit=True) as la,
        processo(comando, replica, log, FORMIGUEIRO_PORTA=str(porta)) as filho,
    ):
        esperar(lambda: dito() or filho.poll() is not None, 60, "dizer por que espera")
        if comando != ["trabalhar"]:
            esperar(lambda: prontidao()[0], 30, "responder")
            status, detalhe = prontidao()
            assert status == 503
            assert detalhe.startswith("O banco está em recuperação")
        assert filho.poll() is None, log.read_text()
        la.execute("SELECT pg_promote()")
        la.execute(SORTEIO, [ANA])
        esperar(
            lambda: la.execute("SELECT count(*) FROM d6b.acompanhamentos").fetchone() == (1,), 60, "tratar o evento"
        )
        if comando != ["trabalhar"]:
            esperar(lambda: prontidao()[0] == 200, 30, "estar pronto")
        assert filho.poll() is None
        assert len(dito()) == 1


def test_migrar_numa_replica_diz_em_uma_linha_por_que_nao(par: tuple[Cluster, Cluster]) -> None:
    with pytest.raises(EmRecuperacao, match="só se migra o primário"):
        migrar(par[1].endereco.dsn("postgres"))
