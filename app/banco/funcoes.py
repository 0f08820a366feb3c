"""Instala as funções, visões e gatilhos de sql/functions, cada arquivo como o dono do esquema de sua pasta."""

from hashlib import sha256
from pathlib import Path
from typing import Any, LiteralString, cast

import psycopg
from psycopg import errors, sql

ESQUEMAS = ("core", "d6b", "d8")


def instalar(conexao: psycopg.Connection[Any], pasta: Path) -> bool:
    """Instala tudo numa transação se algum arquivo mudou; devolve se instalou.

    Depois de rodar todos os arquivos, uma função que nenhum deles (re)criou ficou sem arquivo e é removida: seu
    registro no catálogo é anterior à transação.
    """
    arquivos = _em_ordem(pasta)
    impressao = _impressao(pasta, arquivos)
    with conexao.transaction():
        if _instalada(conexao) == impressao:
            return False
        conexao.execute("SET LOCAL check_function_bodies = off; SET LOCAL client_min_messages = warning")
        for arquivo in arquivos:
            _instalar_arquivo(conexao, arquivo, esquema=arquivo.relative_to(pasta).parts[0])
        _remover_orfas(conexao)
        conexao.execute("DELETE FROM migracoes.funcoes")
        conexao.execute("INSERT INTO migracoes.funcoes (sha256) VALUES (%s)", [impressao])
    return True


def _em_ordem(pasta: Path) -> list[Path]:
    """Esquema por esquema; as visões por último, pois usam funções."""

    def posicao(arquivo: Path) -> tuple[bool, int, str]:
        partes = arquivo.relative_to(pasta).parts
        return ("visoes" in partes, ESQUEMAS.index(partes[0]), str(arquivo))

    return sorted(pasta.rglob("*.sql"), key=posicao)


def _impressao(pasta: Path, arquivos: list[Path]) -> str:
    resumo = sha256()
    for arquivo in arquivos:
        resumo.update(f"{arquivo.relative_to(pasta)}\0".encode())
        resumo.update(sha256(arquivo.read_bytes()).digest())
    return resumo.hexdigest()


def _instalada(conexao: psycopg.Connection[Any]) -> str | None:
    conexao.execute(
        "SET LOCAL client_min_messages = warning; CREATE TABLE IF NOT EXISTS migracoes.funcoes (sha256 text NOT NULL)"
    )
    linha = conexao.execute("SELECT sha256 FROM migracoes.funcoes").fetchone()
    return linha[0] if linha else None


def _instalar_arquivo(conexao: psycopg.Connection[Any], arquivo: Path, esquema: str) -> None:
    texto = cast(LiteralString, arquivo.read_text(encoding="utf-8"))
    conexao.execute(sql.SQL("SET LOCAL ROLE {}").format(sql.Identifier(f"{esquema}_dono")))
    try:
        try:
            with conexao.transaction():
                conexao.execute(texto)
        except errors.InvalidFunctionDefinition:
            # CREATE OR REPLACE não muda nomes de parâmetros nem o tipo devolvido: recria a função do arquivo.
            _remover_por_nome(conexao, esquema, arquivo.stem)
            conexao.execute(texto)
    except psycopg.Error as erro:
        erro.add_note(f"no arquivo {arquivo}")
        raise
    conexao.execute("RESET ROLE")


def _remover_por_nome(conexao: psycopg.Connection[Any], esquema: str, nome: str) -> None:
    _remover(conexao, "n.nspname = %s AND p.proname = %s", [esquema, nome])


def _remover_orfas(conexao: psycopg.Connection[Any]) -> None:
    # xmin de hoje é maior ou igual ao da transação (os pontos de salvamento têm números posteriores).
    _remover(
        conexao,
        "n.nspname = ANY (%s) AND age(p.xmin) > age(pg_current_xact_id()::xid)",
        [list(ESQUEMAS)],
    )


def _remover(conexao: psycopg.Connection[Any], condicao: LiteralString, valores: list[object]) -> None:
    funcoes = conexao.execute(
        sql.SQL(
            """
            SELECT CASE p.prokind WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END || ' ' || p.oid::regprocedure
              FROM pg_catalog.pg_proc AS p
              JOIN pg_catalog.pg_namespace AS n ON n.oid = p.pronamespace
             WHERE {}
            """
        ).format(sql.SQL(condicao)),
        valores,
    ).fetchall()
    for (funcao,) in funcoes:
        # CASCADE leva consigo só gatilhos e visões; os que ainda têm arquivo são recriados por ele.
        conexao.execute(sql.SQL("DROP {} CASCADE").format(sql.SQL(funcao)))
