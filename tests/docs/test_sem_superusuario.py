"""Os comandos de como-fazer/sem-superusuario.md, na ordem da página, num servidor em que ninguém é superusuário."""

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

from app.banco.cluster import Cluster
from app.banco.recursos import RAIZ
from tests.apoio.servidor import BINARIOS, cluster_de_teste
from tests.docs.blocos import DOCS

PAGINA = (DOCS / "como-fazer" / "sem-superusuario.md").read_text(encoding="utf-8")
BLOCOS = re.findall(r"^```(sql|sh) como:(\w+) em:(\w+)\n(.*?)^```$", PAGINA, re.MULTILINE | re.DOTALL)


@pytest.fixture
def servidor_gerenciado() -> Iterator[Cluster]:
    """Um servidor de um serviço: o administrador que ele dá cria papéis e bancos, e não é superusuário."""
    pasta = Path(tempfile.mkdtemp(prefix="formigueiro-gerenciado-"))
    pasta.chmod(0o711)
    with cluster_de_teste(pasta) as cluster:
        with psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as conexao:
            conexao.execute("CREATE ROLE administrador LOGIN CREATEROLE CREATEDB")
        yield cluster
    shutil.rmtree(pasta, ignore_errors=True)


def test_instala_e_atualiza_com_um_papel_comum(servidor_gerenciado: Cluster, tmp_path: Path) -> None:
    assert [linguagem for linguagem, _, _, _ in BLOCOS] == ["sql", "sh", "sql", "sh"]
    for linguagem, papel, banco, comandos in [*BLOCOS, BLOCOS[1]]:  # atualizar é o mesmo comando
        if linguagem == "sql":
            onde = f"host={servidor_gerenciado.endereco.soquete} dbname={banco} user={papel}"
            _rodar([str(BINARIOS / "psql"), "-X", "-v", "ON_ERROR_STOP=1", onde], comandos, tmp_path)
        else:
            soquete = str(servidor_gerenciado.endereco.soquete)
            comandos = comandos.replace("SERVIDOR", soquete).replace("python -m", f"{sys.executable} -m")
            _rodar(["bash", "-e"], comandos, tmp_path)
    with psycopg.connect(servidor_gerenciado.endereco.dsn("formigueiro", "formigueiro_app"), autocommit=True) as app:
        app.execute("CALL core.despachar()")
        assert app.execute("SELECT core.estado() -> 'problemas'").fetchone() == ([],)


def _rodar(comando: list[str], entrada: str, pasta: Path) -> None:
    feito = subprocess.run(
        comando,
        input=entrada,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=pasta,
        check=False,
        env={**os.environ, "PYTHONPATH": str(RAIZ), "LC_ALL": "C.UTF-8", "PATH": f"{BINARIOS}:{os.environ['PATH']}"},
    )
    assert feito.returncode == 0, f"{entrada}\n{feito.stdout}"
