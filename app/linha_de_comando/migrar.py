"""`formigueiro migrar`: instala, ou traz um banco à versão deste código."""

from argparse import Namespace, _SubParsersAction
from typing import Any

from app.ajustes import Ajustes
from app.linha_de_comando.ambiente import abrir


def registrar(comandos: "_SubParsersAction[Any]") -> None:
    comando = comandos.add_parser("migrar", help="instala ou atualiza o banco; pode ser repetido à vontade")
    comando.set_defaults(executar=executar)


def executar(ajustes: Ajustes, opcoes: Namespace) -> int:
    with abrir(ajustes, criar=True) as ambiente:
        feito = ambiente.migrar()
    for nome in feito.migracoes:
        print(f"migração aplicada: {nome}")
    print("funções: instaladas" if feito.funcoes else "funções: em dia")
    print(f"esquemas de eventos: {feito.esquemas} carregados" if feito.esquemas else "esquemas de eventos: em dia")
    print(f"agenda: {'no pg_cron' if feito.pg_cron else 'do app (sem pg_cron)'}")
    for aviso in feito.avisos:
        print(f"atenção: {aviso}")
    return 0
