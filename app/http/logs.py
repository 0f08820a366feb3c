"""Log em linhas JSON, o nosso e o das bibliotecas, na saída de erro. Nunca o corpo de um pedido."""

import logging
import sys

import structlog
from structlog.typing import Processor


def configurar_logs(nivel: int = logging.INFO) -> None:
    """Configura o structlog e o logging do processo; chame uma vez, ao subir."""
    comuns: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True, key="quando"),
        structlog.processors.EventRenamer("mensagem"),
        # Só o rastro, sem as variáveis locais, que trariam corpos e textos de cidadãos.
        structlog.processors.format_exc_info,
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
    saida = logging.StreamHandler(sys.stderr)
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
    for falante in ("psycopg.pool", "uvicorn.access"):
        logging.getLogger(falante).setLevel(max(nivel, logging.WARNING))
