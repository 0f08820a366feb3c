"""O banco em que um comando trabalha: o de DATABASE_URL, ou o embutido, ligado enquanto o comando durar."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
from msgspec import Struct
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict

from app.ajustes import Ajustes, ErroAjuste
from app.banco.cluster import Cluster
from app.banco.embutido import cluster_embutido
from app.banco.erros import ErroBanco
from app.banco.migrar import Instalado, migrar
from app.banco.sessao import conectar

BANCO = "formigueiro"
PAPEL_DO_APP = "formigueiro_app"


class Ambiente(Struct, frozen=True):
    """Onde trabalhar: `dsn` para o app, `dsn_admin` para migrar e operar."""

    ajustes: Ajustes
    dsn: str
    dsn_admin: str

    def migrar(self) -> Instalado:
        """Deixa o banco pronto; o embutido é de desenvolvimento, e seu relógio pode ser simulado."""
        return migrar(self.dsn_admin, self.ajustes.parametros(), simulacao=self.ajustes.embutido)


@contextmanager
def abrir(ajustes: Ajustes, criar: bool = False) -> Iterator[Ambiente]:
    """O ambiente dos ajustes. Sem `criar`, um banco embutido que ainda não existe é um erro."""
    if ajustes.database_url is not None:
        dsn = _conferida("DATABASE_URL", ajustes.database_url)
        yield Ambiente(ajustes, dsn, _conferida("DATABASE_URL_MIGRACAO", ajustes.database_url_migracao or dsn))
        return
    cluster = cluster_embutido(ajustes.formigueiro_dados)
    if not criar and not cluster.dados.exists():
        raise ErroBanco(f"não há banco embutido em {cluster.pasta}: crie-o com make run, ou defina DATABASE_URL")
    with cluster:
        _criar_banco(cluster)
        yield Ambiente(ajustes, cluster.endereco.dsn(BANCO, PAPEL_DO_APP), cluster.endereco.dsn(BANCO))


def _conferida(ajuste: str, dsn: str) -> str:
    try:
        conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:  # a mensagem original repetiria a senha
        raise ErroAjuste(f"{ajuste}: não é uma URL nem uma cadeia de conexão do PostgreSQL") from None
    return dsn


def _criar_banco(cluster: Cluster) -> None:
    with conectar(cluster.endereco.dsn("postgres")) as conexao:
        if conexao.execute("SELECT FROM pg_database WHERE datname = %s", [BANCO]).fetchone() is None:
            with suppress(errors.DuplicateDatabase, errors.UniqueViolation):  # outro processo chegou antes
                conexao.execute(f"CREATE DATABASE {BANCO}")
