"""Os avisos do banco no log do aplicativo: o que uma função diz com RAISE vira uma linha, com seu contexto em campos.

core.registrar manda a mensagem, o contexto em DETAIL (um objeto JSON) e o nível em HINT. Do contexto só passam
identificadores, números, horas e os poucos textos de vocabulário fechado; o resto fica em core.ocorrencias, que é
onde se lê com direito a isso. Do que o próprio servidor diz só passam as advertências, sem detalhe: em LOG ele repete
comandos com seus parâmetros (log_statement, auto_explain).
"""

import re
from typing import Any
from uuid import UUID

import msgspec
import structlog
from psycopg import AsyncConnection, Connection
from psycopg.errors import Diagnostic

from app.logs.privacidade import limpar

_log = structlog.get_logger(__name__)

_DE_RAISE = "exec_stmt_raise"  # a função do servidor que levanta um RAISE do PL/pgSQL
_METODOS = {"erro": "error", "aviso": "warning", "info": "info"}
_PALAVRAS = {"colonia", "tipo", "sqlstate", "status", "estado", "por"}
_RESERVADOS = {"event", "exc_info", "level", "logger", "mensagem", "quando", "stack_info"}
_PALAVRA = re.compile(r"[\w.:-]{1,100}")
_HORA = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def ouvir(conexao: Connection[Any] | AsyncConnection[Any]) -> None:
    """Leva ao log os avisos que chegarem por esta conexão."""
    conexao.add_notice_handler(_registrar)


def _registrar(aviso: Diagnostic) -> None:
    severidade = aviso.severity_nonlocalized or ""
    if aviso.source_function != _DE_RAISE:
        if severidade == "WARNING":
            _log.warning(limpar(aviso.message_primary or ""), origem="banco", sqlstate=aviso.sqlstate)
        return
    metodo = _METODOS.get(aviso.message_hint or "")
    if metodo is None:
        metodo = "warning" if severidade == "WARNING" else "debug" if severidade == "DEBUG" else "info"
    getattr(_log, metodo)(limpar(aviso.message_primary or ""), origem="banco", **contexto(aviso.message_detail))


def contexto(detalhe: str | None) -> dict[str, object]:
    """Os campos do contexto que podem ir ao log; vazio se o detalhe não é um objeto JSON."""
    try:
        campos = msgspec.json.decode(detalhe or "{}", type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return {}
    return {
        chave: passa
        for chave, valor in campos.items()
        if chave not in _RESERVADOS and (passa := _permitido(chave, valor)) is not None
    }


def _permitido(chave: str, valor: object) -> object | None:
    match valor:
        case bool() | int() | float():
            return valor
        case str() if chave == "erro":
            return limpar(valor)
        case str() if _e_uuid(valor) or _HORA.fullmatch(valor) or (chave in _PALAVRAS and _PALAVRA.fullmatch(valor)):
            return valor
        case list() if chave == "faltam":
            return [nome for nome in valor if isinstance(nome, str) and _PALAVRA.fullmatch(nome)]
        case list() if chave == "erros":
            return [falta.get("campo") for falta in valor if isinstance(falta, dict)]
    return None


def _e_uuid(texto: str) -> bool:
    try:
        return str(UUID(texto)) == texto.lower()
    except ValueError:
        return False
