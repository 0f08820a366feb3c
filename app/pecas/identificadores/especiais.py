"""Identificadores que não são só dígitos: e-mail, placa, CNPJ com letras, chave aleatória do Pix."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tarja.validators import cnpj, placa

from app.pecas.palavras import conjunto


class Candidato(NamedTuple):
    """Um trecho que pode ser um identificador; `prova` diz do que ele ainda precisa para o ser."""

    inicio: int
    fim: int
    especie: str
    prova: str  # "certa" | "sem protetor" | "veiculo" | "colada" | "rotulo"


_LOCAL = re.compile(r"[\w.+%-]{1,64}$", re.ASCII)
_PROVEDOR = r"(?:gmail|hotmail|outlook|yahoo|icloud|uol|bol|terra|live)(?![\w-])"
_DOMINIO = re.compile(rf"(?:[\w-]{{1,63}}\.){{1,8}}[a-z]{{2,24}}|{_PROVEDOR}", re.ASCII | re.I)
_DE_PROVEDOR = re.compile(rf"{_PROVEDOR}(?:\.com)?(?:\.br)?", re.ASCII | re.I)
_DOMINIO_FALADO = re.compile(r"(?:[\w-]{1,63}(?:\.| ponto | ?[(\[]ponto[)\]] ?)){1,8}[a-z]{2,24}", re.ASCII | re.I)
_ARROBA = re.compile(r"@| ?[(\[] ?(?:arroba|at) ?[)\]] ?| arroba ", re.I)
_PLACA = re.compile(r"(?<![0-9A-Za-z\x00])[A-Za-z]{3}[- ]?\d[A-Za-z0-9]\d{2}(?![0-9A-Za-z\x00])")
_CNPJ_LETRAS = re.compile(
    r"(?<![0-9A-Za-z\x00])(?:[0-9A-Za-z]{2}\.[0-9A-Za-z]{3}\.[0-9A-Za-z]{3}/[0-9A-Za-z]{4}-\d{2}"
    r"|[0-9A-Za-z]{8}/[0-9A-Za-z]{4}-\d{2}|[0-9A-Za-z]{12}\d{2})(?![0-9A-Za-z\x00])"
)
_UUID = re.compile(
    r"(?<![0-9A-Za-z\x00])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9A-Za-z\x00])",
    re.I,
)
_CENTRO_DO_PIX = "br.gov.bcb.pix"
_COMECO_DO_PIX = re.compile(r"000201[0-9a-z.]*$")
_FIM_DO_PIX = re.compile(r"6304[0-9A-F]{4}", re.I)
_SIGLAS = conjunto("NBR ISO LEI ART SEI CEP RUA COD DOC PLC PEC TAC UBS UPA CEI NUP BOL CNJ ABN DEC POR RES")


def _emails(vista: str) -> Iterator[Candidato]:
    for m in _ARROBA.finditer(vista):
        inicio, fim = m.start(), m.end()
        dominio = _DOMINIO
        if m.group() == "@":
            antes, depois = vista[inicio - 1 : inicio] == " ", vista[fim : fim + 1] == " "
            if antes != depois:
                # «siga @prefeitura.sp» não é e-mail; «fulana @gmail.com» é.
                dominio = _DE_PROVEDOR
            inicio, fim = inicio - antes, fim + depois
        else:
            dominio = _DOMINIO_FALADO
        local = _LOCAL.search(vista[max(0, inicio - 64) : inicio])
        casa = dominio.match(vista, fim, fim + 300)
        if local and casa and any(c.isalnum() for c in local.group()):
            yield Candidato(inicio - len(local.group().lstrip(".-")), casa.end(), "email", "certa")


def _placas(vista: str) -> Iterator[Candidato]:
    for m in _PLACA.finditer(vista):
        texto = m.group()
        if not placa.is_valid(texto):
            continue
        junto = len(texto) == 7
        if texto[:3].isupper() and junto and placa.is_mercosur(texto):
            prova = "sem protetor"
        elif texto[:3].isupper() and texto[:3] not in _SIGLAS:
            prova = "veiculo"
        else:
            prova = "colada"
        yield Candidato(m.start(), m.end(), "placa", prova)


def _cnpjs(vista: str) -> Iterator[Candidato]:
    for m in _CNPJ_LETRAS.finditer(vista):
        texto = m.group()
        if not any(c.isalpha() for c in texto) or not any(c.isdigit() for c in texto[:-2]):
            continue
        if "/" in texto and "." in texto:
            yield Candidato(m.start(), m.end(), "cnpj", "certa" if cnpj.is_valid(texto) else "rotulo")
        else:
            yield Candidato(
                m.start(),
                m.end(),
                "cnpj",
                "sem protetor" if cnpj.is_valid(texto) and texto.isupper() else "rotulo",
            )


def _copia_e_cola(dobra: str) -> Iterator[Candidato]:
    """O «Pix copia e cola»: começa em 000201, traz br.gov.bcb.pix e acaba no código de conferência 6304."""
    centro = dobra.find(_CENTRO_DO_PIX)
    while centro >= 0:
        fim = centro + len(_CENTRO_DO_PIX)
        comeco = _COMECO_DO_PIX.search(dobra[max(0, centro - 120) : centro])
        if comeco:
            final = _FIM_DO_PIX.search(dobra, fim, fim + 400)
            fim = final.end() if final else fim
            yield Candidato(centro - len(comeco.group()), fim, "pix", "certa")
        centro = dobra.find(_CENTRO_DO_PIX, fim)


def _chaves(vista: str) -> Iterator[Candidato]:
    for m in _UUID.finditer(vista):
        yield Candidato(m.start(), m.end(), "pix", "rotulo")


def certos(vista: str) -> list[Candidato]:
    """O que é identificador seja qual for o contexto: em ordem e sem sobreposição."""
    achados = [
        *_emails(vista),
        *_copia_e_cola(vista.lower()),
        *(c for c in _cnpjs(vista) if c.prova == "certa"),
    ]
    achados.sort(key=lambda c: (c.inicio, -c.fim))
    soltos: list[Candidato] = []
    for c in achados:
        if soltos and c.inicio < soltos[-1].fim:
            soltos[-1] = soltos[-1]._replace(fim=max(c.fim, soltos[-1].fim))
        else:
            soltos.append(c)
    return soltos


def candidatos(vista: str) -> list[Candidato]:
    """O que depende do contexto, por ordem de início e, no mesmo início, do mais longo ao mais curto."""
    achados = [*_chaves(vista), *_cnpjs(vista), *_placas(vista)]
    achados.sort(key=lambda c: (c.inicio, -c.fim))
    return achados
