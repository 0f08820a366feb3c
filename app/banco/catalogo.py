"""O que o catálogo do banco sabe das funções, visões e gatilhos dos esquemas do projeto."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import errors, sql

from app.banco.erros import ErroBanco

ESQUEMAS = ("core", "d6b", "d8")
PAPEIS = (
    *(f"{esquema}_dono" for esquema in ESQUEMAS),
    *(f"formigueiro_{papel}" for papel in ("app", "produtor", "dba", "leitura")),
)


@dataclass(frozen=True)
class Objeto:
    """Uma rotina, visão ou gatilho, tal como está: qualquer CREATE OR REPLACE lhe muda o xmin.

    O alvo, que é como os comandos o chamam, muda sem que ele mude: basta que um tipo seu ganhe outro nome.
    """

    especie: str
    oid: int
    xmin: str
    alvo: str = field(compare=False)


@dataclass(frozen=True)
class Direito:
    """O que um papel pode numa rotina ou visão; sem papel, PUBLIC."""

    especie: str
    oid: int
    alvo: str
    esquema: str
    papel: str | None
    privilegio: str
    repassa: bool
    do_projeto: bool


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

_ROTINAS_E_VISOES = """
    (SELECT 'ROUTINE', p.oid, p.oid::regprocedure::text, p.pronamespace, p.proname, p.proowner, p.proacl
       FROM pg_proc AS p
      UNION ALL
     SELECT 'VIEW', c.oid, c.oid::regclass::text, c.relnamespace, c.relname, c.relowner, c.relacl
       FROM pg_class AS c
      WHERE c.relkind = 'v') AS o (especie, oid, alvo, esquema, nome, dono, direitos)
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

    Os que dependem uns dos outros saem em voltas: em cada uma, os de que mais nenhum depende. Quase sempre basta uma,
    com as visões e os gatilhos antes das rotinas, e os novos antes dos velhos.
    """
    restantes = sorted(condenados, key=lambda objeto: (objeto.especie, objeto.oid), reverse=True)
    while restantes:
        presos: list[Objeto] = []
        for objeto in restantes:
            try:
                with conexao.transaction():
                    conexao.execute(f"DROP {objeto.especie} {objeto.alvo}")
            except errors.DependentObjectsStillExist as erro:
                presos.append(objeto)
                motivo = erro
        if len(presos) == len(restantes):
            raise ErroBanco(f"{motivo.diag.message_primary}: {motivo.diag.message_detail}") from motivo
        restantes = presos


def afastar(conexao: psycopg.Connection[Any], nomes: Collection[str]) -> set[tuple[str, int]]:
    """Dá outro nome às rotinas e visões destes nomes, que abrem o lugar e continuam a servir a quem já as chamava."""
    afastados = conexao.execute(
        f"""
        SELECT o.especie, o.oid,
               format('ALTER %%s %%s RENAME TO %%I',
                      o.especie, o.alvo, format('_afastada_%%s_%%s', o.oid, left(o.nome, 40)))
          FROM {_ROTINAS_E_VISOES}
         WHERE o.esquema::regnamespace || '.' || o.nome = ANY (%(nomes)s)
        """,
        {"nomes": list(nomes)},
    ).fetchall()
    for *_, comando in afastados:
        conexao.execute(comando)
    return {(especie, oid) for especie, oid, _ in afastados}


def direitos(conexao: psycopg.Connection[Any]) -> list[Direito]:
    """O que se pode nas rotinas e visões: o que os arquivos dão aos papéis do projeto, e o que um DBA deu a outros.

    Nas rotinas, os arquivos mandam também em PUBLIC, que nada pode.
    """
    linhas = conexao.execute(
        f"""
        SELECT o.especie, o.oid, o.alvo, o.esquema::regnamespace::text,
               r.rolname, a.privilege_type, a.is_grantable,
               CASE WHEN a.grantee = 0 THEN o.especie = 'ROUTINE' ELSE r.rolname = ANY (%s) END
          FROM {_ROTINAS_E_VISOES}
         -- Uma cópia sem os direitos tem os de nascença: PUBLIC executa.
         CROSS JOIN aclexplode(coalesce(o.direitos, acldefault(CASE o.especie WHEN 'VIEW' THEN 'r' ELSE 'f' END::"char",
                                                               o.dono))) AS a
          LEFT JOIN pg_roles AS r ON r.oid = a.grantee
         WHERE o.esquema::regnamespace::text = ANY (%s)
           AND a.grantee <> o.dono
           AND (a.grantee = 0 OR r.oid IS NOT NULL)
        """,
        [list(PAPEIS), list(ESQUEMAS)],
    )
    return [Direito(*linha) for linha in linhas]


def revogar(conexao: psycopg.Connection[Any], dados: Iterable[Direito]) -> None:
    """Tira das rotinas os que os arquivos dão de novo."""
    for esquema, papel in {(d.esquema, d.papel) for d in dados if d.do_projeto and d.especie == "ROUTINE"}:
        comando = sql.SQL("REVOKE ALL ON ALL ROUTINES IN SCHEMA {} FROM {}")
        _como_dono(conexao, esquema, comando.format(sql.Identifier(esquema), _quem(papel)))


def devolver(
    conexao: psycopg.Connection[Any],
    dados: Iterable[Direito],
    afastados: Collection[tuple[str, int]],
    sobras: Iterable[Objeto],
) -> None:
    """Dá de novo os das rotinas que sobram; e, ao que tomou o lugar de um afastado, o que um DBA tinha dado."""
    alvos = {objeto.oid: objeto.alvo for objeto in sobras if objeto.especie == "ROUTINE"}
    no_lugar = {(objeto.especie, objeto.alvo) for objeto in objetos(conexao)}
    for d in dados:
        if d.do_projeto:
            alvo = alvos.get(d.oid) if d.especie == "ROUTINE" else None
        else:
            alvo = d.alvo if (d.especie, d.oid) in afastados and (d.especie, d.alvo) in no_lugar else None
        if alvo:
            comando = sql.SQL("GRANT {} ON {} {} TO {}{}").format(
                sql.SQL(d.privilegio),
                sql.SQL("TABLE" if d.especie == "VIEW" else d.especie),
                sql.SQL(alvo),
                _quem(d.papel),
                sql.SQL(" WITH GRANT OPTION" if d.repassa else ""),
            )
            _como_dono(conexao, d.esquema, comando)


def _quem(papel: str | None) -> sql.Composable:
    return sql.SQL("PUBLIC") if papel is None else sql.Identifier(papel)


def _como_dono(conexao: psycopg.Connection[Any], esquema: str, comando: sql.Composable) -> None:
    dono = sql.Identifier(f"{esquema}_dono")
    conexao.execute(sql.SQL("SET LOCAL ROLE {}; {}; RESET ROLE").format(dono, comando))


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
