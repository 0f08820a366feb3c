"""Tudo o que `migrar` deixa num banco, em texto: dois bancos iguais têm a mesma fotografia."""

import os
import re
import subprocess

import psycopg

from tests.apoio.servidor import BINARIOS

_DADOS = {
    "parâmetros": "SELECT nome, valor, descricao FROM core.parametros ORDER BY nome",
    "agenda": "SELECT nome, cron, comando FROM core.agendamentos ORDER BY nome",
    "esquemas": "SELECT tipo, versao, md5(esquema::text) FROM core.esquemas ORDER BY tipo, versao",
    "consumidores": "SELECT colonia, esquema, ordem FROM core.consumidores ORDER BY ordem",
    "cursores da D-6b": "SELECT tipo_evento, last_sequence FROM d6b.consumer_offset ORDER BY tipo_evento",
    "cursores da D-8": "SELECT tipo_evento, last_sequence FROM d8.consumer_offset ORDER BY tipo_evento",
    "migrações": "SELECT migration_id, sha256 FROM migracoes.conteudo ORDER BY migration_id",
    "marcas": "SELECT migration_id FROM migracoes._yoyo_migration ORDER BY migration_id",
    "funções": "SELECT sha256 FROM migracoes.funcoes",
}


def esquema(dsn: str) -> str:
    """O esquema e os direitos, pelo pg_dump: tabelas, índices, restrições, funções, gatilhos, comentários."""
    feito = subprocess.run(
        [BINARIOS / "pg_dump", "--schema-only", f"--dbname={dsn}"],
        check=True, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    # O pg_dump recente abre e fecha com \restrict e um segredo sorteado.
    return re.sub(r"^\\(un)?restrict .*$", "", feito.stdout, flags=re.MULTILINE)


def fotografar(dsn: str) -> str:
    """O esquema, pelo pg_dump, e os dados que a instalação escreve."""
    with psycopg.connect(dsn) as conexao:
        dados = [f"{nome}: {conexao.execute(consulta).fetchall()}" for nome, consulta in _DADOS.items()]
    return "\n".join([esquema(dsn), *dados])
