"""A sugestão de estruturação de um relato, por heurística (D-6b, 4.1 e 4.5). Nada persiste, nada publica."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Final
from uuid import UUID

from msgspec import Struct

from app.pecas.extracao.prazo import extrair_data_estimada
from app.pecas.extracao.protocolo import extrair_protocolo
from app.pecas.extracao.situacao import extrair_situacao
from app.pecas.frases import primeira_frase
from app.pecas.tipos import TIPOS_ATUALIZACAO

TETO_TITULO: Final = 100

# O que d6b.validar_atualizacao aceita (4.2); a data é conferida contra o dia cívico em quem a extrai.
_PROTOCOLO_VALIDO = re.compile(r"[A-Za-z0-9./ -]{4,}")

_PAPEL: Final = (
    "Você é um assistente de relatoria cívica. "
    "Seu papel é estruturar informações mantendo linguagem neutra "
    "e separando fatos de interpretações. Não invente dados que "
    "não estão no texto original.\n\n"
)


class TipoInvalido(ValueError):
    """O tipo de atualização não é um dos seis."""

    def __init__(self) -> None:
        super().__init__(f"Tipo de atualização inválido. Esperado um dos: {', '.join(TIPOS_ATUALIZACAO)}.")


class ParametrosIa(Struct, frozen=True):
    """Os parâmetros da IA que a sugestão lê."""

    ia_habilitada: bool
    ia_score_fallback: float


class SugestaoIa(Struct):
    """A resposta da rota de sugestão."""

    titulo_sugerido: str
    texto_sugerido: str
    campos_estruturados: dict[str, str]
    score_confianca: float


def construir_prompt(texto_bruto: str, tipo: str, demanda_id: UUID) -> str:
    """O prompt da especificação, com a referência da demanda e o tipo."""
    return (
        f"{_PAPEL}Demanda de referência: {demanda_id}.\nTipo de atualização: {tipo}.\n\nTexto original: {texto_bruto}"
    )


def extrair_titulo(texto_bruto: str) -> str:
    """A primeira frase, sem o ponto final, em até 100 caracteres."""
    frase = primeira_frase(texto_bruto)
    if frase.endswith(".") and not frase.endswith(".."):
        frase = frase[:-1]
    if len(frase) <= TETO_TITULO:
        return frase
    cortada = frase[: TETO_TITULO - 1]
    palavra = cortada.rfind(" ")
    if palavra > TETO_TITULO // 2 and not frase[TETO_TITULO - 1].isspace():
        cortada = cortada[:palavra]
    return cortada.rstrip(" ,;:-–—(") + "…"


def _campos(texto_bruto: str, tipo: str, hoje: date) -> Mapping[str, str]:
    if tipo == "protocolo_aberto":
        numero = extrair_protocolo(texto_bruto)
        return {"protocolo_numero": numero if _PROTOCOLO_VALIDO.fullmatch(numero) else ""}
    if tipo == "prazo_registrado":
        return {"data_estimada": extrair_data_estimada(texto_bruto, hoje)}
    if tipo == "status_atualizado":
        return {"novo_status": extrair_situacao(texto_bruto)}
    return {}


def sugerir(texto_bruto: str, tipo: str, demanda_id: UUID, hoje: date, parametros: ParametrosIa) -> SugestaoIa:
    """Título, texto e campos para o conselheiro revisar; só entram campos que a validação aceita."""
    if tipo not in TIPOS_ATUALIZACAO:
        raise TipoInvalido
    if parametros.ia_habilitada:
        # No MVP o prompt é montado e não vai a modelo nenhum (4.5): a resposta é sempre a heurística.
        construir_prompt(texto_bruto, tipo, demanda_id)
    return SugestaoIa(
        titulo_sugerido=extrair_titulo(texto_bruto),
        texto_sugerido=texto_bruto.strip(),
        campos_estruturados={nome: valor for nome, valor in _campos(texto_bruto, tipo, hoje).items() if valor},
        score_confianca=parametros.ia_score_fallback,
    )
