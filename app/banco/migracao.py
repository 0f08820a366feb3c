"""Migrações pelo yoyo, com o que falta a ele: passo e marca numa só transação, trava que morre com a sessão e
recusa de arquivo editado depois de aplicado."""

from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict
from yoyo import read_migrations
from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend
from yoyo.connections import parse_uri
from yoyo.migrations import Migration, MigrationList

ESQUEMA = "migracoes"
TRAVA_MIGRAR = 8_130_924_42  # mesma chave para todos os processos que migram este banco


class ErroMigracao(RuntimeError):
    """A migração não pode seguir; a mensagem diz o que fazer."""


class _Banco(PostgresqlPsycopgBackend):  # type: ignore[misc]
    """Backend do yoyo numa conexão só: `copy` não abre outra, e cada migração vale inteira ou não vale."""

    @contextmanager
    def copy(self) -> Iterator["_Banco"]:
        yield self

    @contextmanager
    def lock(self, timeout: float = 10) -> Iterator[None]:
        # `aplicar` já segura a trava de sessão, que um kill -9 solta; a linha de trava do yoyo ficaria para trás.
        yield

    def apply_one(self, migration: Migration, force: bool = False, mark: bool = True) -> None:
        with self.transaction():
            super().apply_one(migration, force, mark)
            self.execute(
                f"INSERT INTO {ESQUEMA}.conteudo (migration_id, sha256) VALUES (:id, :sha256)",
                {"id": migration.id, "sha256": _impressao(migration)},
            )


def aplicar(dsn: str, pasta: Path) -> list[str]:
    """Aplica o que falta de `pasta` e devolve os nomes aplicados.

    Levanta ErroMigracao se um arquivo já aplicado mudou ou sumiu: o banco e a pasta não contariam a mesma história.
    """
    with psycopg.connect(dsn, autocommit=True) as conexao:
        conexao.execute("SELECT pg_advisory_lock(%s)", [TRAVA_MIGRAR])
        _preparar(conexao)
        with _Banco(parse_uri(_uri_yoyo(dsn)), "_yoyo_migration") as banco:
            banco.init_database()
            migracoes = read_migrations(str(pasta))
            _recusar_editadas(conexao, migracoes)
            pendentes = banco.to_apply(migracoes)
            banco.apply_migrations_only(pendentes)
            return [str(migracao.id) for migracao in pendentes]


def _preparar(conexao: psycopg.Connection[Any]) -> None:
    conexao.execute(
        f"""
        SET client_min_messages = warning;
        CREATE SCHEMA IF NOT EXISTS {ESQUEMA};
        CREATE TABLE IF NOT EXISTS {ESQUEMA}.conteudo (
            migration_id text PRIMARY KEY,
            sha256       text NOT NULL
        );
        RESET client_min_messages
        """
    )


def _recusar_editadas(conexao: psycopg.Connection[Any], migracoes: MigrationList) -> None:
    aplicadas: dict[str, str] = dict(conexao.execute(f"SELECT migration_id, sha256 FROM {ESQUEMA}.conteudo").fetchall())
    arquivos = {str(migracao.id): _impressao(migracao) for migracao in migracoes}
    for nome, impressao in sorted(aplicadas.items()):
        if nome not in arquivos:
            raise ErroMigracao(f"a migração {nome}, já aplicada, não está mais em sql/migrations: restaure o arquivo")
        if arquivos[nome] != impressao:
            raise ErroMigracao(
                f"a migração {nome} foi editada depois de aplicada: desfaça a edição e escreva uma migração nova"
            )


def _impressao(migracao: Migration) -> str:
    return sha256(Path(migracao.path).read_bytes()).hexdigest()


def _uri_yoyo(dsn: str) -> str:
    """DSN do libpq na forma de URI que o yoyo entende; tudo vai como parâmetro, para servir também a soquetes."""
    partes = {nome: str(valor) for nome, valor in conninfo_to_dict(dsn).items() if valor is not None}
    banco = partes.pop("dbname", "")
    consulta = "&".join(f"{nome}={quote(valor, safe='')}" for nome, valor in {**partes, "schema": ESQUEMA}.items())
    return f"postgresql+psycopg:///{quote(banco, safe='')}?{consulta}"
