"""Numa cópia, os trabalhos do pg_cron são os do servidor dela, e não os da origem (N61)."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from app.banco.cluster import Cluster
from app.banco.migrar import migrar
from tests.apoio.rede import Rede
from tests.apoio.servidor import BINARIOS
from tests.docs.blocos import endereco
from tests.pg_cron.conftest import ligado
from tests.pg_cron.test_agenda import AGENDA

ANA = UUID(int=11)
TRABALHOS = "SELECT jobname::text, nodename, nodeport, database, username, active FROM cron.job ORDER BY 1, 5"


@pytest.fixture(scope="module")
def origem() -> Iterator[Cluster]:
    with ligado("cidade") as cluster:
        migrar(cluster.endereco.dsn("cidade"))
        yield cluster


def restaurar(origem: Cluster, copia: str, pasta: Path, *opcoes: str) -> None:
    """O banco inteiro, com o que o pg_cron guarda nele."""
    arquivo, papeis = pasta / "cidade.dump", pasta / "papeis.sql"
    de = endereco(origem.endereco.dsn("cidade"))
    for comando in (
        ["pg_dumpall", "--roles-only", f"--file={papeis}", f"--dbname={de}"],
        ["psql", "-q", f"--dbname={endereco(copia)}", f"--file={papeis}"],
        ["pg_dump", "--format=custom", f"--file={arquivo}", de],
        ["pg_restore", "--exit-on-error", *opcoes, f"--dbname={endereco(copia)}", str(arquivo)],
    ):
        feito = subprocess.run(
            [BINARIOS / comando[0], *comando[1:]],
            check=False, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
        assert feito.returncode == 0, feito.stderr


def trabalhos(bd: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    return bd.execute(TRABALHOS).fetchall()


def os_daqui(cluster: Cluster, banco: str, papel: str = "postgres") -> list[tuple[Any, ...]]:
    onde = (str(cluster.endereco.soquete), cluster.endereco.porta, banco, papel, True)
    return sorted((f"{banco}/{nome}", *onde) for nome in (*AGENDA, "espelho"))


@pytest.mark.parametrize(
    ("banco", "papel"),
    [("cidade", "postgres"), ("matriz", "instalador")],
    ids=["do mesmo nome", "de outro nome e dono"],
)
def test_restaurada_noutro_servidor_e_noutra_porta(banco: str, papel: str, origem: Cluster, tmp_path: Path) -> None:
    with ligado("cidade", port="5544") as destino:
        nome = "cidade"
        copia = destino.endereco.dsn(nome)
        restaurar(origem, copia, tmp_path)
        with psycopg.connect(copia, autocommit=True) as bd:
            bd.execute("GRANT USAGE ON SCHEMA cron TO instalador")
            bd.execute("GRANT core_dono, d6b_dono, d8_dono TO instalador")
            bd.execute(f"ALTER DATABASE {nome} OWNER TO instalador")
            bd.execute("GRANT USAGE, CREATE ON SCHEMA migracoes TO instalador")
            bd.execute("GRANT ALL ON ALL TABLES IN SCHEMA migracoes TO instalador")
            # Como se guardam os de uma origem de outro nome, agendados por outro papel.
            bd.execute("UPDATE cron.job SET jobname = replace(jobname, 'cidade/', %s), database = %s, username = %s",
                       [f"{banco}/", banco, papel])  # fmt: skip
            assert {linha[1] for linha in trabalhos(bd)} == {str(origem.endereco.soquete)}
            rede = Rede(bd)
            problemas = str(rede.um("SELECT core.estado() -> 'problemas'"))
            assert "a agenda está no pg_cron de outro servidor" in problemas
            migrar(destino.endereco.dsn(nome, papel))
            assert trabalhos(bd) == os_daqui(destino, nome, papel)
            assert rede.um("SELECT core.espelhar_agenda()") == (0 if papel == "postgres" else len(AGENDA) + 1)
            assert rede.um("SELECT core.estado() -> 'problemas'") == []
            demanda = uuid4()
            rede.sortear(demanda, ANA)
            rede.despachar()
            assert rede.acompanhamento(demanda)["status"] == "aguardando_inicio"


def test_uma_copia_ao_lado_da_origem_nao_lhe_toma_os_trabalhos(origem: Cluster) -> None:
    with psycopg.connect(origem.endereco.dsn("postgres"), autocommit=True) as bd:
        bd.execute("CREATE DATABASE cidade_copia")
    subprocess.run(
        [BINARIOS / "pg_restore", "--exclude-schema=cron", f"--dbname={endereco(origem.endereco.dsn('cidade_copia'))}"],
        check=False, capture_output=True,
        input=subprocess.run(
            [BINARIOS / "pg_dump", "-Fc", endereco(origem.endereco.dsn("cidade"))], check=True, capture_output=True
        ).stdout,
    )  # fmt: skip
    with psycopg.connect(origem.endereco.dsn("cidade"), autocommit=True) as bd:
        antes = trabalhos(bd)
        assert migrar(origem.endereco.dsn("cidade_copia")).pg_cron
        depois = trabalhos(bd)
        assert [linha for linha in depois if not linha[0].startswith("cidade_copia/")] == antes
        assert len(depois) == 2 * len(antes)
        # Nem a origem toma os da cópia, nem o que está em espera volta ou muda de dono.
        bd.execute("SELECT cron.alter_job(jobid, active := false) FROM cron.job WHERE jobname = 'cidade/d8-ciclos'")
        antes = trabalhos(bd)
        migrar(origem.endereco.dsn("cidade"))
        assert trabalhos(bd) == antes
