"""Onde estão os arquivos SQL e os exemplos: na raiz do clone ou, num pacote instalado, dentro dele."""

from pathlib import Path

PACOTE = Path(__file__).resolve().parents[1]
RAIZ = PACOTE.parent
_ONDE = PACOTE / "recursos" if (PACOTE / "recursos").is_dir() else RAIZ

SQL = _ONDE / "sql"
MIGRACOES = SQL / "migrations"
FUNCOES = SQL / "functions"
EVENTOS = SQL / "eventos"
EXEMPLOS = _ONDE / "exemplos"
