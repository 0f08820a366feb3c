"""Ninguém espera por uma trava que um login qualquer possa tomar (N65): as consultivas, só se tentam."""

import re

import pytest

from app.banco.recursos import PACOTE, SQL

# arquivo → por que ali esperar por uma trava consultiva não faz mal. Nenhum, hoje.
INOFENSIVAS: dict[str, str] = {}

# As que tentam (pg_try_…) e as que soltam não esperam.
_ESPERA = re.compile(r"\bpg_advisory_(?:xact_)?lock", re.IGNORECASE)
ARQUIVOS = sorted(a for pasta, tipo in ((SQL, "sql"), (PACOTE, "py")) for a in pasta.rglob(f"*.{tipo}"))


@pytest.mark.parametrize(
    ("texto", "espera"),
    [
        ("PERFORM pg_advisory_xact_lock(1)", True),
        ("SELECT pg_catalog.PG_ADVISORY_LOCK_SHARED(%s)", True),
        ("SELECT pg_try_advisory_lock(1)", False),
        ("SELECT pg_advisory_unlock_shared(1)", False),
    ],
)
def test_o_que_espera(texto: str, espera: bool) -> None:
    assert bool(_ESPERA.search(texto)) == espera


def test_ninguem_espera_por_uma_trava_consultiva() -> None:
    esperam = {
        str(arquivo.relative_to(PACOTE.parent if arquivo.suffix == ".py" else SQL.parent))
        for arquivo in ARQUIVOS
        if _ESPERA.search(arquivo.read_text(encoding="utf-8"))
    }
    assert len(ARQUIVOS) > 100
    assert esperam == set(INOFENSIVAS)
