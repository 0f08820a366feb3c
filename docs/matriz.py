"""Quem pode o quê, como docs/papeis.toml o declara: a página de referência sai daqui, e a suíte o confere no banco."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DECLARADO = Path(__file__).resolve().parent / "papeis.toml"

# Nome curto, no arquivo → papel. Um papel qualquer, que só tem o que PUBLIC tem, não pode nada.
PAPEIS = {
    "app": "formigueiro_app",
    "produtor": "formigueiro_produtor",
    "dba": "formigueiro_dba",
    "leitura": "formigueiro_leitura",
    "core": "core_dono",
    "d6b": "d6b_dono",
    "d8": "d8_dono",
}
DONOS = {"core": "core_dono", "registro": "core_dono", "d6b": "d6b_dono", "d8": "d8_dono"}
LETRAS = {"S": "SELECT", "I": "INSERT", "U": "UPDATE", "D": "DELETE"}
QUALQUER = "*"

Direito = tuple[str, str, str]
"""(papel, direito, objeto); o objeto leva o esquema na frente."""


@dataclass(frozen=True)
class Matriz:
    """O que se quer: o que cada papel pode no banco, nos esquemas, nas relações e nas rotinas, além do que é dele."""

    banco: Mapping[str, frozenset[str]]
    esquemas: Mapping[str, frozenset[str]]
    relacoes: Mapping[str, Mapping[str, frozenset[str]]]
    rotinas: Mapping[str, frozenset[str]]

    def executam(self, rotina: str) -> frozenset[str]:
        """Os papéis que executam uma rotina, fora o dono; KeyError se ela não está declarada."""
        esquema = rotina.partition(".")[0]
        return self.rotinas[rotina if rotina in self.rotinas else f"{esquema}.{QUALQUER}"]


def ler(arquivo: Path = DECLARADO) -> Matriz:
    """A matriz declarada."""
    dados = tomllib.loads(arquivo.read_text(encoding="utf-8"))
    return Matriz(
        {direito: _papeis(nomes) for direito, nomes in dados["banco"].items()},
        {esquema: _papeis(nomes) for esquema, nomes in dados["esquemas"].items()},
        {nome: _letras(texto) for nome, texto in _com_esquema(dados["relacoes"])},
        {nome: _papeis(texto) for nome, texto in _com_esquema(dados["rotinas"])},
    )


def _com_esquema(secao: Mapping[str, Mapping[str, str]]) -> list[tuple[str, str]]:
    return [(f"{esquema}.{nome}", texto) for esquema, nomes in secao.items() for nome, texto in nomes.items()]


def _papeis(nomes: str) -> frozenset[str]:
    return frozenset(PAPEIS[nome] for nome in nomes.split())


def _letras(texto: str) -> dict[str, frozenset[str]]:
    """De `dba:S d8:SU`, papel → direitos."""
    pares: list[Any] = [parte.split(":") for parte in texto.split()]
    return {PAPEIS[papel]: frozenset(LETRAS[letra] for letra in letras) for papel, letras in pares}
