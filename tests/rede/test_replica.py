"""O que docs/discussao/escala.md diz de uma réplica física: o que se lê nela, o horizonte, e o que ela recusa."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from uuid import UUID

import psycopg
import pytest
from litestar.testing import TestClient

from app.ajustes import Ajustes
from app.banco.cluster import Cluster
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
