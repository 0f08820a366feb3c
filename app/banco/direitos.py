"""Papéis, donos e direitos, que uma restauração parcial (--no-owner, --no-acl, -n) deixa para trás.

Quem os dá são as migrações, que não rodam duas vezes: aqui repetem-se os comandos delas que os dão, e só esses. Os das
funções e visões, dão-nos os arquivos delas.
"""

import re
from pathlib import Path
from typing import Any

import psycopg
from psycopg import errors, sql

from app.banco.catalogo import ESQUEMAS, PAPEIS
from app.banco.erros import ErroBanco
from app.banco.insistir import ceder, insistir

# De cada esquema, a migração desde a qual tem tabelas; registro só tem funções, geradas depois.
_COM_TABELAS = {
    "core": "core_0002_registro",
    "d6b": "20260813092442_create_d6b_tables",
    "d8": "V002_create_projetos_monitorados",
}
_COMO = "restaure o banco inteiro, num banco vazio (docs/como-fazer/copiar-e-restaurar.md)"

# Nas migrações, tudo o que dá papéis e direitos começa a linha, e pode ser repetido.
_DAO = re.compile(
    r"^(?:DO \$(papeis|conectar)\$.*?^\$\1\$|(?:GRANT|REVOKE|ALTER DEFAULT PRIVILEGES)\b[^;]*);",
    re.MULTILINE | re.DOTALL,
)
_PAPEIS = "DO $papeis$"
# E o que elas dão de outro modo: a quem lê, junto com o papel; nos validadores, quem os gera.
_ALEM = """
    GRANT CONNECT ON DATABASE {banco} TO formigueiro_leitura;
    REVOKE ALL ON ALL FUNCTIONS IN SCHEMA registro FROM PUBLIC;
    GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA registro TO d6b_dono, d8_dono
"""

# Os esquemas primeiro: o novo dono de uma tabela precisa poder criar no esquema dela. A sequência de uma coluna segue a
# tabela.
_DE_OUTRO_DONO = """
    WITH esquemas AS (
        SELECT n.oid, n.nspname, n.nspowner,
               CASE n.nspname WHEN 'registro' THEN 'core' ELSE n.nspname END || '_dono' AS dono
          FROM pg_namespace AS n
         WHERE n.nspname = ANY (%(esquemas)s)
    )
    SELECT format('ALTER %%s %%s OWNER TO %%I', o.especie, o.alvo, o.dono), o.alvo, pg_get_userbyid(o.atual)
      FROM (SELECT 1, 'SCHEMA', quote_ident(e.nspname), e.dono, e.nspowner FROM esquemas AS e
             UNION ALL
            SELECT 2, CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
                   format('%%I.%%I', e.nspname, c.relname), e.dono, c.relowner
              FROM esquemas AS e
              JOIN pg_class AS c ON c.relnamespace = e.oid AND c.relkind IN ('r', 'v', 'S')
             WHERE NOT EXISTS (SELECT FROM pg_depend AS d
                                WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')
                                  AND c.relkind = 'S')
             UNION ALL
            SELECT 3, 'ROUTINE',
                   format('%%I.%%I(%%s)', e.nspname, p.proname, pg_get_function_identity_arguments(p.oid)), e.dono,
                   p.proowner
              FROM esquemas AS e
              JOIN pg_proc AS p ON p.pronamespace = e.oid) AS o (ordem, especie, alvo, dono, atual)
     WHERE pg_get_userbyid(o.atual) <> o.dono
     ORDER BY o.ordem, o.alvo
"""


def exigir_inteiro(conexao: psycopg.Connection[Any]) -> None:
    """Levanta ErroBanco se só uma parte do banco foi restaurada: o que falta não se refaz aqui."""
    esquemas = dict(
        conexao.execute(
            "SELECT n.nspname, EXISTS (SELECT FROM pg_class AS c WHERE c.relnamespace = n.oid) FROM pg_namespace AS n"
        ).fetchall()
    )
    aplicadas = set()
    if conexao.execute("SELECT to_regclass('migracoes.conteudo')").fetchone() != (None,):
        aplicadas = {nome for (nome,) in conexao.execute("SELECT migration_id FROM migracoes.conteudo")}
    if not aplicadas and (sobram := [esquema for esquema in _COM_TABELAS if esquemas.get(esquema)]):
        raise ErroBanco(f"o banco tem {', '.join(sobram)}, mas não o registro das migrações (migracoes): {_COMO}")
    faltam = [esquema for esquema, nome in _COM_TABELAS.items() if nome in aplicadas and not esquemas.get(esquema)]
    if aplicadas and "registro" not in esquemas:
        faltam.append("registro")
    if faltam:
        raise ErroBanco(f"o banco não tem {', '.join(faltam)}, que as migrações já criaram: {_COMO}")
    if perdidos := _perdidos(conexao):
        resto = f" e mais {len(perdidos) - 3}" if len(perdidos) > 3 else ""
        raise ErroBanco(f"faltam ao banco {', '.join(perdidos[:3])}{resto}, que as migrações já criaram: {_COMO}")


def reaver(conexao: psycopg.Connection[Any], migracoes: Path) -> None:
    """Num banco já instalado, refaz os papéis que faltam e devolve cada objeto a seu dono."""
    if conexao.execute("SELECT FROM pg_namespace WHERE nspname = 'core'").fetchone() is None:
        return
    alheios = [papel for papel in PAPEIS if papel.endswith("_dono")]
    if conexao.execute(
        "SELECT p.nome FROM unnest(%s::text[]) AS p (nome) LEFT JOIN pg_roles AS r ON r.rolname = p.nome"
        " WHERE r.oid IS NULL OR p.nome = ANY (%s) AND NOT pg_has_role(r.oid, 'USAGE')",
        [list(PAPEIS), alheios],
    ).fetchone():
        insistir(_repetir, conexao, [comando for comando in _comandos(migracoes) if comando.startswith(_PAPEIS)])
    insistir(_devolver, conexao)


def reafirmar(conexao: psycopg.Connection[Any], migracoes: Path) -> None:
    """Dá de novo tudo o que as migrações dão aos papéis, que `reaver` já refez."""
    banco = sql.Identifier(conexao.info.dbname).as_string(conexao)
    dos_arquivos = [comando for comando in _comandos(migracoes) if not comando.startswith(_PAPEIS)]
    insistir(_repetir, conexao, [*dos_arquivos, _ALEM.format(banco=banco)])


def danificados(conexao: psycopg.Connection[Any]) -> bool:
    """Se algum objeto não é como migrar o deixou, ou se não se pode saber."""
    try:
        return conexao.execute("SELECT FROM core.objetos_danificados() LIMIT 1").fetchone() is not None
    except (errors.UndefinedFunction, errors.UndefinedTable, errors.InsufficientPrivilege):
        return True


def _perdidos(conexao: psycopg.Connection[Any]) -> list[str]:
    """As tabelas, índices e restrições que migrar deixou e não há mais; o resto, ele refaz."""
    try:
        return [
            f"{especie} {nome}"
            for especie, nome in conexao.execute(
                "SELECT d.especie, d.nome FROM core.objetos_danificados() AS d"
                " WHERE d.defeito = 'falta' AND d.especie IN ('relação', 'índice', 'restrição')"
            )
        ]
    except (errors.UndefinedFunction, errors.UndefinedTable, errors.InvalidSchemaName, errors.InsufficientPrivilege):
        return []


def _comandos(migracoes: Path) -> list[str]:
    """Na ordem em que as migrações correm: as do núcleo criam os papéis, e as outras vêm depois."""
    arquivos = sorted(migracoes.glob("*.sql"), key=lambda arquivo: (not arquivo.name.startswith("core_"), arquivo.name))
    return [achado[0] for arquivo in arquivos for achado in _DAO.finditer(arquivo.read_text(encoding="utf-8"))]


def _repetir(conexao: psycopg.Connection[Any], comandos: list[str]) -> None:
    with conexao.transaction():
        ceder(conexao)
        for comando in comandos:
            try:
                conexao.execute(comando.encode())
            except errors.InsufficientPrivilege as erro:
                raise ErroBanco(
                    f"o papel {conexao.info.user} não pode repor papéis e direitos ({erro.diag.message_primary}):"
                    " rode migrar uma vez como superusuário"
                ) from erro


def _devolver(conexao: psycopg.Connection[Any]) -> None:
    with conexao.transaction():
        ceder(conexao)
        for comando, alvo, dono in conexao.execute(_DE_OUTRO_DONO, {"esquemas": [*ESQUEMAS, "registro"]}).fetchall():
            try:
                conexao.execute(sql.SQL(comando))
            except errors.InsufficientPrivilege as erro:
                raise ErroBanco(
                    f"{alvo} é de {dono}, e o papel {conexao.info.user} não o pode devolver a seu dono"
                    f" ({erro.diag.message_primary}): rode migrar uma vez como superusuário"
                ) from erro
