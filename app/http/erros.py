"""O único lugar em que uma exceção vira resposta: do Litestar, do PostgreSQL ou nossa."""

import re
from typing import Any

import psycopg
import structlog
from litestar import Request, Response
from litestar.exceptions import HTTPException, SerializationException, ValidationException

from app.http.faltas import faltas_de_validacao
from app.http.identificacao import requisicao_id
from app.http.problema import (
    CAMPOS_INVALIDOS,
    CORPO_GRANDE,
    CORPO_ILEGIVEL,
    DEFEITO,
    MALFORMADA,
    NADA_AQUI,
    SEM_BANCO,
    Falta,
    Recusa,
    responder,
)

_log = structlog.get_logger(__name__)

VOLTE_EM_S = 5
_DETALHES = {
    400: MALFORMADA,
    404: NADA_AQUI,
    405: "Este endereço não aceita esse método.",
    413: CORPO_GRANDE,
}
# Classes e códigos em que o banco, e não o pedido, é que não serve agora: conexão, recursos, intervenção do
# operador, erro de sistema; só leitura (réplica), serialização, impasse e trava não obtida.
_BANCO_INDISPONIVEL = re.compile(r"(08|53|57|58)...|25006|40001|40P01|55P03")
_RECUSA_DO_BANCO = re.compile(r"FM(4\d\d|503)")


def tratar(requisicao: Request[Any, Any, Any], erro: Exception) -> Response[bytes]:
    """Responde a qualquer exceção com um problema em português; o que é defeito nosso vai para o log."""
    recusa = _recusa(erro)
    if recusa is None:
        _log.error("erro não tratado", requisicao_id=requisicao_id(requisicao.scope), exc_info=erro)
        recusa = Recusa(500, DEFEITO)
    elif recusa.status == 503:
        _log.warning(
            "serviço indisponível",
            motivo=recusa.detalhe,
            requisicao_id=requisicao_id(requisicao.scope),
            erro=type(erro).__name__,
            sqlstate=getattr(erro, "sqlstate", None),
        )
    return responder(recusa, requisicao_id(requisicao.scope))


def _recusa(erro: Exception) -> Recusa | None:
    match erro:
        case Recusa():
            return erro
        case ValidationException():
            return Recusa(400, CAMPOS_INVALIDOS, faltas=faltas_de_validacao(erro.extra))
        case HTTPException(__cause__=SerializationException()):
            return _corpo_invalido("não é JSON válido")
        case RecursionError():  # só o corpo aninha o que vem de fora
            return _corpo_invalido("tem níveis demais")
        case HTTPException(detail="client disconnected prematurely"):
            return Recusa(400, "A conexão caiu antes do fim do corpo.")  # ninguém a lerá; não é defeito nosso
        case HTTPException(status_code=status, headers=cabecalhos) if status < 500:
            return Recusa(status, _DETALHES.get(status, "A requisição não pôde ser atendida."), cabecalhos)
        case psycopg.Error():
            return _recusa_do_banco(erro)
        case TimeoutError():
            return _indisponivel()
    return None


def _recusa_do_banco(erro: psycopg.Error) -> Recusa | None:
    if erro.sqlstate is None:
        return _indisponivel() if isinstance(erro, psycopg.OperationalError) else None
    if _RECUSA_DO_BANCO.fullmatch(erro.sqlstate):
        return Recusa(int(erro.sqlstate[2:]), erro.diag.message_primary or "")
    return _indisponivel() if _BANCO_INDISPONIVEL.fullmatch(erro.sqlstate) else None


def _indisponivel() -> Recusa:
    return Recusa(503, SEM_BANCO, {"Retry-After": str(VOLTE_EM_S)})


def _corpo_invalido(motivo: str) -> Recusa:
    return Recusa(400, CORPO_ILEGIVEL, faltas=[Falta("corpo", motivo)])
