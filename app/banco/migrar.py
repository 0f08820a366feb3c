"""`migrar`: o único jeito de instalar. Idempotente, e retomável depois de uma queda em qualquer ponto."""

from contextlib import ExitStack
from typing import Any

import psycopg
from msgspec import Struct

from app.banco import direitos, esquemas, funcoes, migracao, parametros, pg_cron, pool, trava
from app.banco.erros import EmRecuperacao, ErroBanco
from app.banco.insistir import ceder, ceder_cedo, insistir
from app.banco.recursos import EVENTOS, FUNCOES, MIGRACOES
from app.banco.sessao import ajustar, com_espera

VERSAO_MINIMA = 150000

_ABERTO = (
    "qualquer login pode tomar travas consultivas e criar objetos grandes neste banco, e só o superusuário o impede:"
    " ver docs/como-fazer/sem-superusuario.md"
)


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
    Quem vem depois só entra quando a sessão em que tudo corre terminou, ainda que o processo tenha morrido.
    `ajustados` vai por cima dos padrões de core.parametros; `simulacao` permite mexer no relógio da rede.
    """
    with psycopg.connect(com_espera(dsn), autocommit=True) as conexao, ExitStack() as vez:
        _conferir_servidor(conexao)
        pool.exigir_sessao(conexao, dsn)  # antes dos ajustes, que ficariam na sessão do pool
        ajustar(conexao)
        conexao.execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0")
        vez.enter_context(trava.tomada(dsn, conexao))
        ceder_cedo(conexao)
        direitos.exigir_inteiro(conexao)
        direitos.reaver(conexao, MIGRACOES)
        aplicadas = migracao.aplicar(conexao, MIGRACOES)
        if danificados := direitos.danificados(conexao):
            direitos.reafirmar(conexao, MIGRACOES)
        instaladas = funcoes.instalar(conexao, FUNCOES, de_novo=danificados)
        carregados = insistir(esquemas.carregar, conexao, EVENTOS)
        parametros.gravar(conexao, ajustados or {})
        conexao.execute("SELECT core.marcar_simulacao(%s)", [simulacao])
        conexao.execute("SELECT d6b.semear_cursores(), d8.semear_cursores()")
        insistir(_acertar_sequencia, conexao)
        no_cron = pg_cron.sincronizar(conexao, dsn)
        parametros.ajustar(conexao, {"agenda_no_pg_cron": no_cron})
        conexao.execute("SELECT core.conferir_assinatura(), core.fotografar_objetos()")
        fechado = insistir(_fechar_ao_publico, conexao)
        avisos = pg_cron.avisos(conexao, no_cron) + ([] if fechado else [_ABERTO])
    return Instalado(aplicadas, instaladas, carregados, no_cron, avisos)


def _fechar_ao_publico(conexao: psycopg.Connection[Any]) -> bool:
    return conexao.execute("SELECT core.fechar_ao_publico()").fetchone() == (True,)


def _acertar_sequencia(conexao: psycopg.Connection[Any]) -> None:
    with conexao.transaction():
        ceder(conexao)
        conexao.execute("SELECT core.acertar_sequencia()")


def _conferir_servidor(conexao: psycopg.Connection[Any]) -> None:
    if conexao.info.server_version < VERSAO_MINIMA:
        raise ErroBanco("o servidor precisa ser PostgreSQL 15 ou mais novo")
    if conexao.info.parameter_status("server_encoding") != "UTF8":
        raise ErroBanco(f"o banco {conexao.info.dbname} precisa ter codificação UTF8: os nomes dos eventos têm acentos")
    if conexao.execute("SELECT pg_is_in_recovery()").fetchone() == (True,):
        raise EmRecuperacao("o banco está em recuperação (uma réplica?): só se migra o primário")
