"""`formigueiro demo`: a cidade de exemplo, do sorteio ao fim da vida útil."""

from argparse import Namespace, _SubParsersAction
from typing import Any

from app.ajustes import Ajustes
from app.linha_de_comando.ambiente import abrir
from app.linha_de_comando.denylist import denylist_dos_ajustes


def registrar(comandos: "_SubParsersAction[Any]") -> None:
    comando = comandos.add_parser("demo", help="toca a cidade de exemplo e imprime sua linha do tempo")
    comando.set_defaults(executar=executar)


def executar(ajustes: Ajustes, opcoes: Namespace) -> int:
    from app.demo.demo import tocar

    denylist = denylist_dos_ajustes(ajustes)
    with abrir(ajustes, criar=True) as ambiente:
        ambiente.migrar()
        return tocar(ambiente.dsn_admin, ambiente.dsn, denylist)
