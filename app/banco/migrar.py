"""`migrar`: o único jeito de instalar. Idempotente, e retomável depois de uma queda em qualquer ponto."""

from typing import Any

import psycopg
from msgspec import Struct

from app.banco import esquemas, funcoes, migracao, parametros, pg_cron, trava
from app.banco.erros import ErroBanco
from app.banco.insistir import ceder_cedo, insistir
from app.banco.recursos import EVENTOS, FUNCOES, MIGRACOES
from app.banco.sessao import conectar

VERSAO_MINIMA = 150000


class Instalado(Struct, frozen=True):
    """O que uma execução de `migrar` fez."""

    migracoes: list[str]
    funcoes: bool
    esquemas: int
    pg_cron: bool
    avisos: list[str]


def migrar(dsn: str, ajustados: dict[str, object] | None = None, simulacao: bool = False) -> Instalado:
    """Deixa o banco pronto: migrações, funções, esquemas de eventos, parâmetros, cursores e agenda.

    Cada etapa é atômica e repetível, e todas são refeitas a cada chamada: não há estado intermediário a consertar.
    Tudo corre na sessão que segura a trava: se o processo morre, quem vem depois só entra quando ela terminou.
    `ajustados` vai por cima dos padrões de core.parametros; `simulacao` permite mexer no relógio da rede.
    """
    with conectar(dsn) as conexao:
        _conferir_servidor(conexao)
        conexao.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
        trava.tomar(conexao)
        ceder_cedo(conexao)
        aplicadas = migracao.aplicar(conexao, MIGRACOES)
        instaladas = funcoes.instalar(conexao, FUNCOES)
        carregados = insistir(esquemas.carregar, conexao, EVENTOS)
        parametros.gravar(conexao, ajustados or {})
        conexao.execute("SELECT core.marcar_simulacao(%s)", [simulacao])
        conexao.execute("SELECT d6b.semear_cursores(), d8.semear_cursores()")
        no_cron = pg_cron.sincronizar(conexao, dsn)
        parametros.ajustar(conexao, {"agenda_no_pg_cron": no_cron})
        avisos = pg_cron.avisos(conexao, no_cron)
    return Instalado(aplicadas, instaladas, carregados, no_cron, avisos)


def _conferir_servidor(conexao: psycopg.Connection[Any]) -> None:
    if conexao.info.server_version < VERSAO_MINIMA:
        raise ErroBanco("o servidor precisa ser PostgreSQL 15 ou mais novo")
    if conexao.info.parameter_status("server_encoding") != "UTF8":
        raise ErroBanco(f"o banco {conexao.info.dbname} precisa ter codificação UTF8: os nomes dos eventos têm acentos")
