"""Onde estão os arquivos SQL do projeto."""

from pathlib import Path

RAIZ = Path(__file__).resolve().parents[2]
SQL = RAIZ / "sql"
MIGRACOES = SQL / "migrations"
FUNCOES = SQL / "functions"
EVENTOS = SQL / "eventos"
EXEMPLOS = RAIZ / "exemplos"
