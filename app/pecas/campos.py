"""A leitura dos campos do conteúdo estruturado: uma linha, sanitizada, no tamanho."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final

from app.pecas.corte import cortar
from app.pecas.nomes import apagar_nome
from app.pecas.sanitizador import sanitizar

LIMITE_CAMPO: Final = 300
_DATA_ISO = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:T.*)?")


def campo(conteudo: Mapping[str, object], nome: str) -> str:
    """O campo `nome` como texto público; vazio se não há, ou se não é texto nem número.

    O número de um protocolo é lido como tal: sem o rótulo, um que passasse pela conta do CPF se perderia.
    """
    valor = conteudo.get(nome)
    if isinstance(valor, bool) or not isinstance(valor, str | int | float):
        return ""
    rotulo = "protocolo " if nome == "protocolo_numero" else ""
    limpo = " ".join(sanitizar(rotulo + str(valor)).removeprefix(rotulo).split())
    if rotulo and limpo == rotulo.strip():
        return ""
    pessoa = conteudo.get("contato_nome")
    if isinstance(pessoa, str):
        limpo = apagar_nome(limpo, pessoa)
    return cortar(limpo, LIMITE_CAMPO)


def data_por_extenso(valor: str) -> str:
    """AAAA-MM-DD como dd/mm/aaaa; o que não é uma data fica como está."""
    m = _DATA_ISO.fullmatch(valor)
    if not m:
        return valor
    try:
        return date(int(m[1]), int(m[2]), int(m[3])).strftime("%d/%m/") + m[1]
    except ValueError:
        return valor
