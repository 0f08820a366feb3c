"""O aplicativo, no ar para as páginas que o chamam por HTTP: `python -m … PORTA DSN DADOS [SEGREDO]`."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from psycopg.conninfo import make_conninfo

from app.ajustes import Ajustes
from app.http.aplicacao import criar_app
from app.http.seguranca import chave_dos_ajustes, emitir_token
from app.http.servidor import servidor
from app.logs.configuracao import configurar_logs
from tests.app.http.processos import um

_SEGREDO = re.compile(r"FORMIGUEIRO_JWT_SEGREDO=(\S{32,})")


@contextmanager
def no_ar(pagina: Path, dsn: str, pasta: Path) -> Iterator[dict[str, str]]:
    """O aplicativo sobre o banco, com o segredo que a página lhe dá ou o do banco embutido que mora em `pasta`.

    Dá as variáveis de quem o chama: onde ele está e o token que `make run` mostra.
    """
    segredo = _SEGREDO.search(pagina.read_text(encoding="utf-8"))
    ajustes = Ajustes(formigueiro_dados=pasta, formigueiro_jwt_segredo=segredo[1] if segredo else None)
    token = emitir_token(chave_dos_ajustes(ajustes), UUID(int=0))
    argumentos = [make_conninfo(dsn, user="formigueiro_app"), str(pasta), *([segredo[1]] if segredo else [])]
    with um("tests.docs.servico", argumentos, pasta / "servico.log") as cliente:
        yield {"SERVICO": str(cliente.base_url).rstrip("/"), "TOKEN": token}


def principal(porta: str, dsn: str, pasta: str, segredo: str | None = None) -> None:
    configurar_logs()
    ajustes = Ajustes(formigueiro_porta=int(porta), formigueiro_dados=Path(pasta), formigueiro_jwt_segredo=segredo)
    servidor(criar_app(ajustes, dsn, chave_dos_ajustes(ajustes)), ajustes).run()


if __name__ == "__main__":
    principal(*sys.argv[1:])
