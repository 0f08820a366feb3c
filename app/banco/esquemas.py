"""Leva os JSON Schemas de sql/eventos ao Registro (core.esquemas)."""

from pathlib import Path
from typing import Any
from unicodedata import normalize

import msgspec
import psycopg
from psycopg.types.json import Jsonb


def carregar(conexao: psycopg.Connection[Any], pasta: Path) -> int:
    """Carrega `<tipo>/<versão>.json`; quem compila, confere e guarda é o banco. Devolve quantos mudaram."""
    mudaram = 0
    with conexao.transaction():
        conexao.execute("SET LOCAL ROLE core_dono")
        for arquivo in sorted(pasta.glob("*/*.json")):
            tipo = normalize("NFC", arquivo.parent.name)  # há sistemas de arquivos que decompõem os acentos
            esquema = msgspec.json.decode(arquivo.read_bytes())
            try:
                linha = conexao.execute(
                    "SELECT core.carregar_esquema(%s, %s, %s)", [tipo, arquivo.stem, Jsonb(esquema)]
                ).fetchone()
            except psycopg.Error as erro:
                erro.add_note(f"no arquivo {arquivo}")
                raise
            mudaram += bool(linha and linha[0])
        if mudaram:
            conexao.execute("SELECT core.gerar_validadores()")
    return mudaram
