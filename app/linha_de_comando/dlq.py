"""`formigueiro dlq`: a fila do que não pôde ser tratado ou publicado."""

from argparse import Namespace, _SubParsersAction
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from app.ajustes import Ajustes
from app.banco.sessao import conectar
from app.linha_de_comando.ambiente import abrir
from app.linha_de_comando.tabela import tabela
from app.logs.avisos import ouvir

_CABECALHO = ("ID", "COLÔNIA", "ESPÉCIE", "TIPO", "CHAVE", "ESTADO", "TENTATIVAS", "PRÓXIMA (UTC)", "ERRO")


def registrar(comandos: "_SubParsersAction[Any]") -> None:
    dlq = comandos.add_parser("dlq", help="a fila do que falhou: listar, reprocessar, descartar")
    acoes = dlq.add_subparsers(title="ações", metavar="AÇÃO", required=True)

    acao = acoes.add_parser("listar", help="o que está em aberto, na ordem em que será tratado")
    acao.set_defaults(executar=listar)

    acao = acoes.add_parser("reprocessar", help="tenta de novo, agora, uma entrada pendente")
    acao.add_argument("id", type=_id, metavar="ID")
    acao.set_defaults(executar=reprocessar)

    acao = acoes.add_parser("descartar", help="encerra uma entrada sem tratá-la; as que esperam por ela voltam a andar")
    acao.add_argument("id", type=_id, metavar="ID")
    acao.add_argument("--motivo", required=True, help="por que não será tratada; fica registrado")
    acao.set_defaults(executar=descartar)


def _id(texto: str) -> int:
    numero = int(texto)
    if not 0 < numero < 2**63:
        raise ValueError(texto)
    return numero


def listar(ajustes: Ajustes, opcoes: Namespace) -> int:
    with _conexao(ajustes) as conexao:
        linhas = conexao.execute(
            """
            SELECT d.id, d.colonia, d.especie, coalesce(d.saida ->> 'tipo', d.tipo), d.chave, d.estado, d.tentativas,
                   to_char(d.proxima_tentativa AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
                   left(d.sqlstate || ' ' || split_part(d.ultimo_erro, E'\\n', 1), 80)
              FROM core.dlq AS d
             WHERE d.estado IN ('pendente', 'em_espera')
             ORDER BY d.colonia, d.sequence_number, d.id
            """
        ).fetchall()
    print(tabela(_CABECALHO, linhas) if linhas else "Nada na DLQ.")
    return 0


def reprocessar(ajustes: Ajustes, opcoes: Namespace) -> int:
    with _conexao(ajustes) as conexao:
        linha = conexao.execute("SELECT core.dlq_reprocessar(%s)", [opcoes.id]).fetchone()
    resultado = linha[0] if linha else None
    print(resultado)
    return 1 if str(resultado).startswith("falhou") else 0


def descartar(ajustes: Ajustes, opcoes: Namespace) -> int:
    with _conexao(ajustes) as conexao:
        conexao.execute("SELECT core.dlq_descartar(%s, %s)", [opcoes.id, opcoes.motivo])
    print(f"Entrada {opcoes.id} descartada.")
    return 0


@contextmanager
def _conexao(ajustes: Ajustes) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
    with abrir(ajustes) as ambiente, conectar(ambiente.dsn_admin) as conexao:
        ouvir(conexao)
        yield conexao
