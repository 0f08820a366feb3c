"""Instala as funções, visões e gatilhos de sql/functions, cada arquivo como o dono do esquema de sua pasta."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Any, NoReturn, cast

import psycopg
from psycopg import errors, sql

from app.banco import catalogo, transacoes
from app.banco.catalogo import ESQUEMAS, Objeto
from app.banco.erros import ErroBanco
from app.banco.insistir import ceder, insistir

# O que CREATE OR REPLACE não sabe trocar: nomes de parâmetros, tipo devolvido, espécie da rotina, colunas da visão.
IRREPARAVEIS = (errors.InvalidFunctionDefinition, errors.WrongObjectType, errors.InvalidTableDefinition)

_DEFINICAO = re.compile(r"^CREATE OR REPLACE (?:FUNCTION|PROCEDURE|VIEW)\s+(\w+\.\w+)", re.MULTILINE | re.IGNORECASE)


class ErroFuncao(ErroBanco):
    """Um arquivo de sql/functions não pôde ser instalado; a mensagem o nomeia."""


class _Afastar(Exception):
    """O que este arquivo define só se instala depois de afastado o que tem estes nomes."""

    def __init__(self, nomes: set[str]) -> None:
        self.nomes = nomes


def instalar(conexao: psycopg.Connection[Any], pasta: Path, de_novo: bool = False) -> bool:
    """Instala tudo se algum arquivo mudou, ou se `de_novo`; devolve se instalou.

    O resultado é o de um banco novo: o que ficou sem arquivo é removido, e os direitos são os que os arquivos dão. Mas
    quem já corria pode seguir com um corpo antigo, que chama o que ficou sem arquivo: só depois dele isso é removido.
    Se o processo morre antes, a próxima chamada refaz tudo.
    """
    arquivos = _em_ordem(pasta)
    impressao = _impressao(pasta, arquivos)
    if _instalada(conexao) == impressao and not de_novo:
        return False
    sobras = insistir(_trocar, conexao, pasta, arquivos)
    if sobras:
        transacoes.esperar_as_de_agora(conexao)
    insistir(_concluir, conexao, sobras, impressao)
    return True


def _trocar(conexao: psycopg.Connection[Any], pasta: Path, arquivos: list[Path]) -> list[Objeto]:
    """Põe no lugar o que os arquivos definem, numa transação; devolve as rotinas e visões que sobram."""
    with conexao.transaction():
        conexao.execute("SET LOCAL check_function_bodies = off; SET LOCAL search_path = pg_catalog")
        ceder(conexao)
        catalogo.travar(conexao)
        direitos = catalogo.direitos(conexao)
        catalogo.revogar(conexao, direitos)
        antes = catalogo.objetos(conexao)
        afastados = _instalar_arquivos(conexao, pasta, arquivos)
        depois = catalogo.objetos(conexao)
        condenados = [o for o in depois if o in antes or (o.especie, o.oid) in afastados]
        with conexao.transaction(force_rollback=True):  # conferido como ficará
            catalogo.remover(conexao, condenados)
            _validar(conexao, pasta, arquivos)
        catalogo.remover(conexao, [o for o in condenados if o.especie == "TRIGGER"])
        sobras = [o for o in condenados if o.especie != "TRIGGER"]
        catalogo.devolver(conexao, direitos, afastados, sobras)
        # Daqui ao fim, o banco não é de versão nenhuma. Sem DELETE: numa publicação de todas as tabelas, a que não tem
        # chave não o deixa.
        conexao.execute("TRUNCATE migracoes.funcoes")
    return sobras


def _concluir(conexao: psycopg.Connection[Any], sobras: list[Objeto], impressao: str) -> None:
    with conexao.transaction():
        ceder(conexao)
        catalogo.remover(conexao, sobras)
        conexao.execute("INSERT INTO migracoes.funcoes (sha256) VALUES (%s)", [impressao])


def _em_ordem(pasta: Path) -> list[Path]:
    """Esquema por esquema; as visões por último, pois usam funções."""

    def posicao(arquivo: Path) -> tuple[bool, int, str]:
        partes = arquivo.relative_to(pasta).parts
        return ("visoes" in partes, ESQUEMAS.index(partes[0]), str(arquivo))

    return sorted(pasta.rglob("*.sql"), key=posicao)


def _impressao(pasta: Path, arquivos: list[Path]) -> str:
    resumo = sha256()
    for arquivo in arquivos:
        resumo.update(f"{arquivo.relative_to(pasta)}\0".encode())
        resumo.update(sha256(arquivo.read_bytes()).digest())
    return resumo.hexdigest()


def _instalada(conexao: psycopg.Connection[Any]) -> str | None:
    conexao.execute("CREATE TABLE IF NOT EXISTS migracoes.funcoes (sha256 text NOT NULL)")
    linha = conexao.execute("SELECT sha256 FROM migracoes.funcoes").fetchone()
    return linha[0] if linha else None


def _instalar_arquivos(conexao: psycopg.Connection[Any], pasta: Path, arquivos: list[Path]) -> set[tuple[str, int]]:
    """Roda todos os arquivos; se um pede para afastar o que já existe, recomeça depois disso. Devolve os afastados.

    Afasta-se antes de tudo para que as visões e os gatilhos que usavam o afastado passem ao novo, por seus arquivos. O
    ponto de salvamento também dá ao que se recria um número de transação diferente do de antes.
    """
    nomes: set[str] = set()
    while True:
        try:
            with conexao.transaction():
                afastados = catalogo.afastar(conexao, nomes)
                for arquivo in arquivos:
                    _instalar_arquivo(conexao, pasta, arquivo)
            return afastados
        except _Afastar as pedido:
            if pedido.nomes <= nomes:
                _falhar(arquivo, pasta, cast(psycopg.Error, pedido.__cause__))
            nomes |= pedido.nomes


def _instalar_arquivo(conexao: psycopg.Connection[Any], pasta: Path, arquivo: Path) -> None:
    texto = arquivo.read_text(encoding="utf-8")
    dono = sql.Identifier(f"{arquivo.relative_to(pasta).parts[0]}_dono")
    conexao.execute(sql.SQL("SET LOCAL ROLE {}").format(dono))
    try:
        conexao.execute(texto)
    except IRREPARAVEIS as erro:
        raise _Afastar(set(_DEFINICAO.findall(texto))) from erro
    except psycopg.OperationalError:  # um impasse, a conexão: não é culpa do arquivo
        raise
    except psycopg.Error as erro:
        _falhar(arquivo, pasta, erro)
    conexao.execute("RESET ROLE")


def _validar(conexao: psycopg.Connection[Any], pasta: Path, arquivos: list[Path]) -> None:
    """Confere os corpos, só agora que tudo o que um cita existe."""
    conexao.execute("SET LOCAL check_function_bodies = on")
    for nome, validar in catalogo.validadores(conexao):
        try:
            conexao.execute(validar)
        except psycopg.Error as erro:
            (arquivo,) = (a for a in arquivos if nome in _DEFINICAO.findall(a.read_text(encoding="utf-8")))
            _falhar(arquivo, pasta, erro)


def _falhar(arquivo: Path, pasta: Path, erro: psycopg.Error) -> NoReturn:
    nome = f"sql/functions/{arquivo.relative_to(pasta)}"
    if erro.diag.statement_position is not None:
        antes = arquivo.read_text(encoding="utf-8")[: int(erro.diag.statement_position) - 1]
        nome += f":{antes.count(chr(10)) + 1}"
    raise ErroFuncao(f"{nome}: {erro.diag.message_primary}") from erro
