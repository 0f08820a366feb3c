"""As formas que um número pode ter no papel, achadas pelos comprimentos de seus grupos de dígitos.

«529.982.247-25» são grupos de 3, 3, 3 e 2. Uma consulta a um dicionário por essa sequência, e só então a
expressão regular que confere a pontuação, mantém a busca linear no texto.
"""

import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Final, NamedTuple

from tarja.validators import cartao, cnh, cnpj, cns, cpf, nis, titulo
from tarja.validators.telefone import DDDS


class Grau(IntEnum):
    """Quanto a forma, sozinha, prova que o número é pessoal."""

    ROTULADA = 0  # nada prova: precisa do rótulo
    MEDIA = 1  # sai, a não ser que haja um rótulo protetor por perto
    ALTA = 2  # sai, a não ser que o rótulo protetor esteja colado
    CERTA = 3  # sai sempre


class Forma(NamedTuple):
    """Uma forma: a espécie que ela sugere, a pontuação, o conferidor e o grau quando ele confere ou não."""

    especie: str
    pontuacao: re.Pattern[str]
    confere: Callable[[str], bool]
    grau: Grau
    grau_errado: Grau | None = None  # None: sem conferência não é nem candidata (a não ser pelo rótulo)


_NAO_DIGITO = re.compile(r"[^0-9]")
# Ligação gratuita ou tarifada (0800, 0300…) e número nacional de empresa (4004…): públicos.
TELEFONE_PUBLICO: Final = re.compile(
    r"0[3589]00\)?[ .-]?(?:\d{3}[ .-]?\d{4}|\d{4}[ .-]?\d{3}|\d{3}[ .-]?\d{3}|\d{2}[ .-]\d{2}[ .-]\d{2,3})(?![0-9])"
    r"|(?:400[34]|4020|3003|4062|4090)[ .-]?\d{4}(?![0-9])"
)
_DECIMAL = re.compile(r"\d{2}\.\d{8,9}")  # «46.63330911»: coordenada
_NACIONAIS = ("4003", "4004", "4020", "3003", "4062", "4090")


def digitos(texto: str) -> str:
    """Só os dígitos."""
    return _NAO_DIGITO.sub("", texto)


def _ano(quatro: str) -> bool:
    return "1900" <= quatro <= "2099"


def telefone_com_ddd(texto: str) -> bool:
    """Um DDD que existe e um número que cabe nele; aceita 55, 0 e código de operadora à frente."""
    if _DECIMAL.fullmatch(texto):
        return False
    d = digitos(texto)
    if len(d) in (12, 13) and d.startswith("55"):
        d = d[2:]
    elif len(d) in (11, 12) and d.startswith("0"):
        d = d[1:]
    elif len(d) in (13, 14) and d.startswith("0"):
        d = d[3:]
    if len(d) not in (10, 11) or d[:2] not in DDDS:
        return False
    if len(d) == 11:
        return d[2] == "9"
    return d[2] in "23456789" and not (_ano(d[2:6]) and _ano(d[6:]) and "(" not in texto)


def fixo_com_ddd(texto: str) -> bool:
    """Dez dígitos seguidos de um telefone fixo, ou onze de um celular."""
    d = digitos(texto)
    return telefone_com_ddd(texto) and (len(d) != 10 or d[2] in "2345")


def telefone_sem_ddd(texto: str) -> bool:
    """Oito ou nove dígitos de assinante: nem par de anos, nem número nacional de empresa."""
    d = digitos(texto)
    if len(d) == 9:
        return d[0] == "9"
    return len(d) == 8 and d[0] in "23456789" and not (_ano(d[:4]) and _ano(d[4:])) and d[:4] not in _NACIONAIS


def _cartao_em_quartetos(texto: str) -> bool:
    return bool(cartao.is_valid(texto, require_brand=False))


def _qualquer(_texto: str) -> bool:
    return True


def _forma(
    especie: str, pontuacao: str, confere: Callable[[str], bool], grau: Grau, errado: Grau | None = None
) -> Forma:
    return Forma(especie, re.compile(pontuacao), confere, grau, errado)


_UF_DO_TITULO = r"(?:0[1-9]|1\d|2[0-8])"
_DDD = r"\(? ?0?\d{2} ?\)?"
_PAIS = r"\(?55\)?[ .-]{0,2}"
_LONGA = r"\(?0[ -]?(?:[xX]{2})?[ -]?(?:\d{2})?\)?[ .-]?"

# A ordem dentro de cada lista é a ordem de preferência quando o rótulo não decide.
FORMAS: Final[dict[tuple[int, ...], Sequence[Forma]]] = {}


def _registrar(grupos: str, *formas: Forma) -> None:
    for sequencia in grupos.split():
        chave = tuple(map(int, sequencia.split(",")))
        FORMAS[chave] = (*FORMAS.get(chave, ()), *formas)


_registrar(
    "3,3,3,2",
    _forma("cpf", r"\d{3}\.\d{3}\.\d{3}-\d{2}", cpf.is_valid, Grau.CERTA, Grau.ALTA),
    _forma("cpf", r"\d{3}[. -]\d{3}[. -]\d{3} ?[-/. ] ?\d{2}", cpf.is_valid, Grau.ALTA),
)
_registrar("9,2", _forma("cpf", r"\d{9} ?[-/ ] ?\d{2}", cpf.is_valid, Grau.MEDIA))
_registrar("3,3,5", _forma("cpf", r"\d{3}[. ]\d{3}[. ]\d{5}", cpf.is_valid, Grau.MEDIA))
_registrar(
    "2,3,3,4,2",
    _forma("cnpj", r"\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}", cnpj.is_valid, Grau.CERTA, Grau.ALTA),
    _forma("cnpj", r"\d{2}[. ]\d{3}[. ]\d{3}[/ ]\d{4}[- ]\d{2}", cnpj.is_valid, Grau.ALTA),
)
_registrar("8,4,2", _forma("cnpj", r"\d{8}[/ ]\d{4}[- ]\d{2}", cnpj.is_valid, Grau.ALTA))
_registrar("12,2", _forma("cnpj", r"\d{12}-\d{2}", cnpj.is_valid, Grau.MEDIA))
_registrar("3,5,2,1", _forma("pis", r"\d{3}[. ]\d{5}[. ]\d{2}[- ]\d", nis.is_valid, Grau.ALTA))
_registrar("3,4,4,4", _forma("cns", r"\d{3}([ .-])\d{4}\1\d{4}\1\d{4}", cns.is_valid, Grau.ALTA))
_registrar(
    "4,4,4",
    _forma("telefone", r"\+?55\d{2}[ -]\d{4}[ -]\d{4}", telefone_com_ddd, Grau.MEDIA),
    _forma("titulo", rf"\d{{4}}([ .-])\d{{4}}\1{_UF_DO_TITULO}\d\d", titulo.is_valid, Grau.MEDIA),
)
_registrar("4,4,4,4", _forma("cartao", r"[3-6]\d{3}([ .-])\d{4}\1\d{4}\1\d{4}", _cartao_em_quartetos, Grau.ALTA))
_registrar("4,6,5", _forma("cartao", r"\d{4}([ -])\d{6}\1\d{5}", cartao.is_valid, Grau.ALTA))

# Telefones com DDD: entre parênteses a forma é certa; com hífen, alta; só com espaços, média.
_registrar(
    "2,5,4 2,4,4 2,1,4,4 2,9 2,8 2,1,8 3,5,4 3,4,4 3,1,4,4 3,9 3,8",
    _forma("telefone", r"\( ?0?\d{2} ?\)[ .-]{0,3}[\d .-]+", telefone_com_ddd, Grau.CERTA),
    _forma("telefone", rf"{_DDD}[ ./-]{{1,3}}(?:9[ .-]?)?\d{{4}} ?- ?\d{{4}}", telefone_com_ddd, Grau.ALTA),
    _forma("telefone", rf"{_DDD}[ .-]{{1,3}}(?:9[ .-]?)?\d{{4}}[ .]?\d{{4}}", telefone_com_ddd, Grau.MEDIA),
)
_registrar(
    "2,2,5,4 2,2,4,4 2,2,1,4,4 2,2,9 2,2,8 2,11 2,10 13 12 4,5,4 4,9 4,8",
    _forma("telefone", rf"\+{_PAIS}{_DDD}[ .-]{{0,3}}[\d .-]+", telefone_com_ddd, Grau.CERTA),
    _forma("telefone", rf"{_PAIS}{_DDD}[ .-]{{0,3}}[\d .-]+", telefone_com_ddd, Grau.MEDIA),
)
_registrar(
    "1,2,5,4 1,2,4,4 1,2,1,4,4 1,2,9 1,2,8 1,2,2,5,4 1,2,2,4,4 3,2,5,4 3,2,4,4",
    _forma("telefone", rf"{_LONGA}{_DDD}[ .-]{{0,3}}[\d .-]+", telefone_com_ddd, Grau.MEDIA),
)
_registrar(
    "5,4",
    _forma("telefone", r"9\d{4} ?- ?\d{4}", telefone_sem_ddd, Grau.ALTA),
    _forma("telefone", r"9\d{4}[ .]\d{4}", telefone_sem_ddd, Grau.ROTULADA),
)
_registrar("4,4 1,4,4 1,8", _forma("telefone", r"(?:9[ .-]?)?\d{4} ?[ .-]? ?\d{4}", telefone_sem_ddd, Grau.ROTULADA))

_registrar(
    "11",
    _forma("telefone", r"\d{11}", telefone_com_ddd, Grau.MEDIA),
    _forma("cpf", r"\d{11}", cpf.is_valid, Grau.MEDIA),
    _forma("pis", r"\d{11}", nis.is_valid, Grau.ROTULADA),
    _forma("cnh", r"\d{11}", cnh.is_valid, Grau.ROTULADA),
)
_registrar("10", _forma("telefone", r"\d{10}", fixo_com_ddd, Grau.MEDIA))
_registrar("9 8", _forma("telefone", r"\d{8,9}", telefone_sem_ddd, Grau.ROTULADA))
_registrar("12", _forma("titulo", rf"\d{{8}}{_UF_DO_TITULO}\d\d", titulo.is_valid, Grau.MEDIA))
_registrar("14", _forma("cnpj", r"\d{14}", cnpj.is_valid, Grau.MEDIA))
_registrar("15", _forma("cns", r"\d{15}", cns.is_valid, Grau.MEDIA))
_registrar("13 14 15 16 19", _forma("cartao", r"\d{13,19}", cartao.is_valid, Grau.MEDIA))
_registrar(
    "2,3,3,1 2,3,3 1,3,3 1,3,3,1 8,1 7,1 5 6 7 8 9 10",
    _forma("rg", r"\d{1,2}\.\d{3}\.\d{3}(?:-\d)?|\d{7,8}-\d|\d{5,10}", _qualquer, Grau.ROTULADA),
)

MAIS_GRUPOS: Final = max(map(len, FORMAS))

# Quantos dígitos tem cada documento, e quantos se aceitam quando alguém errou ao copiar.
EXATOS: Final = {"cpf": 11, "cnpj": 14, "cns": 15, "pis": 11, "titulo": 12, "cnh": 11, "cartao": 16}
TOLERADOS: Final = {
    "cpf": range(8, 14),
    "cnpj": range(8, 17),
    "cns": range(13, 18),
    "pis": range(9, 13),
    "titulo": range(9, 15),
    "cnh": range(9, 13),
    "cartao": range(13, 20),
    "rg": range(5, 12),
    "pix": range(8, 15),
    "telefone": range(8, 14),
}
