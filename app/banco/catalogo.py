"""O que o catálogo do banco sabe das funções, visões e gatilhos dos esquemas do projeto."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import errors, sql

from app.banco.erros import ErroBanco

ESQUEMAS = ("core", "d6b", "d8")


@dataclass(frozen=True)
class Objeto:
    """Uma rotina, visão ou gatilho, tal como está: qualquer CREATE OR REPLACE lhe muda o xmin."""

    especie: str
    oid: int
    xmin: str
    alvo: str


@dataclass(frozen=True)
class Direito:
    """EXECUTE que um papel tem numa rotina; "-" é PUBLIC."""

    oid: int
    esquema: str
    papel: str


# O que sql/functions define. O xmin é comparado por igualdade, nunca por idade: assim não importa se a linha foi
# congelada, nem se a contagem de transações já deu a volta.
_OBJETOS = """
    SELECT 'TRIGGER', t.oid, t.xmin::text, format('%%I ON %%s', t.tgname, t.tgrelid::regclass)
      FROM pg_trigger AS t
      JOIN pg_class AS c ON c.oid = t.tgrelid
     WHERE c.relnamespace::regnamespace::text = ANY (%(esquemas)s)
       AND NOT t.tgisinternal
    UNION ALL
    SELECT 'VIEW', c.oid, r.xmin::text, c.oid::regclass::text
      FROM pg_rewrite AS r
      JOIN pg_class AS c ON c.oid = r.ev_class AND c.relkind = 'v'
     WHERE c.relnamespace::regnamespace::text = ANY (%(esquemas)s)
    UNION ALL
    SELECT 'ROUTINE', p.oid, p.xmin::text, p.oid::regprocedure::text
      FROM pg_proc AS p
     WHERE p.pronamespace::regnamespace::text = ANY (%(esquemas)s)
"""


def travar(conexao: psycopg.Connection[Any]) -> None:
    """Toma de uma vez, e antes de tudo, as travas que os gatilhos vão pedir.

    Os despachantes param entre dois lotes; das tabelas, o log vai por último, como em quem trabalha, e assim quem
    publica espera menos. Tomá-las no meio da instalação fecharia impasses com quem já segura algumas.
    """
    conexao.execute("SELECT FROM core.consumidores ORDER BY ordem FOR UPDATE")
    tabelas = conexao.execute(
        """
        SELECT DISTINCT t.tgrelid::regclass::text, c.relnamespace::regnamespace = 'core'::regnamespace
          FROM pg_trigger AS t
          JOIN pg_class AS c ON c.oid = t.tgrelid
         WHERE c.relnamespace::regnamespace::text = ANY (%s)
           AND NOT t.tgisinternal
         ORDER BY 2, 1 DESC
        """,
        [list(ESQUEMAS)],
    ).fetchall()
    for (tabela, _) in tabelas:
        conexao.execute(sql.SQL("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE").format(sql.SQL(tabela)))


def objetos(conexao: psycopg.Connection[Any]) -> set[Objeto]:
    """Todas as rotinas, visões e gatilhos dos esquemas do projeto."""
    return {Objeto(*linha) for linha in conexao.execute(_OBJETOS, {"esquemas": list(ESQUEMAS)})}


def remover(conexao: psycopg.Connection[Any], condenados: Iterable[Objeto]) -> None:
    """Remove objetos, sem CASCADE: se uma tabela depende de um deles, é melhor que falhe.

    Cada espécie vai num comando só, pois os de uma mesma espécie podem depender uns dos outros.
    """
    por_especie: dict[str, list[str]] = {"TRIGGER": [], "VIEW": [], "ROUTINE": []}
    for objeto in condenados:
        por_especie[objeto.especie].append(objeto.alvo)
    comandos = [f"DROP TRIGGER {alvo}" for alvo in por_especie.pop("TRIGGER")]
    comandos += [f"DROP {especie} {', '.join(alvos)}" for especie, alvos in por_especie.items() if alvos]
    for comando in comandos:
        try:
            conexao.execute(comando)
        except errors.DependentObjectsStillExist as erro:
            raise ErroBanco(f"{erro.diag.message_primary}: {erro.diag.message_detail}") from erro


def afastar(conexao: psycopg.Connection[Any], nomes: Collection[str]) -> set[int]:
    """Dá outro nome às rotinas e visões destes nomes, que abrem o lugar e continuam a servir a quem já as chamava."""
    afastados = conexao.execute(
        """
        SELECT p.oid, format('ALTER ROUTINE %%s RENAME TO _afastada_%%s', p.oid::regprocedure, p.oid)
          FROM pg_proc AS p
         WHERE p.pronamespace::regnamespace || '.' || p.proname = ANY (%(nomes)s)
        UNION ALL
        SELECT c.oid, format('ALTER VIEW %%s RENAME TO _afastada_%%s', c.oid::regclass, c.oid)
          FROM pg_class AS c
         WHERE c.relkind = 'v'
           AND c.relnamespace::regnamespace || '.' || c.relname = ANY (%(nomes)s)
        """,
        {"nomes": list(nomes)},
    ).fetchall()
    for _, comando in afastados:
        conexao.execute(comando)
    return {oid for oid, _ in afastados}


def direitos(conexao: psycopg.Connection[Any]) -> list[Direito]:
    """O que os papéis do projeto, e não os que um DBA acrescentou, podem executar."""
    linhas = conexao.execute(
        """
        SELECT p.oid, p.pronamespace::regnamespace::text, a.grantee::regrole::text
          FROM pg_proc AS p
         CROSS JOIN aclexplode(p.proacl) AS a
         WHERE p.pronamespace::regnamespace::text = ANY (%s)
           AND a.grantee <> p.proowner
           AND a.grantee::regrole::text ~ '^(-|formigueiro_.*|(core|d6b|d8)_dono)$'
        """,
        [list(ESQUEMAS)],
    )
    return [Direito(*linha) for linha in linhas]


def revogar(conexao: psycopg.Connection[Any], dados: Iterable[Direito]) -> None:
    """Tira-os: os arquivos dão de novo."""
    for esquema, papel in {(direito.esquema, direito.papel) for direito in dados}:
        _como_dono(conexao, esquema, "REVOKE ALL ON ALL ROUTINES IN SCHEMA {} FROM {}", sql.Identifier(esquema), papel)


def devolver(conexao: psycopg.Connection[Any], dados: Iterable[Direito], sobras: Iterable[Objeto]) -> None:
    """Dá de novo os direitos das rotinas que sobram."""
    alvos = {objeto.oid: sql.SQL(objeto.alvo) for objeto in sobras if objeto.especie == "ROUTINE"}
    for direito in dados:
        if alvo := alvos.get(direito.oid):
            _como_dono(conexao, direito.esquema, "GRANT EXECUTE ON ROUTINE {} TO {}", alvo, direito.papel)


def _como_dono(
    conexao: psycopg.Connection[Any], esquema: str, comando: LiteralString, alvo: sql.Composable, papel: str
) -> None:
    quem = sql.SQL("PUBLIC") if papel == "-" else sql.Identifier(papel)
    conexao.execute(
        sql.SQL("SET LOCAL ROLE {}; {}; RESET ROLE").format(
            sql.Identifier(f"{esquema}_dono"), sql.SQL(comando).format(alvo, quem)
        )
    )


def validadores(conexao: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    """De cada rotina, o nome e o comando que confere o corpo dela."""
    return conexao.execute(
        """
        SELECT p.pronamespace::regnamespace || '.' || p.proname,
               format('SELECT %%s(%%s)', l.lanvalidator::regproc, p.oid)
          FROM pg_proc AS p
          JOIN pg_language AS l ON l.oid = p.prolang
         WHERE p.pronamespace::regnamespace::text = ANY (%s)
           AND l.lanname IN ('plpgsql', 'sql')
         ORDER BY 1
        """,
        [list(ESQUEMAS)],
    ).fetchall()
