"""Migrações pelo yoyo, com o que falta a ele: passo e marca numa só transação, trava que morre com a sessão e
recusa de arquivo editado depois de aplicado."""

from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
from yoyo import read_migrations
from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend
from yoyo.connections import DatabaseURI, parse_uri
from yoyo.exceptions import BadMigration
from yoyo.migrations import Migration, MigrationList

from app.banco.erros import ErroBanco
from app.banco.insistir import ceder, insistir

ESQUEMA = "migracoes"

# O que nunca rodou, o app roda logo; mas o que ele chama só vem depois, com as funções.
_ADIAR = "UPDATE core.agendamentos SET ultima_execucao = clock_timestamp() WHERE nome <> ALL (%s)"

# E o que a fotografia espera achar pode ser o que a migração remove: até que se tire outra, não conta.
_ESQUECER = "DELETE FROM core.objetos WHERE especie IN ('relação', 'índice', 'restrição')"


class ErroMigracao(ErroBanco):
    """A migração não pode seguir; a mensagem diz o que fazer."""


class _Banco(PostgresqlPsycopgBackend):  # type: ignore[misc]
    """Backend do yoyo sobre a conexão de quem migra, e só nela: cada migração vale inteira ou não vale.

    A trava do yoyo é uma linha que uma queda deixa para trás; a de quem migra é da sessão, e basta.
    """

    def __init__(self, conexao: psycopg.Connection[Any]) -> None:
        self._de_quem_migra = conexao
        self.schema = ESQUEMA
        super().__init__(parse_uri("postgresql+psycopg://"), "_yoyo_migration")

    def connect(self, dburi: DatabaseURI) -> psycopg.Connection[Any]:
        return self._de_quem_migra

    @contextmanager
    def copy(self) -> Iterator["_Banco"]:
        yield self

    @contextmanager
    def lock(self, timeout: float = 10) -> Iterator[None]:
        yield

    def log_migration(self, migration: Migration, operation: str) -> None:
        """Nada: o registro do yoyo pede o nome da máquina ao DNS, e o que e quando já estão na marca."""

    def apply_one(self, migration: Migration, force: bool = False, mark: bool = True) -> None:
        with self.transaction():
            ceder(self._de_quem_migra)
            agendados = _agendados(self._de_quem_migra)
            super().apply_one(migration, force, mark)
            if agendados:
                self._de_quem_migra.execute(_ADIAR, [agendados])
            if self._de_quem_migra.execute("SELECT to_regclass('core.objetos')").fetchone() != (None,):
                self._de_quem_migra.execute(_ESQUECER)
            self.execute(
                f"INSERT INTO {ESQUEMA}.conteudo (migration_id, sha256) VALUES (:id, :sha256)",
                {"id": migration.id, "sha256": _impressao(migration)},
            )


def aplicar(conexao: psycopg.Connection[Any], pasta: Path) -> list[str]:
    """Aplica o que falta de `pasta` e devolve os nomes aplicados; quem chama segura a trava de migrar.

    Levanta ErroMigracao se um arquivo já aplicado mudou ou sumiu: o banco e a pasta não contariam a mesma história.
    """
    _preparar(conexao)
    migracoes = read_migrations(escape(str(pasta)))
    if not migracoes:
        raise ErroMigracao(f"não há migrações em {pasta}")
    _recusar_editadas(conexao, migracoes)
    banco = _Banco(conexao)
    try:
        pendentes = banco.to_apply(migracoes)
    except BadMigration as erro:
        raise ErroMigracao(f"migração malformada: {erro}") from None
    for migracao in pendentes:
        if not migracao.use_transactions:
            raise ErroMigracao(f"a migração {migracao.id} pede para correr fora de transação, e não seria retomável")
        try:
            insistir(banco.apply_one, migracao)
        except psycopg.Error as erro:
            raise ErroMigracao(f"a migração {migracao.id} falhou: {str(erro).splitlines()[0]}") from erro
    return [str(migracao.id) for migracao in pendentes]


def _agendados(conexao: psycopg.Connection[Any]) -> list[str]:
    """Os agendamentos de um banco que já está no ar; vazio numa instalação."""
    linha = conexao.execute("SELECT to_regclass('migracoes.funcoes') IS NOT NULL").fetchone()
    no_ar = linha is not None and linha[0]
    return [nome for (nome,) in conexao.execute("SELECT nome FROM core.agendamentos")] if no_ar else []


def _preparar(conexao: psycopg.Connection[Any]) -> None:
    conexao.execute(
        f"""
        SET client_min_messages = warning;
        CREATE SCHEMA IF NOT EXISTS {ESQUEMA};
        CREATE TABLE IF NOT EXISTS {ESQUEMA}.conteudo (
            migration_id text PRIMARY KEY,
            sha256       text NOT NULL
        )
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
