"""`formigueiro servir`: o servidor HTTP e o trabalhador, num processo, até um sinal."""

from argparse import Namespace, _SubParsersAction
from typing import Any

from app.ajustes import Ajustes


def registrar(comandos: "_SubParsersAction[Any]") -> None:
    comando = comandos.add_parser("servir", help="o servidor HTTP com o trabalhador e, sem pg_cron, a agenda")
    comando.add_argument("--sem-migrar", action="store_true", help="não migra o banco antes de servir")
    comando.set_defaults(executar=executar)


def executar(ajustes: Ajustes, opcoes: Namespace) -> int:
    from app.linha_de_comando.servico import servir  # só aqui, que é pesado de importar

    servir(ajustes, opcoes.sem_migrar)
    return 0
