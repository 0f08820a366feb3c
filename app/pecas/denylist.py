"""A denylist de texto: quais termos da lista aparecem, como palavras inteiras, num relato."""

from collections.abc import Iterable, Iterator

import ahocorasick  # type: ignore[import-not-found, unused-ignore]  # extensão em C, sem tipos

from app.pecas.lexico import emendas, leituras, soletradas, termo

_MENOR_SOLETRADA = 3
_MENOR_EMENDADA = 6


def _plurais(palavra: str) -> Iterator[str]:
    """Os plurais simples da palavra, em minúsculas e sem acento."""
    if palavra.endswith("ao"):
        yield from (palavra[:-2] + final for final in ("oes", "aes", "aos"))
    elif palavra[-1] in "aeiou":
        yield palavra + "s"
    elif palavra[-1] in "rzns":
        yield palavra + "es"
    elif palavra[-1] == "l":
        yield palavra[:-1] + "is"
        yield palavra[:-1] + "s"
    elif palavra[-1] == "m":
        yield palavra[:-1] + "ns"


def _formas(canonico: str) -> set[str]:
    """O termo, o termo com uma das palavras no plural, e com todas."""
    palavras = canonico.split()
    formas = {canonico}
    todas = [next(_plurais(p), p) if len(p) > 2 else p for p in palavras]
    formas.add(" ".join(todas))
    for i, palavra in enumerate(palavras):
        for plural in _plurais(palavra):
            formas.add(" ".join([*palavras[:i], plural, *palavras[i + 1 :]]))
    return formas


class _Automato:
    """Aho-Corasick de chaves para conjuntos de índices; vazio, não acha nada."""

    def __init__(self, chaves: dict[str, set[int]]) -> None:
        self._automato = ahocorasick.Automaton()
        for chave, indices in chaves.items():
            self._automato.add_word(chave, frozenset(indices))
        self._vazio = not chaves
        if chaves:
            self._automato.make_automaton()

    def achar(self, texto: str) -> Iterator[frozenset[int]]:
        """Os índices das chaves contidas em `texto`."""
        if not self._vazio:
            for _, indices in self._automato.iter(texto):
                yield indices


class Denylist:
    """A lista de termos, pronta para verificar textos em tempo linear, seja qual for o seu tamanho."""

    def __init__(self, termos: Iterable[str]) -> None:
        self._termos: list[str] = []
        inteiras: dict[str, set[int]] = {}
        soltas: dict[str, set[int]] = {}
        vistos: set[str] = set()
        for bruto in termos:
            canonico = termo(bruto)
            if not canonico or canonico in vistos:
                continue
            vistos.add(canonico)
            indice = len(self._termos)
            self._termos.append(bruto)
            for forma in _formas(canonico):
                inteiras.setdefault(f" {forma} ", set()).add(indice)
                emendada = forma.replace(" ", "")
                if " " in forma and len(emendada) >= _MENOR_EMENDADA:
                    inteiras.setdefault(f" {emendada} ", set()).add(indice)
                if len(emendada) >= _MENOR_SOLETRADA:
                    soltas.setdefault(emendada, set()).add(indice)
        self._inteiras = _Automato(inteiras)
        self._soltas = _Automato(soltas)

    @classmethod
    def de_texto(cls, lista: str) -> "Denylist":
        """A lista escrita com vírgulas ou em linhas; um termo pode ser uma frase."""
        partes = (parte.strip() for linha in lista.splitlines() for parte in linha.split(","))
        return cls(parte for parte in partes if parte)

    def verificar(self, texto: str) -> list[str]:
        """Os termos encontrados, como estão na lista, na ordem dela e sem repetição."""
        achados: set[int] = set()
        for leitura in leituras(texto):
            achados.update(*self._inteiras.achar(f" {leitura} "))
        for palavra in emendas(texto):
            achados.update(*self._inteiras.achar(f" {palavra} "))
        for letras, so_espacos in soletradas(texto):
            achados.update(*self._soltas.achar(letras))
            if so_espacos:
                achados.update(*self._inteiras.achar(f" {letras} "))
        return [self._termos[i] for i in sorted(achados)]
