"""Os arquivos de sql/functions: um por função (ou família), com seu nome, seu cabeçalho e seus comentários."""

import re
from collections import Counter
from pathlib import Path

import pytest

from app.banco.recursos import FUNCOES

ARQUIVOS = sorted(FUNCOES.rglob("*.sql"))
_CRIA = re.compile(r"^CREATE OR REPLACE (FUNCTION|PROCEDURE|VIEW)\s+(\w+)\.(\w+)", re.MULTILINE)


def _criados(arquivo: Path) -> list[tuple[str, str, str]]:
    return _CRIA.findall(arquivo.read_text(encoding="utf-8"))


@pytest.mark.parametrize("arquivo", ARQUIVOS, ids=lambda arquivo: f"{arquivo.parent.name}/{arquivo.stem}")
def test_arquivo(arquivo: Path) -> None:
    """Abre com um comentário; só cria no esquema da pasta; comenta o que cria; tem o nome do que cria ou é família."""
    texto = arquivo.read_text(encoding="utf-8")
    criados = _criados(arquivo)
    esquema = arquivo.relative_to(FUNCOES).parts[0]

    assert texto.startswith("-- "), "falta o comentário de abertura"
    assert criados, "não cria função nem visão"
    assert {onde for _, onde, _ in criados} == {esquema}
    assert "CREATE FUNCTION" not in texto
    assert "CREATE TRIGGER" not in texto
    for especie, onde, nome in criados:
        assert re.search(rf"^COMMENT ON {especie} {onde}\.{nome}\b", texto, re.MULTILINE), f"{nome} sem COMMENT"
    assert arquivo.stem in {nome for _, _, nome in criados} or len(criados) > 1, "nome diferente do que cria"


def test_cada_funcao_esta_num_arquivo_so() -> None:
    vezes = Counter(nome for arquivo in ARQUIVOS for nome in {f"{onde}.{nome}" for _, onde, nome in _criados(arquivo)})
    assert [nome for nome, n in vezes.items() if n > 1] == []
