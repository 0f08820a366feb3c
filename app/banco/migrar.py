"""`migrar`: o único jeito de instalar. Idempotente, e retomável depois de uma queda em qualquer ponto."""

import psycopg
from msgspec import Struct

from app.banco import esquemas, funcoes, migracao, parametros, pg_cron
from app.banco.recursos import EVENTOS, FUNCOES, MIGRACOES


class Instalado(Struct, frozen=True):
    """O que uma execução de `migrar` fez."""

    migracoes: list[str]
    funcoes: bool
    esquemas: int
    pg_cron: bool


def migrar(dsn: str, ajustados: dict[str, object] | None = None, simulacao: bool = False) -> Instalado:
    """Deixa o banco pronto: migrações, funções, esquemas de eventos, parâmetros, cursores e agenda.

    Cada etapa é atômica e repetível, e todas são refeitas a cada chamada: não há estado intermediário a consertar.
    `ajustados` vai por cima dos padrões de core.parametros; `simulacao` permite mexer no relógio da rede.
    """
    aplicadas = migracao.aplicar(dsn, MIGRACOES)
    with psycopg.connect(dsn, autocommit=True) as conexao:
        conexao.execute("SELECT pg_advisory_lock(%s)", [migracao.TRAVA_MIGRAR])
        instaladas = funcoes.instalar(conexao, FUNCOES)
        carregados = esquemas.carregar(conexao, EVENTOS)
        parametros.gravar(conexao, ajustados or {})
        if simulacao:
            conexao.execute("UPDATE core.relogio SET simulacao = true WHERE NOT simulacao")
        conexao.execute("SELECT d6b.semear_cursores(), d8.semear_cursores()")
        no_cron = pg_cron.sincronizar(conexao, dsn)
    return Instalado(aplicadas, instaladas, carregados, no_cron)
