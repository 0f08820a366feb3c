"""`formigueiro linha-do-tempo`: tudo o que aconteceu a uma demanda, em ordem. Sai com 1 se nada se sabe dela."""

from argparse import Namespace, _SubParsersAction
from contextlib import suppress
from datetime import UTC
from typing import Any
from uuid import UUID

import msgspec
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads

from app.ajustes import Ajustes
from app.banco.erros import ErroBanco
from app.banco.sessao import conectar
from app.linha_de_comando.ambiente import abrir
from app.linha_de_comando.tabela import tabela


def registrar(comandos: "_SubParsersAction[Any]") -> None:
    comando = comandos.add_parser("linha-do-tempo", help="tudo o que aconteceu a uma demanda, em ordem")
    comando.add_argument("demanda", type=UUID, metavar="DEMANDA", help="o demanda_id")
    comando.add_argument("--json", action="store_true", help="em JSON, com o detalhe de cada linha")
    comando.set_defaults(executar=executar)


def executar(ajustes: Ajustes, opcoes: Namespace) -> int:
    with (
        abrir(ajustes) as ambiente,
        conectar(ambiente.dsn_admin, row_factory=dict_row) as conexao,
    ):
        set_json_loads(msgspec.Raw, conexao)  # sai como veio: o jsonb aceita o que um leitor de JSON recusaria
        linhas = conexao.execute("SELECT * FROM core.linha_do_tempo(%s)", [opcoes.demanda]).fetchall()
    if not linhas:
        raise ErroBanco(f"nada se sabe da demanda {opcoes.demanda}")
    for linha in linhas:
        linha["quando"] = linha["quando"].astimezone(UTC)
    print(_json(linhas) if opcoes.json else _tabela(linhas))
    return 0


def _json(linhas: list[dict[str, Any]]) -> str:
    texto = msgspec.json.encode(linhas)
    with suppress(RecursionError):  # aninhado demais para se arrumar, sai numa linha só
        texto = msgspec.json.format(texto)
    return texto.decode()


def _tabela(linhas: list[dict[str, Any]]) -> str:
    return tabela(
        ("QUANDO (UTC)", "ORIGEM", "O QUÊ", "QUEM"),
        [(f"{linha['quando']:%Y-%m-%d %H:%M:%S}", linha["origem"], linha["o_que"], linha["quem"]) for linha in linhas],
    )
