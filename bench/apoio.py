"""O que as medições partilham: um cluster durável, os eventos medidos e a tabela do resultado."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg

from app.banco.cluster import Cluster
from app.banco.migrar import migrar
from tests.apoio.servidor import cluster_de_teste, pasta_de_cluster

# A suíte dispensa a durabilidade; quem mede o custo de confirmar não pode. O autovacuum fica fora, como ruído.
DURAVEL = {
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "shared_buffers": "1GB",
    "max_wal_size": "8GB",
    "checkpoint_timeout": "1h",
}

# conselheiro.sorteado com oito campos; %s é o número que faz a demanda.
SORTEIO = (
    '{"conselheiro_id": "00000000-0000-4000-a000-000000000001", "demanda_id": "00000000-0000-4000-8000-%s", '
    '"unidade_civica_id": "00000000-0000-4000-a000-000000000007", "metodo_sorteio": "fisher_yates", '
    '"seed_publico": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "posicao_sorteada": 0, '
    '"total_elegiveis": 12, "timestamp": "2026-11-30T12:34:56.780Z"}'
)

Conexao = psycopg.Connection[Any]


@contextmanager
def cluster_duravel() -> Iterator[Cluster]:
    """Um cluster só desta medida, que confirma em disco."""
    with pasta_de_cluster() as pasta, cluster_de_teste(pasta, **DURAVEL) as cluster:
        yield cluster


def criar_banco(cluster: Cluster, nome: str) -> str:
    """Cria um banco vazio e devolve seu endereço."""
    with psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as bd:
        bd.execute(psycopg.sql.SQL("CREATE DATABASE {}").format(psycopg.sql.Identifier(nome)))
    return cluster.endereco.dsn(nome)


def criar_formigueiro(cluster: Cluster, nome: str) -> str:
    """Cria um banco migrado e devolve seu endereço."""
    dsn = criar_banco(cluster, nome)
    migrar(dsn)
    return dsn


def tabela(cabecalho: Sequence[str], linhas: Sequence[Sequence[str]]) -> None:
    """Imprime em colunas, a primeira à esquerda e as outras à direita."""
    larguras = [max(len(linha[i]) for linha in [cabecalho, *linhas]) for i in range(len(cabecalho))]
    for linha in [cabecalho, *linhas]:
        celulas = [linha[0].ljust(larguras[0]), *(c.rjust(n) for c, n in zip(linha[1:], larguras[1:], strict=True))]
        print("  ".join(celulas).rstrip(), flush=True)
