"""O número de protocolo de um relato, em qualquer de suas formas."""

import re

from app.pecas.identificadores.formas import TELEFONE_PUBLICO
from app.pecas.identificadores.localizar import localizar
from app.pecas.identificadores.rotulos import PROTOCOLO, REGISTRO, Rotulos
from app.pecas.identificadores.vista import dobrar, ver

# Formas que dispensam rótulo: CNJ, NUP federal, SEI de prefeitura, processo antigo com dígito.
_INEQUIVOCO = re.compile(
    r"\d{7}-\d{2}\.\d{4}\.\d\.\d{2}\.\d{4}|\d{5}\.\d{6}/\d{4}-\d{2}|\d{4}\.\d{4}/\d{7}-\d|\d{4}-\d\.\d{3}\.\d{3}-\d"
)
# Os tetos das repetições são o que mantém a busca linear em «1-1-1-1-…».
_NUMERO = re.compile(
    r"(?<![0-9A-Za-z@])(?<![0-9][.,/-])"
    r"(?:(?:19|20)\d{2} \d{4,20}"
    r"|(?:[A-Z]{1,6}[./-])?[A-Za-z]{0,8}[0-9][0-9A-Za-z]{0,30}(?:[./-][0-9A-Za-z]{1,30}){0,8})"
    r"(?![@\w])"
)
_SO_NUMERO = re.compile(r"(?:n[º°o.]{1,2}|numero|num\.?|#)[ :]*$")
_ENDERECO = re.compile(
    r"(?<![a-z])(?:rua|r\.|av\.|avenida|praca|travessa|alameda|estrada|rodovia|casa|poste|lote)(?![a-z])"
)
_NAO_E_PROTOCOLO = re.compile(
    r"\d{1,2}[/.-]\d{1,2}(?:[/.-](?:\d{2}|\d{4}))?"  # data
    r"|(?:19|20)\d{2}(?:-\d{2}-\d{2}|[/-](?:19|20)\d{2})?"  # ano, data ISO, par de anos
    r"|\d{1,2}h\d{0,2}(?:min)?"  # hora
    r"|\d{5}-\d{3}"  # CEP
    r"|0[3589]00(?:[.-]?\d+)*"  # ligação gratuita
    r"|\d+(?:km|kg|m2|m3|mm|cm|kv|kva|mil)",  # medida
    re.I,
)
_QUANTIDADE = re.compile(
    r" ?(?:%|reais|mil|milhoes|metros?|m2|km|horas?|h|min|minutos?|dias?|semanas?|mes|meses|anos?|moradores|pessoas|"
    r"familias|casas|vezes|unidades|litros|toneladas)(?![a-z])|,\d"
)
_MINIMO_DE_DIGITOS = 3


def _serve(numero: str) -> bool:
    digitos = sum(c.isdigit() for c in numero)
    return len(numero) >= 4 and digitos >= _MINIMO_DE_DIGITOS and not _NAO_E_PROTOCOLO.fullmatch(numero)


def _livres(vista: str, dobra: str) -> list[re.Match[str]]:
    """Os números do texto que podem ser um protocolo: nem pessoais, nem data, dinheiro, medida ou endereço de rede."""
    alheios = sorted(
        [*((a.inicio, a.fim) for a in localizar(vista)), *(m.span() for m in TELEFONE_PUBLICO.finditer(vista))]
    )
    livres = []
    k = 0
    for m in _NUMERO.finditer(vista):
        while k < len(alheios) and alheios[k][1] <= m.start():
            k += 1
        if k < len(alheios) and alheios[k][0] < m.end():
            continue
        if not _serve(m.group()) or _QUANTIDADE.match(dobra, m.end()):
            continue
        if vista[max(0, m.start() - 3) : m.start()].rstrip().endswith("$"):
            continue
        livres.append(m)
    return livres


def extrair_protocolo(texto: str) -> str:
    """O número de protocolo que o texto traz, ou vazio.

    Vale primeiro o que a palavra «protocolo» rotula; depois o de outro registro (SEI, chamado, solicitação…);
    depois a forma que não se confunde; por fim o que vem logo depois de «nº».
    """
    vista = ver(texto)
    dobra = dobrar(vista)
    rotulos = Rotulos(vista, dobra)
    livres = _livres(vista, dobra)
    familias: dict[int, str] = {}
    corte = 0
    for m in livres:
        familias[m.start()] = rotulos.a_esquerda(m.start(), corte).especie
        corte = m.end()
    for familia in (PROTOCOLO, REGISTRO):
        for m in livres:
            if familias[m.start()] == familia:
                return m.group()
    inequivoco = _INEQUIVOCO.search(vista)
    if inequivoco:
        return inequivoco.group()
    for m in livres:
        antes = dobra[max(0, m.start() - 50) : m.start()]
        if not familias[m.start()] and _SO_NUMERO.search(antes) and not _ENDERECO.search(antes):
            return m.group()
    return ""
