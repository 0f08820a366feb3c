"""Como o uvicorn serve o app: sem log próprio de acesso (a linha de requisição é nossa) e sem se anunciar."""

import uvicorn
from litestar import Litestar

from app.ajustes import Ajustes

ENCERRAMENTO_S = 10


def servidor(app: Litestar, ajustes: Ajustes) -> uvicorn.Server:
    """O servidor pronto para `run()` ou `serve()`."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            host=ajustes.formigueiro_host,
            port=ajustes.formigueiro_porta,
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=ENCERRAMENTO_S,
        )
    )
