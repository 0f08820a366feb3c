"""O cluster da suíte: o PostgreSQL embutido ou, com FORMIGUEIRO_TESTE_BINARIOS, o que estiver nessa pasta."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.banco import embutido
from app.banco.cluster import Cluster

BINARIOS = Path(os.environ.get("FORMIGUEIRO_TESTE_BINARIOS") or embutido.binarios())
EMBUTIDO = embutido.binarios() == BINARIOS
TEM_PG_CRON = (BINARIOS.parent / "lib" / "pg_cron.so").exists()

# Um clone por teste dispensa durabilidade; os testes de queda matam processos, não a máquina.
PARAMETROS = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "max_prepared_transactions": "10",
    "autovacuum": "off",
    "log_min_messages": "warning",
    "timezone": "Asia/Kathmandu",  # nem o da máquina nem UTC: nada há de depender do fuso da sessão (regra 10)
}


def cluster_de_teste(pasta: Path, **parametros: str) -> Cluster:
    usuario = embutido.garantir_usuario() if EMBUTIDO else "postgres"
    return Cluster(pasta, BINARIOS, PARAMETROS | parametros, usuario_root=usuario)


@contextmanager
def pasta_de_cluster() -> Iterator[Path]:
    """Uma pasta que o usuário do servidor pode atravessar; as do pytest se fecham a cada sessão que começa."""
    pasta = Path(tempfile.mkdtemp(prefix="formigueiro-teste-"))
    pasta.chmod(0o711)
    try:
        yield pasta
    finally:
        shutil.rmtree(pasta, ignore_errors=True)
