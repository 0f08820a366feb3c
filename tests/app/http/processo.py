"""Um processo do app, como o de produção, para os testes que precisam de mais de um.

python -m tests.app.http.processo PORTA DSN [ESPERA_PEDIDO_S]
"""

import sys

from app.ajustes import Ajustes
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt
from app.http.servidor import servidor
from app.logs.configuracao import configurar_logs
from tests.app.http.conftest import AJUSTES, SEGREDO


def principal(porta: str, dsn: str, espera_pedido_s: str = "20") -> None:
    configurar_logs()
    ajustes = Ajustes(
        formigueiro_porta=int(porta),
        formigueiro_espera_banco_s=AJUSTES.formigueiro_espera_banco_s,
        formigueiro_espera_pedido_s=float(espera_pedido_s),
    )
    servidor(criar_app(ajustes, dsn, ChaveJwt.de_segredo(SEGREDO)), ajustes).run()


if __name__ == "__main__":
    principal(*sys.argv[1:])
