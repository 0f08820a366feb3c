"""O corte de textos já sanitizados: em fim de frase, se dá; senão em fim de palavra."""

import re
from bisect import bisect_right

from app.pecas.frases import fins_de_frase
from app.pecas.identificadores.marcas import MAIOR_MARCA, MARCA

_RETICENCIAS = "…"
_ESPACOS = re.compile(r"\s+")
# Um espaço que não vem logo depois de um número: nem «11 90123-4567» se corta no meio, nem «123456 do
# protocolo» perde o que diz que ele é público.
_FRONTEIRA = re.compile(r"(?<![\d\s])(?<!\d[^\w\s])(?<!\d d[ao])(?<!\d d[ao]s)(?<!\d, d[ao])(?<!\d, d[ao]s)\s+")
_ATE_A_ULTIMA_LETRA = re.compile(r"\D*[^\W\d_]")


def _recuar(texto: str, corte: int) -> int:
    """O corte mais próximo, para trás, que não parte palavra nem número; 0 se não há."""
    espacos = [m.start() for m in _ESPACOS.finditer(texto, 0, corte + 2) if m.start() <= corte]
    return next((inicio for inicio in reversed(espacos) if _FRONTEIRA.match(texto, inicio)), 0)


def _fora_de_marca(texto: str, corte: int) -> int:
    for m in MARCA.finditer(texto, max(0, corte - MAIOR_MARCA), corte + MAIOR_MARCA):
        if m.start() < corte < m.end():
            return m.start()
    return corte


def _entre_letras(texto: str, cabe: int) -> int:
    """O corte depois da última letra que cabe, antes de qualquer número e fora de marca; 0 se não há."""
    while letra := _ATE_A_ULTIMA_LETRA.match(texto, 0, cabe):
        cabe = _fora_de_marca(texto, letra.end())
        if cabe == letra.end():
            return cabe
    return 0


def cortar(texto: str, limite: int) -> str:
    """`texto` com no máximo `limite` caracteres; o que foi cortado deixa reticências.

    Uma frase inteira só se prefere quando ocupa ao menos metade do espaço. Uma palavra maior que o espaço
    todo (nem frase, nem palavra, nem número caberiam) é partida entre letras.
    """
    if len(texto) <= limite:
        return texto
    cabe = limite - len(_RETICENCIAS) - 1
    fins = list(fins_de_frase(texto[: limite + 1]))[:-1]
    k = bisect_right(fins, cabe)
    if k and fins[k - 1] * 2 >= limite:
        return f"{texto[: fins[k - 1]].rstrip()} {_RETICENCIAS}"
    corte = _recuar(texto, cabe)
    while (fora := _fora_de_marca(texto, corte)) != corte:
        corte = _recuar(texto, fora)
    return texto[: corte or _entre_letras(texto, cabe)].rstrip(" \n,;:.-–—([/") + _RETICENCIAS
