"""Escreve requirements.lock e requirements-dev.lock: o fecho das dependências de pyproject.toml, nas versões
instaladas neste ambiente. O primeiro basta para servir; o segundo acrescenta o que testa e confere."""

import tomllib
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def fecho(pedidos: list[str]) -> dict[str, str]:
    """Nome e versão de tudo o que os pedidos trazem, de dependência em dependência."""
    achados: dict[str, str] = {}
    vistos: set[tuple[str, frozenset[str]]] = set()
    fila = [Requirement(pedido) for pedido in pedidos]
    while fila:
        pedido = fila.pop()
        nome, extras = canonicalize_name(pedido.name), frozenset(pedido.extras)
        if (nome, extras) in vistos:
            continue
        vistos.add((nome, extras))
        instalada = distribution(nome)
        achados[nome] = instalada.version
        for texto in instalada.requires or ():
            filho = Requirement(texto)
            if not filho.marker or any(filho.marker.evaluate({"extra": extra}) for extra in extras | {""}):
                fila.append(filho)
    return achados


def principal() -> None:
    projeto = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    servir = fecho(projeto["dependencies"])
    tudo = fecho(projeto["dependencies"] + projeto["optional-dependencies"]["dev"])
    _escrever("requirements.lock", servir)
    so_dev = {nome: versao for nome, versao in tudo.items() if nome not in servir}
    _escrever("requirements-dev.lock", so_dev, "-r requirements.lock")


def _escrever(arquivo: str, travadas: dict[str, str], *antes: str) -> None:
    linhas = ["# Versões travadas; refaça com `make travar`.", *antes]
    linhas += [f"{nome}=={versao}" for nome, versao in sorted(travadas.items())]
    Path(arquivo).write_text("\n".join(linhas) + "\n", encoding="utf-8")


if __name__ == "__main__":
    principal()
