"""`formigueiro token`: um JWT de desenvolvimento, só para o banco embutido."""

from argparse import Namespace, _SubParsersAction
from typing import Any
from uuid import UUID

from app.ajustes import Ajustes, ErroAjuste


def registrar(comandos: "_SubParsersAction[Any]") -> None:
    comando = comandos.add_parser("token", help="emite um JWT de desenvolvimento (só com o banco embutido)")
    comando.add_argument("--cidadao", type=UUID, required=True, metavar="UUID", help="o cidadao_id do token")
    comando.set_defaults(executar=executar)


def executar(ajustes: Ajustes, opcoes: Namespace) -> int:
    from app.http.seguranca import chave_dos_ajustes, emitir_token

    if not ajustes.embutido:
        raise ErroAjuste("token só emite para o banco embutido: com DATABASE_URL quem emite é o provedor de identidade")
    print(emitir_token(chave_dos_ajustes(ajustes), opcoes.cidadao))
    return 0
