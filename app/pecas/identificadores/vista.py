"""A vista: o texto visto em ASCII, caractere a caractere, com o mesmo comprimento do original.

Formas e rótulos são procurados na vista; o corte é feito no original, na mesma posição.
"""

import unicodedata

_TRACOS = frozenset("‐‑‒–—―−﹣－⁃")


def _canonico(c: str) -> str:
    """O caractere ASCII que o leitor vê em `c`, ou o próprio `c`."""
    if c.isdecimal():
        return str(unicodedata.decimal(c))
    if c in _TRACOS:
        return "-"
    if c.isspace():
        return c if c == "\n" else " "
    decomposto = unicodedata.normalize("NFKD", c)
    primeiro = decomposto[0]
    if primeiro.isascii() and primeiro.isalpha():
        return primeiro
    # Índices sobrescritos ("m²", nota de rodapé) não fazem parte do número a que se encostam.
    if len(decomposto) == 1 and primeiro.isascii() and not unicodedata.decomposition(c).startswith("<su"):
        return primeiro
    return c


class _Tabela(dict[int, str]):
    """Tabela de `str.translate` que se preenche sozinha; cada entrada tem um caractere só."""

    def __missing__(self, codigo: int) -> str:
        valor = self[codigo] = _canonico(chr(codigo))
        return valor


_TABELA = _Tabela()
_MINUSCULAS = {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def ver(texto: str) -> str:
    """A vista de `texto`: dígitos, letras, traços e espaços em ASCII, na mesma posição."""
    return texto if texto.isascii() and "\t" not in texto else texto.translate(_TABELA)


def dobrar(vista: str) -> str:
    """A vista em minúsculas."""
    return vista.translate(_MINUSCULAS)
