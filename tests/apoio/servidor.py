"""O cluster da suíte: o PostgreSQL embutido ou, com FORMIGUEIRO_TESTE_BINARIOS, o que estiver nessa pasta."""

import os
from pathlib import Path

from app.banco import embutido
from app.banco.cluster import Cluster

BINARIOS = Path(os.environ.get("FORMIGUEIRO_TESTE_BINARIOS") or embutido.binarios())
EMBUTIDO = embutido.binarios() == BINARIOS

# Um clone por teste dispensa durabilidade; os testes de queda matam processos, não a máquina.
PARAMETROS = {
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
    "max_prepared_transactions": "10",
    "autovacuum": "off",
    "log_min_messages": "warning",
}


def cluster_de_teste(pasta: Path, **parametros: str) -> Cluster:
    usuario = embutido.garantir_usuario() if EMBUTIDO else "postgres"
    return Cluster(pasta, BINARIOS, PARAMETROS | parametros, usuario_root=usuario)
