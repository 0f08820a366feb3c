"""Passa todas as funções PL/pgSQL pelo plpgsql_check, num banco recém-migrado; qualquer aviso é uma falha.

Precisa de um PostgreSQL com a extensão, que o embutido não traz, e com o pg_cron, que a faxina cita: o de
FORMIGUEIRO_TESTE_BINARIOS ou o do Debian.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg

from app.banco.cluster import Cluster
from app.banco.erros import ErroBanco
from app.banco.migrar import migrar

EXTENSOES = ("plpgsql_check", "pg_cron")

_AVISOS = """
    SELECT coalesce(a.functionid, f.oid)::text, a.lineno, a.level, a.message, a.detail, a.hint
      FROM (SELECT p.oid::regprocedure AS oid, coalesce(t.tgrelid, 0) AS tabela
              FROM pg_proc AS p
              JOIN pg_language AS l ON l.oid = p.prolang AND l.lanname = 'plpgsql'
              LEFT JOIN pg_trigger AS t ON t.tgfoid = p.oid AND NOT t.tgisinternal
             WHERE p.pronamespace::regnamespace::text IN ('core', 'd6b', 'd8', 'registro')
               AND (p.prorettype <> 'trigger'::regtype OR t.tgrelid IS NOT NULL)) AS f
     CROSS JOIN LATERAL plpgsql_check_function_tb(
                    f.oid, f.tabela, fatal_errors => false) AS a
     ORDER BY 1, 2
"""


def binarios() -> Path | None:
    """Os programas de um PostgreSQL com as duas extensões, o mais novo primeiro."""
    escolhido = os.environ.get("FORMIGUEIRO_TESTE_BINARIOS")
    candidatos = [Path(escolhido)] if escolhido else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((pasta for pasta in candidatos if all(_biblioteca(pasta, nome).exists() for nome in EXTENSOES)), None)


def _biblioteca(binarios: Path, extensao: str) -> Path:
    return binarios.parent / "lib" / f"{extensao}.so"


def avisos(dsn: str) -> Iterator[str]:
    """Migra o banco e devolve, linha a linha, o que o plpgsql_check tem a dizer."""
    migrar(dsn)
    with psycopg.connect(dsn, autocommit=True) as conexao:
        for extensao in EXTENSOES:
            conexao.execute(f"CREATE EXTENSION {extensao}")
        for funcao, linha, nivel, mensagem, detalhe, dica in conexao.execute(_AVISOS):
            resto = "".join(f" ({texto})" for texto in (detalhe, dica) if texto)
            yield f"{funcao}, linha {linha}: {nivel}: {mensagem}{resto}"


def principal() -> int:
    pasta_binarios = binarios()
    if pasta_binarios is None:
        print(
            "formigueiro: falta um PostgreSQL com plpgsql_check e pg_cron; no Debian: "
            "apt-get install postgresql-15 postgresql-15-plpgsql-check postgresql-15-cron",
            file=sys.stderr,
        )
        return 1
    try:
        with tempfile.TemporaryDirectory(prefix="formigueiro-conferencia-") as pasta:
            Path(pasta).chmod(0o711)
            parametros = {"fsync": "off", "shared_preload_libraries": "pg_cron"}
            with Cluster(Path(pasta), pasta_binarios, parametros) as cluster:
                achados = list(avisos(cluster.endereco.dsn("postgres")))
    except ErroBanco as erro:
        achados = [str(erro)]
    print("\n".join(achados) if achados else f"plpgsql_check: nenhum aviso ({pasta_binarios.parent.name})")
    return 1 if achados else 0


if __name__ == "__main__":
    sys.exit(principal())
