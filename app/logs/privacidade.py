"""O que de um erro pode ir ao log: nunca texto de um relato, nem dado pessoal, nem valor de uma linha do banco."""

import re

import psycopg

from app.ajustes import ErroAjuste
from app.banco.erros import ErroBanco

LIMITE = 500
# O PostgreSQL cita depois dos dois-pontos o valor que não pôde ler: invalid input syntax for type uuid: "…".
_VALOR_CITADO = re.compile(r': ".*"', re.DOTALL)
# Exceções cuja mensagem é de quem as levanta, e não cita o que estava sendo tratado.
_MENSAGEM_PROPRIA = (OSError, ErroAjuste, ErroBanco)


def descrever(erro: BaseException) -> str:
    """O tipo do erro e, se ela não cita o que se tratava, sua mensagem; do PostgreSQL, só a primeira linha.

    O DETAIL de um erro do banco mostra linhas inteiras, e a mensagem de uma exceção qualquer, o valor que a causou.
    """
    nome = type(erro).__name__
    if isinstance(erro, psycopg.Error):
        return f"{nome}: {limpar(erro.diag.message_primary or str(erro))}"
    return f"{nome}: {limpar(str(erro))}" if isinstance(erro, _MENSAGEM_PROPRIA) else nome


def limpar(mensagem: str) -> str:
    """A mensagem sem valores citados nem identificadores pessoais, numa linha de tamanho limitado."""
    from app.pecas.sanitizador import sanitizar  # só aqui: é pesado de importar, e quase nenhum comando precisa

    # Cortada também antes, que sanitizar um megabyte deteria o laço de eventos; e só depois de saírem os valores, que o
    # corte deixaria sem a aspa.
    sem_valores = _VALOR_CITADO.sub(': "…"', " ".join(mensagem.split()))
    return sanitizar(sem_valores[: 4 * LIMITE])[:LIMITE]
