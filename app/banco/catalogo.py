"""O que o catálogo do banco sabe das funções, visões e gatilhos dos esquemas do projeto."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

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


def remover_por_nome(conexao: psycopg.Connection[Any], nomes: Collection[str]) -> None:
    """Remove as rotinas e visões destes nomes, com os gatilhos e visões que dependem delas."""
    dependentes = {
        oid
        for (oid,) in conexao.execute(
            """
            WITH RECURSIVE d (oid) AS (
                SELECT p.oid FROM pg_proc AS p
                 WHERE p.pronamespace::regnamespace || '.' || p.proname = ANY (%(nomes)s)
                UNION
                SELECT c.oid FROM pg_class AS c
                 WHERE c.relkind = 'v' AND c.relnamespace::regnamespace || '.' || c.relname = ANY (%(nomes)s)
                UNION
                SELECT coalesce(r.ev_class, g.objid)
                  FROM d
                  JOIN pg_depend AS g ON g.refobjid = d.oid AND g.deptype = 'n'
                  LEFT JOIN pg_rewrite AS r ON g.classid = 'pg_rewrite'::regclass AND r.oid = g.objid
                 WHERE g.classid IN ('pg_rewrite'::regclass, 'pg_trigger'::regclass)
            )
            SELECT d.oid FROM d
            """,
            {"nomes": list(nomes)},
        )
    }
    remover(conexao, [objeto for objeto in objetos(conexao) if objeto.oid in dependentes])


def revogar_direitos(conexao: psycopg.Connection[Any]) -> None:
    """Tira dos papéis do projeto (não dos que um DBA acrescentou) o que têm nas rotinas: os arquivos dão de novo."""
    alheios = conexao.execute(
        """
        SELECT DISTINCT p.pronamespace::regnamespace::text, a.grantee::regrole::text
          FROM pg_proc AS p
         CROSS JOIN aclexplode(p.proacl) AS a
         WHERE p.pronamespace::regnamespace::text = ANY (%s)
           AND a.grantee <> p.proowner
           AND a.grantee::regrole::text ~ '^(-|formigueiro_.*|(core|d6b|d8)_dono)$'
        """,
        [list(ESQUEMAS)],
    ).fetchall()
    for esquema, papel in alheios:
        conexao.execute(
            sql.SQL("SET LOCAL ROLE {}; REVOKE ALL ON ALL ROUTINES IN SCHEMA {} FROM {}; RESET ROLE").format(
                sql.Identifier(f"{esquema}_dono"),
                sql.Identifier(esquema),
                sql.SQL("PUBLIC") if papel == "-" else sql.Identifier(papel),
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
