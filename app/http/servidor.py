"""Como o uvicorn serve o app: sem log próprio de acesso (a linha de requisição é nossa) e sem se anunciar."""

from types import FrameType

import uvicorn
from litestar import Litestar

from app.ajustes import Ajustes
from app.http.protocolo import protocolo

ENCERRAMENTO_S = 10


class _Servidor(uvicorn.Server):
    """A um segundo sinal não larga pelo meio o que está em curso: já está parando, e em ENCERRAMENTO_S acaba."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.force_exit = False


def servidor(app: Litestar, ajustes: Ajustes) -> uvicorn.Server:
    """O servidor pronto para `run()` ou `serve()`."""
    return _Servidor(
        uvicorn.Config(
            app,
            host=ajustes.formigueiro_host,
            port=ajustes.formigueiro_porta,
            http=protocolo(ajustes.formigueiro_espera_pedido_s),
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="on",
            timeout_graceful_shutdown=ENCERRAMENTO_S,
        )
    )
