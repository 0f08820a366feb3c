"""O log de todo comando, o nosso e o das bibliotecas: uma linha JSON por acontecimento, na saída de erro."""

import logging
import sys
import traceback
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from app.logs.privacidade import descrever

NIVEIS = {"debug": logging.DEBUG, "info": logging.INFO, "aviso": logging.WARNING, "erro": logging.ERROR}


def configurar_logs(nivel: int = logging.INFO) -> None:
    """Configura o structlog e o logging do processo; repetir é inócuo."""
    comuns: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="quando"),
        structlog.processors.EventRenamer("mensagem"),
        _rastro,
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *comuns,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    saida = _SaidaDeErro()
    saida.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.PositionalArgumentsFormatter(), *comuns],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(ensure_ascii=False, default=str),
            ],
        )
    )
    raiz = logging.getLogger()
    raiz.handlers = [saida]
    raiz.setLevel(nivel)
    for falante in ("psycopg.pool", "uvicorn.access", "yoyo.migrations"):
        logging.getLogger(falante).setLevel(max(nivel, logging.WARNING))


class _SaidaDeErro(logging.StreamHandler[Any]):
    """A saída de erro do momento, e não a de quando se configurou."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def _rastro(_: WrappedLogger, __: str, linha: EventDict) -> EventDict:
    """Uma exceção vira sua descrição e por onde passou: nem valores, nem a mensagem de quem pode citá-los."""
    exc_info = linha.pop("exc_info", None)
    erro = exc_info if isinstance(exc_info, BaseException) else None
    if isinstance(exc_info, tuple):
        erro = exc_info[1]
    elif exc_info is True:
        erro = sys.exc_info()[1]
    if erro is not None:
        linha["erro"] = descrever(erro)
        linha["rastro"] = "".join(traceback.format_tb(erro.__traceback__))
    return linha
