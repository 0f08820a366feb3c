"""Texto inerte: sem controles, sem invisíveis, sem HTML, em NFC e com os espaços em ordem."""

import html
import re
import unicodedata

from app.pecas.palavras import conjunto

# Os preenchimentos do Hangul são letras para o Unicode, mas o leitor não vê nada.
_VAZIOS = frozenset("\u3164\u115f\u1160\uffa0\u2800")
_QUEBRAS = frozenset("\u2028\u2029\u0085\x0b\x0c")

_ELEMENTOS = conjunto(
    "a abbr address article aside audio b base blockquote body br button canvas center cite code col dd del "
    "details div dl dt em embed fieldset figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header "
    "hr html i iframe img input ins label legend li link main map marquee mark math meta nav noscript object "
    "ol option p param picture pre q s samp script section select small source span strike strong style sub "
    "summary sup svg table tbody td template textarea tfoot th thead title tr tt u ul var video wbr"
)
_QUEBRAM_LINHA = conjunto("br p div li tr h1 h2 h3 h4 h5 h6 hr table ul ol blockquote section article")
_ETIQUETA = re.compile(rf"</?({'|'.join(sorted(_ELEMENTOS, key=len, reverse=True))})(?:[\s/][^<>]{{0,2000}})?>", re.I)

# "&amp;amp;amp;" aninhado desce de uma vez: um nível por passada seria quadrático.
_E_COMERCIAL = re.compile(r"&(?:amp;|#0{0,7}38;|#[xX]0{0,7}26;)+")
_ENTIDADE_VIVA = re.compile(r"&(?=[#A-Za-z])")
_ESPACOS = re.compile(r" {2,}")
_BEIRAS = re.compile(r" ?\n ?")
_LINHAS = re.compile(r"\n{3,}")


class _Visiveis(dict[int, str | None]):
    """Tabela de `str.translate`: controles e invisíveis somem, todo espaço vira espaço comum."""

    def __missing__(self, codigo: int) -> str | None:
        c = chr(codigo)
        valor: str | None = c
        if c == "\n" or c in _QUEBRAS:
            valor = "\n"
        elif c.isspace():
            valor = " "
        elif unicodedata.category(c) in ("Cc", "Cf", "Cs") or c in _VAZIOS:
            valor = None
        self[codigo] = valor
        return valor


_VISIVEIS = _Visiveis()


def _so_visiveis(texto: str) -> str:
    visivel = texto.replace("\r\n", "\n").replace("\r", "\n").translate(_VISIVEIS)
    return unicodedata.normalize("NFC", visivel)


def _sem_etiquetas(texto: str) -> str:
    return _ETIQUETA.sub(lambda m: "\n" if m[1].lower() in _QUEBRAM_LINHA else "", texto)


def neutralizar(texto: str) -> str:
    """Texto que nenhum navegador toma por marcação; aplicar outra vez não muda nada."""
    t = _so_visiveis(texto)
    if "&" in t:
        t = _so_visiveis(html.unescape(_E_COMERCIAL.sub("&", t)))
    if "<" in t:
        t = _sem_etiquetas(t)
    t = t.replace("<", "‹").replace(">", "›")
    if "&" in t and html.unescape(t) != t:
        t = _ENTIDADE_VIVA.sub("& ", t)
    t = unicodedata.normalize("NFC", t)
    t = _ESPACOS.sub(" ", t)
    t = _BEIRAS.sub("\n", t)
    return _LINHAS.sub("\n\n", t).strip(" \n")
