"""Listas de palavras escritas como prosa, que é como se revisam."""


def conjunto(texto: str) -> frozenset[str]:
    """As palavras de `texto`, separadas por espaços."""
    return frozenset(texto.split())
