"""As partes geradas da referência estão em dia com o código."""

import re

from app.banco.recursos import FUNCOES
from docs import gerar


def test_as_paginas_geradas_estao_em_dia(dsn: str) -> None:
    velhas = [
        pagina.name for pagina, conteudo in gerar.paginas(dsn).items() if pagina.read_text(encoding="utf-8") != conteudo
    ]
    assert velhas == [], "refaça com: python -m docs.gerar DSN, num banco recém-migrado"


def test_nenhuma_recusa_das_funcoes_escapa_a_tabela() -> None:
    textos = [arquivo.read_text(encoding="utf-8") for arquivo in FUNCOES.rglob("*.sql")]
    achadas = gerar.recusas()
    assert len(achadas) == sum(len(re.findall(r"ERRCODE\s*=\s*'FM", texto)) for texto in textos)
    assert {codigo for codigo, _, _ in achadas} == set(gerar.SIGNIFICADOS)
