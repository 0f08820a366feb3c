"""As palavras como o leitor as lê, por mais disfarçadas que estejam.

Um texto vira uma ou mais leituras: sequências de palavras em minúsculas, sem acento, sem invisíveis, com as
letras parecidas trocadas («m3rd4», «mеrdа» em cirílico) e as repetidas desfeitas («merdaaa»). Comparar
leituras é comparar palavras inteiras, e o custo é linear no texto.
"""

import re
import unicodedata
from collections.abc import Iterator

_PARECIDAS = dict(
    zip(
        "аеорсхіјѕԁһԛԝкмтвнуαορνυικτεηχγβωıłøđħŧɑɡɩʟɴʀᴀʙᴄᴅᴇᴊᴋᴍᴏᴘꜱᴛᴜᴠᴡᴢ",
        "aeopcxijsdhqwkmtbhyaopvuikten" + "xybwilodhtagilnrabcdejkmopstuvwz",
        strict=True,
    )
)
_LETRAS_EM_CAIXA = ((0x1F130, 26), (0x1F150, 26), (0x1F170, 26), (0x1F1E6, 26))
_COMO_LETRA = str.maketrans("@$03457", "asoeast")
_DISFARCE = re.compile(r"[@$013457|]|(?<=[^\W\d_])!(?=[^\W\d_])")
_PEDACO = re.compile(r"\S+")
_PALAVRA = re.compile(r"[^\W_]+")
_SEPARADAS = re.compile(r"(?<![^\W_])[^\W\d_](?:[\W_]{1,3}[^\W\d_](?![^\W_]))+")
_REPETIDA = re.compile(r"([^\W\d_])\1+")
_VOGAIS = frozenset("aeiouy")


class _Letras(dict[int, str | None]):
    """Tabela de `str.translate`: cada caractere, já decomposto, como a letra que o leitor vê."""

    def __missing__(self, codigo: int) -> str | None:
        valor = self[codigo] = self._letra(codigo)
        return valor

    @staticmethod
    def _letra(codigo: int) -> str | None:
        c = chr(codigo)
        if c.isspace():
            return " "
        if unicodedata.category(c) in ("Mn", "Me", "Cf", "Cc", "Cs"):
            return None
        for inicio, quantas in _LETRAS_EM_CAIXA:
            if inicio <= codigo < inicio + quantas:
                return chr(ord("a") + codigo - inicio)
        dobrada = c.casefold()
        return _PARECIDAS.get(dobrada, dobrada)


_LETRAS = _Letras()


def _desdisfarcar(texto: str, um: str) -> str:
    """Os algarismos e símbolos que fazem as vezes de letra, nos pedaços que têm alguma letra."""

    def trocar(m: re.Match[str]) -> str:
        pedaco = m.group()
        if not any(c.isalpha() for c in pedaco) or not _DISFARCE.search(pedaco):
            return pedaco
        return _DISFARCE.sub(lambda d: um if d.group() in "1|!" else d.group().translate(_COMO_LETRA), pedaco)

    return _PEDACO.sub(trocar, texto)


def _sem_repeticao(palavra: str, dobra: bool) -> str:
    """A palavra sem letras repetidas, menos o «rr» e o «ss» entre vogais, que são da língua.

    Três ou mais «r» ou «s» entre vogais tanto podem ser um como dois: `dobra` escolhe.
    """

    def juntar(m: re.Match[str]) -> str:
        letra = m[1]
        entre_vogais = palavra[m.start() - 1 : m.start()] in _VOGAIS and palavra[m.end() : m.end() + 1] in _VOGAIS
        if letra in "rs" and entre_vogais and (len(m.group()) == 2 or dobra):
            return letra * 2
        return letra

    return _REPETIDA.sub(juntar, palavra)


def _palavras(texto: str) -> list[str]:
    return _PALAVRA.findall(texto)


def _superficies(texto: str) -> list[str]:
    """O texto dobrado e, se há disfarce, também sem ele («1» pode ser «i» ou «l»)."""
    dobrado = unicodedata.normalize("NFKD", texto).translate(_LETRAS)
    # set: em geral as três são a mesma; a ordem não importa a quem procura.
    return list({dobrado, _desdisfarcar(dobrado, "i"), _desdisfarcar(dobrado, "l")})


def _variantes(palavras: list[str]) -> set[str]:
    return {" ".join(_sem_repeticao(p, dobra) for p in palavras) for dobra in (False, True)}


def leituras(texto: str) -> set[str]:
    """As leituras do texto: palavras separadas por um espaço."""
    return {leitura for superficie in _superficies(texto) for leitura in _variantes(_palavras(superficie))}


def emendas(texto: str) -> set[str]:
    """As palavras que aparecem quando se tiram os separadores de dentro de um pedaço: «m.erda», «pu_ta»."""
    achadas: set[str] = set()
    for superficie in _superficies(texto):
        for pedaco in superficie.split():
            partes = _palavras(pedaco)
            if len(partes) > 1:
                achadas |= _variantes(["".join(partes)])
    return achadas


def soletradas(texto: str) -> Iterator[tuple[str, bool]]:
    """As sequências de letras soltas, emendadas («p u t a»), e se só espaços as separavam."""
    for superficie in _superficies(texto):
        for m in _SEPARADAS.finditer(superficie):
            letras = "".join(_palavras(m.group()))
            for variante in _variantes([letras]):
                yield variante, not m.group().replace(" ", "").strip(letras)


def termo(texto: str) -> str:
    """A forma com que um termo da lista é procurado nas leituras."""
    return " ".join(_sem_repeticao(p, True) for p in _palavras(unicodedata.normalize("NFKD", texto).translate(_LETRAS)))
