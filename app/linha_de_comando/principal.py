"""Escolhe o comando, roda-o, e diz em uma linha o que deu errado: ninguém que opera precisa ler um rastro."""

import argparse
import sys
from collections.abc import Sequence

import psycopg
from psycopg import errors

from app.ajustes import ErroAjuste, ler
from app.banco.erros import ErroBanco
from app.citar import citar
from app.linha_de_comando import demo, dlq, estado, linha_do_tempo, migrar, servir, token, trabalhar
from app.linha_de_comando.analisador import Analisador
from app.logs.configuracao import NIVEIS, configurar_logs

FALHOU, AJUSTE, INTERROMPIDO = 1, 2, 130
COMANDOS = (migrar, servir, trabalhar, demo, estado, linha_do_tempo, dlq, token)

# O que um banco sem migrar, ou de outra versão, não tem.
_NAO_MIGRADO = (
    errors.UndefinedTable,
    errors.UndefinedFunction,
    errors.UndefinedColumn,
    errors.InvalidSchemaName,
    errors.UndefinedObject,
)


def principal(argumentos: Sequence[str] | None = None) -> int:
    """Roda um comando e devolve o código de saída: 0 bem, 1 falhou, 2 ajuste ou argumento errado.

    Um comando em que 1 quer dizer outra coisa põe em `falha` o seu.
    """
    opcoes = _analisador().parse_args(argumentos)
    falhou: int = getattr(opcoes, "falha", FALHOU)
    try:
        ajustes = ler()
        configurar_logs(NIVEIS[ajustes.formigueiro_log_nivel])
        return int(opcoes.executar(ajustes, opcoes))
    except ErroAjuste as erro:
        return _dizer(erro, AJUSTE)
    except (ErroBanco, OSError) as erro:
        return _dizer(erro, falhou)
    except psycopg.Error as erro:
        return _dizer(_motivo(erro), falhou)
    except KeyboardInterrupt:
        return INTERROMPIDO


def _analisador() -> argparse.ArgumentParser:
    analisador = Analisador(
        prog="formigueiro", description="Relatoria, acompanhamento e manutenção programada de demandas cívicas."
    )
    comandos = analisador.add_subparsers(title="comandos", metavar="COMANDO", required=True)
    for comando in COMANDOS:
        comando.registrar(comandos)
    return analisador


def _motivo(erro: psycopg.Error) -> str:
    linhas = [linha.strip(" -") for linha in str(erro).splitlines() if not linha.startswith("Multiple")]
    mensagem = erro.diag.message_primary or next(iter(linhas), "sem mensagem")
    if isinstance(erro, _NAO_MIGRADO):
        return f"o banco não está migrado, ou é de outra versão: rode formigueiro migrar ({mensagem})"
    if isinstance(erro, errors.InsufficientPrivilege):
        return f"este papel não tem direito a isso (migrar e operar podem usar o de DATABASE_URL_MIGRACAO): {mensagem}"
    if erro.diag.sqlstate is None:
        return f"não alcancei o banco de dados: {mensagem}"
    return mensagem


def _dizer(erro: object, codigo: int) -> int:
    print(f"formigueiro: {citar(str(erro))}", file=sys.stderr)
    return codigo
