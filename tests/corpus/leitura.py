"""Leitura do corpus rotulado.

Cada linha dos arquivos `sanitizador_*.jsonl` traz a frase marcada: `[[especie|trecho]]` tem de sair,
`{{especie|trecho}}` tem de ficar inteiro. As frases são inventadas; os números também, ainda que passem
pelos dígitos verificadores.
"""

import json
import re
from pathlib import Path
from typing import NamedTuple

PASTA = Path(__file__).parent
_MARCADO = re.compile(r"\[\[([^|\]]+)\|(.*?)\]\]|\{\{([^|}]+)\|(.*?)\}\}")


class Trecho(NamedTuple):
    """Um pedaço da frase, com a espécie."""

    inicio: int
    fim: int
    especie: str


class Frase(NamedTuple):
    """Uma frase do corpus, sem as marcas, com o que sai e o que fica."""

    id: str
    texto: str
    sai: tuple[Trecho, ...]
    fica: tuple[Trecho, ...]


class CasoDenylist(NamedTuple):
    """Um texto e os termos que a denylist tem de apontar nele."""

    id: str
    texto: str
    termos: list[str]


def desmarcar(id_: str, marcado: str) -> Frase:
    """A frase e seus trechos, a partir do texto marcado."""
    partes: list[str] = []
    sai: list[Trecho] = []
    fica: list[Trecho] = []
    ate = tamanho = 0
    for m in _MARCADO.finditer(marcado):
        antes = marcado[ate : m.start()]
        conteudo = m[2] if m[1] else m[4]
        inicio = tamanho + len(antes)
        partes += (antes, conteudo)
        tamanho = inicio + len(conteudo)
        (sai if m[1] else fica).append(Trecho(inicio, tamanho, m[1] or m[3]))
        ate = m.end()
    partes.append(marcado[ate:])
    return Frase(id_, "".join(partes), tuple(sai), tuple(fica))


def frases(*arquivos: str) -> list[Frase]:
    """As frases dos arquivos `sanitizador_<nome>.jsonl`."""
    lidas = []
    for nome in arquivos:
        for linha in (PASTA / f"sanitizador_{nome}.jsonl").read_text("utf-8").splitlines():
            registro = json.loads(linha)
            lidas.append(desmarcar(registro["id"], registro["marcado"]))
    return lidas


def casos_denylist(*arquivos: str) -> list[CasoDenylist]:
    """Os casos dos arquivos `denylist_<nome>.jsonl`."""
    lidos = []
    for nome in arquivos:
        for linha in (PASTA / f"denylist_{nome}.jsonl").read_text("utf-8").splitlines():
            lidos.append(CasoDenylist(**json.loads(linha)))
    return lidos


def lista_da_denylist() -> str:
    """A lista de termos do corpus, no formato de MODERACAO_DENYLIST_TEXTO."""
    return (PASTA / "denylist_termos.txt").read_text("utf-8")
