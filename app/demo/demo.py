"""A demonstração: toca a cidade de exemplo, dia a dia, num banco de simulação, e confere como acabou."""

import asyncio
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from app.banco.erros import ErroBanco
from app.banco.recursos import EXEMPLOS
from app.banco.sessao import conectar, conectar_async
from app.demo import conferencias, linha, roteiro
from app.pecas.denylist import Denylist
from app.trabalhador.trabalhador import esvaziar

VARREDURA = time(5, tzinfo=UTC)


def tocar(dsn_admin: str, dsn_app: str, denylist: Denylist) -> int:
    """Toca a demonstração inteira, imprime a linha do tempo e as conferências; devolve 0 se tudo saiu como devia.

    `dsn_app` despacha, varre e publica textos, como o serviço faria; os eventos das outras colônias são publicados
    pelo papel de produtor; `dsn_admin` só prepara e lê.
    """
    peca = roteiro.ler(EXEMPLOS / "cidade.jsonl")
    with conectar(dsn_admin) as admin:
        if admin.execute("SELECT FROM core.relogio WHERE simulacao").fetchone() is None:
            raise ErroBanco("a demonstração só toca num banco de simulação, como o embutido")
        if not vazio(admin):
            raise ErroBanco("o banco já tem eventos: a demonstração só toca num banco vazio")
        _autorizar_produtores(admin)
        _marcar(admin, completa=False)
        asyncio.run(_tocar(peca, admin, make_conninfo(dsn_admin, user="formigueiro_produtor"), dsn_app, denylist))
        _marcar(admin, completa=True)
        linha.imprimir(admin, peca.cidade)
        return conferencias.imprimir(admin, peca.cidade)


def vazio(admin: psycopg.Connection[Any]) -> bool:
    """Se o banco ainda não tem evento nenhum."""
    return admin.execute("SELECT WHERE core.obter_maior_sequence() = 0").fetchone() is not None


def interrompida(admin: psycopg.Connection[Any]) -> bool:
    """Se uma demonstração começou neste banco e não chegou ao fim."""
    return admin.execute("SELECT WHERE core.parametro('demonstracao_completa') = 'false'").fetchone() is not None


def _marcar(admin: psycopg.Connection[Any], completa: bool) -> None:
    admin.execute(
        """
        INSERT INTO core.parametros (nome, valor, descricao)
        VALUES ('demonstracao_completa', %s, 'Se a demonstração tocada neste banco chegou ao fim')
            ON CONFLICT (nome) DO UPDATE SET valor = EXCLUDED.valor
        """,
        [Jsonb(completa)],
    )


def _autorizar_produtores(admin: psycopg.Connection[Any]) -> None:
    admin.execute(
        """
        INSERT INTO core.produtores (papel, colonia)
        SELECT 'formigueiro_produtor', c.colonia
          FROM unnest(ARRAY['D-1a', 'D-1b', 'D-6a', 'D-12']) AS c (colonia)
            ON CONFLICT DO NOTHING
        """
    )


async def _tocar(
    peca: roteiro.Roteiro, admin: psycopg.Connection[Any], dsn_produtor: str, dsn_app: str, denylist: Denylist
) -> None:
    fuso = ZoneInfo(_fuso(admin))
    primeiro = datetime.now(fuso).date() - timedelta(days=peca.cidade.dias)
    async with (
        await conectar_async(dsn_app) as app,
        await conectar_async(dsn_produtor) as produtor,
    ):
        try:
            for dia in range(peca.cidade.dias):
                await _amanhecer(admin, app, primeiro + timedelta(days=dia))
                for cena in peca.do_dia(dia):
                    await _encenar(peca.cidade, cena, cena.quando(primeiro, fuso), admin, app, produtor)
                await esvaziar(app, denylist)
        finally:
            admin.execute("SELECT core.definir_relogio(NULL)")


async def _amanhecer(admin: psycopg.Connection[Any], app: AsyncConnection[Any], dia: date) -> None:
    """De madrugada correm as varreduras, como o pg_cron faria."""
    admin.execute("SELECT core.definir_relogio(%s)", [datetime.combine(dia, VARREDURA)])
    await app.execute("SELECT d6b.verificar_prazos_proximos()")
    await app.execute("CALL d8.executar_varredura()")


async def _encenar(
    cidade: roteiro.Cidade,
    cena: roteiro.Cena,
    agora: datetime,
    admin: psycopg.Connection[Any],
    app: AsyncConnection[Any],
    produtor: AsyncConnection[Any],
) -> None:
    admin.execute("SELECT core.definir_relogio(%s)", [agora])
    payload = roteiro.situar(
        cena, agora, lambda demanda, ciclo: _demanda_de_manutencao(admin, cidade.demandas[demanda].id, ciclo)
    )
    if cena.tipo == "ratificar":
        await app.execute("SELECT d6b.ratificar_conclusao(%(demanda_id)s, %(cidadao_id)s)", payload)
        return
    await produtor.execute(
        "SELECT core.publicar(%s, %s, %s, %s, coalesce(%s, gen_random_uuid()), %s)",
        [cena.tipo, Jsonb(payload), cena.origem, cena.versao_schema, cena.event_id, cena.correlacao_id],
    )
    await app.execute("CALL core.despachar()")


def _demanda_de_manutencao(admin: psycopg.Connection[Any], original: str, ciclo: int) -> str:
    """A demanda que a D-8 gerou para um ciclo: seu id é sorteado, e o roteiro o conhece só pelo número."""
    gerada = admin.execute(
        """
        SELECT h.demanda_manutencao_id
          FROM d8.historico_manutencoes AS h
          JOIN d8.projetos_monitorados AS p ON p.id = h.projeto_id
         WHERE p.demanda_original_id = %s
           AND h.ciclo_numero = %s
        """,
        [original, ciclo],
    ).fetchone()
    if gerada is None:
        raise LookupError(f"o ciclo {ciclo} da demanda {original} não foi gerado a tempo")
    return str(gerada[0])


def _fuso(admin: psycopg.Connection[Any]) -> str:
    valor = admin.execute("SELECT core.parametro('fuso_horario') #>> '{}'").fetchone()
    assert valor is not None
    return str(valor[0])
