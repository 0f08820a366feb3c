"""Os comandos de como-fazer/copiar-e-restaurar.md, na ordem da página, de um servidor para outro."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from app.banco.cluster import Cluster
from app.banco.migrar import migrar
from app.banco.recursos import RAIZ
from tests.apoio.servidor import BINARIOS, TEM_PG_CRON, cluster_de_teste
from tests.docs.blocos import DOCS, executaveis, rodar
from tests.pg_cron.conftest import ligado

COMANDOS = re.findall(
    r"^```sh\n(.*?)^```$",
    (DOCS / "como-fazer" / "copiar-e-restaurar.md").read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)
CONTAGENS = """
    SELECT (SELECT count(*) FROM core.event_log), (SELECT sum(posicao) FROM core.consumidores),
           (SELECT count(*) FROM d8.historico_manutencoes),
           (SELECT datacl::text FROM pg_database WHERE datname = current_database())
"""


@pytest.fixture
def destino() -> Iterator[Cluster]:
    pasta = Path(tempfile.mkdtemp(prefix="formigueiro-copia-"))
    pasta.chmod(0o711)
    with cluster_de_teste(pasta) as cluster:
        yield cluster
    shutil.rmtree(pasta, ignore_errors=True)


@pytest.mark.skipif(not TEM_PG_CRON, reason="o servidor da suíte não tem pg_cron")
def test_de_uma_origem_com_pg_cron_a_um_destino_sem_ele(destino: Cluster, tmp_path: Path) -> None:
    with ligado("cidade") as origem:
        dsn = origem.endereco.dsn("cidade")
        assert migrar(dsn).pg_cron
        with psycopg.connect(dsn) as conexao:
            conexao.execute("GRANT USAGE ON SCHEMA cron TO instalador")
        seguir_a_pagina(dsn, destino, tmp_path)
    with psycopg.connect(destino.endereco.dsn("cidade", "formigueiro_app"), autocommit=True) as app:
        app.execute("CALL core.despachar()")
        assert app.execute("SELECT core.estado() -> 'problemas'").fetchone() == ([],)
        assert app.execute("SELECT count(*) FROM core.agenda_do_app()").fetchone() != (0,)
        assert app.execute("SELECT FROM pg_extension WHERE extname = 'pg_cron'").fetchone() is None


def test_a_copia_restaurada_e_igual_e_segue_trabalhando(dsn: str, destino: Cluster, tmp_path: Path) -> None:
    for bloco in executaveis(DOCS / "como-fazer" / "encerrar-um-projeto.md"):
        rodar(bloco, dsn, {"PASTA": str(tmp_path)})
    seguir_a_pagina(dsn, destino, tmp_path)
    banco = str(conninfo_to_dict(dsn)["dbname"])
    with psycopg.connect(dsn) as antes, psycopg.connect(destino.endereco.dsn(banco)) as depois:
        assert depois.execute(CONTAGENS).fetchone() == antes.execute(CONTAGENS).fetchone()
    with psycopg.connect(destino.endereco.dsn(banco, "formigueiro_app"), autocommit=True) as app:
        app.execute("CALL core.despachar()")
        assert app.execute("SELECT core.estado() -> 'problemas'").fetchone() == ([],)


def seguir_a_pagina(dsn: str, destino: Cluster, pasta: Path) -> None:
    """Os comandos da página, do banco de `dsn` ao servidor de destino."""
    origem = conninfo_to_dict(dsn)
    for comandos in COMANDOS:
        texto = comandos.replace("ORIGEM", str(origem["host"])).replace("DESTINO", str(destino.endereco.soquete))
        _no_shell(
            texto.replace("dbname=formigueiro", f"dbname={origem['dbname']}").replace(
                "python -m", f"{sys.executable} -m"
            ),
            pasta,
        )


def _no_shell(comandos: str, pasta: Path) -> None:
    feito = subprocess.run(
        ["bash"],  # sem -e: a página avisa que o papel postgres já existe
        input=comandos,
        capture_output=True,
        text=True,
        cwd=pasta,
        check=False,
        env={**os.environ, "PYTHONPATH": str(RAIZ), "PATH": f"{BINARIOS}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"},
    )
    erros = re.findall(r"^.*(?:ERROR|error|erro).*$", feito.stderr, re.MULTILINE)
    assert feito.returncode == 0, feito.stderr
    assert [erro for erro in erros if "already exists" not in erro] == []
