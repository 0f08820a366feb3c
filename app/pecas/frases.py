"""Onde acaba uma frase em português corrido."""

import re
from collections.abc import Iterator

from app.pecas.palavras import conjunto

_FIM = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|\n+")
_ULTIMA_PALAVRA = re.compile(r"[^\s(\"'“‘«/]*$")

_ABREVIATURAS = conjunto(
    "sr sra srs sras srta dr dra drs prof profa profª eng enga av rod al pça pca tv trav estr jd vl pq cj bl ap apt "
    "apto cond ed lt qd n nº n° no nos nr num tel tels cel ram prot protoc proc art arts inc pág pag págs fl fls obs "
    "ex min máx max aprox dept depto sec secr gov pref ltda cia exmo exma ilmo ilma v.sa v.exa dec ref cf p.ex "
    "ofc of memo res mat insc reg subpref"
)
# Só com maiúscula são abreviaturas: «Mal. Deodoro», mas «passou mal.»
_TITULOS = conjunto("Mal Cap Ten Maj Gal Pe Ver Dep Sen Vd Sto Sta Brig Cons Des Min Gov Pres")


def _abrevia(antes: str, depois: str) -> bool:
    """Se o ponto que segue `antes` é de abreviatura."""
    achada = _ULTIMA_PALAVRA.search(antes)
    palavra = achada.group() if achada else ""
    simples = palavra.lower()
    if len(palavra) == 1 and palavra.isalpha():
        return True
    if simples == "etc":
        return not depois[:1].isupper()
    return simples in _ABREVIATURAS or palavra in _TITULOS


def fins_de_frase(texto: str) -> Iterator[int]:
    """As posições logo depois de cada fim de frase, em ordem; a última é o fim do texto."""
    for m in _FIM.finditer(texto):
        sinal = m.group()
        if sinal[0] != "\n":
            depois = texto[m.end() : m.end() + 3].lstrip()
            if sinal == "." and _abrevia(texto[max(0, m.start() - 12) : m.start()], depois):
                continue
            segue = sinal.startswith(("...", "…")) or sinal[-1] not in ".!?"
            if segue and depois[:1].islower():
                continue
        yield m.end()
    yield len(texto)


def primeira_frase(texto: str) -> str:
    """A primeira frase que tem alguma letra ou algarismo, com os espaços em ordem."""
    inicio = 0
    for fim in fins_de_frase(texto):
        frase = " ".join(texto[inicio:fim].split())
        if any(c.isalnum() for c in frase):
            return frase
        inicio = fim
    return " ".join(texto.split())
