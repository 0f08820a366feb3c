"""Leva os JSON Schemas de sql/eventos ao Registro (core.esquemas)."""

from pathlib import Path
from typing import Any
from unicodedata import normalize

import msgspec
import psycopg
from psycopg.types.json import Jsonb

from app.banco.erros import ErroBanco


class ErroEsquema(ErroBanco):
    """Um arquivo de sql/eventos não pôde ser carregado; a mensagem o nomeia."""


def carregar(conexao: psycopg.Connection[Any], pasta: Path) -> int:
    """Carrega `<tipo>/<versão>.json`; quem compila, confere e guarda é o banco. Devolve quantos mudaram."""
    mudaram = 0
    with conexao.transaction():
        conexao.execute("SET LOCAL ROLE core_dono")
        for arquivo in sorted(pasta.glob("*/*.json")):
            tipo = normalize("NFC", arquivo.parent.name)  # há sistemas de arquivos que decompõem os acentos
            try:
                esquema = msgspec.json.decode(arquivo.read_bytes())
                linha = conexao.execute(
                    "SELECT core.carregar_esquema(%s, %s, %s)", [tipo, arquivo.stem, Jsonb(esquema)]
                ).fetchone()
            except (msgspec.DecodeError, psycopg.DatabaseError) as erro:
                motivo = str(erro).splitlines()[0]
                raise ErroEsquema(f"sql/eventos/{arquivo.relative_to(pasta)}: {motivo}") from erro
            mudaram += bool(linha and linha[0])
        if mudaram:
            conexao.execute("SELECT core.gerar_validadores()")
    return mudaram
