"""Os endereços e os nomes que as páginas citam existem."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from app.banco.recursos import RAIZ
from docs.gerar import ancora
from tests.docs.blocos import DOCS, PAGINAS

_BLOCO = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_TITULO = re.compile(r"^#+ (.+)$", re.MULTILINE)
_ENDERECO = re.compile(r"\[[^\]]*\]\((?P<alvo>[^)\s]+)\)")
_TESTE = re.compile(r"`(?P<arquivo>tests/[\w/]+\.py)::(?P<teste>\w+)`")
_ARQUIVO = re.compile(r"`(?P<arquivo>(?:app|sql|docs|tests|exemplos|ops|bench)/[\w./-]+)`")
_OBJETO = re.compile(r"`(?P<objeto>(?:core|d6b|d8)\.\w+)\b[^`]*`")


def _prosa(pagina: Path) -> str:
    return _BLOCO.sub("", pagina.read_text(encoding="utf-8"))


def _ancoras(pagina: Path) -> set[str]:
    return {ancora(titulo.replace("`", "").strip()) for titulo in _TITULO.findall(_prosa(pagina))}


def _quebrados(pagina: Path) -> Iterator[str]:
    for alvo in _ENDERECO.findall(_prosa(pagina)):
        if re.match(r"[a-z]+:", alvo):
            continue
        caminho, _, lugar = alvo.partition("#")
        destino = (pagina.parent / caminho).resolve() if caminho else pagina
        if not destino.exists() or (lugar and lugar not in _ancoras(destino)):
            yield alvo


@pytest.mark.parametrize("pagina", [*PAGINAS, RAIZ / "README.md"], ids=lambda pagina: str(pagina.relative_to(RAIZ)))
def test_enderecos(pagina: Path) -> None:
    assert list(_quebrados(pagina)) == []


def test_toda_pagina_se_alcanca_do_indice() -> None:
    vistas, fila = {DOCS / "README.md"}, [DOCS / "README.md"]
    while fila:
        pagina = fila.pop()
        for alvo in _ENDERECO.findall(_prosa(pagina)):
            destino = (pagina.parent / alvo.partition("#")[0]).resolve()
            if destino.suffix == ".md" and destino.exists() and destino not in vistas:
                vistas.add(destino)
                fila.append(destino)
    assert [str(pagina.relative_to(DOCS)) for pagina in PAGINAS if pagina not in vistas] == []


def test_os_arquivos_e_testes_citados_existem() -> None:
    faltam = []
    for pagina in PAGINAS:
        prosa = _prosa(pagina)
        faltam += [arquivo for arquivo in _ARQUIVO.findall(prosa) if not (RAIZ / arquivo).exists()]
        for arquivo, teste in _TESTE.findall(prosa):
            caminho = RAIZ / arquivo
            if not caminho.exists() or not re.search(rf"def {teste}\(", caminho.read_text(encoding="utf-8")):
                faltam.append(f"{arquivo}::{teste}")
    assert faltam == []


def test_as_funcoes_e_tabelas_citadas_existem(bd: psycopg.Connection[Any]) -> None:
    existem = {
        nome
        for (nome,) in bd.execute(
            """
            SELECT p.pronamespace::regnamespace || '.' || p.proname FROM pg_proc AS p
             UNION
            SELECT c.relnamespace::regnamespace || '.' || c.relname FROM pg_class AS c
            """
        )
    }
    citadas = {objeto: pagina for pagina in PAGINAS for objeto in _OBJETO.findall(_prosa(pagina))}
    assert {objeto: pagina.name for objeto, pagina in citadas.items() if objeto not in existem} == {}


@pytest.mark.parametrize("numero", range(1, 32))
def test_cada_decisao_tem_sua_entrada(numero: int) -> None:
    titulos = [titulo for pagina in (DOCS / "decisoes").glob("*.md") for titulo in _TITULO.findall(_prosa(pagina))]
    assert len([titulo for titulo in titulos if titulo.startswith(f"E{numero:02}. ")]) == 1
