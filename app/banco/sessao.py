"""As sessões do produto: cada uma diz o que precisa, e não depende dos padrões do servidor, do banco ou do papel.

Um ALTER DATABASE … SET de outrem (isolamento, só leitura, DateStyle, prazos) não há de parar a rede. Vai por SET, e não
na conexão, que um pool de transações recusaria; atrás de um, fica na sessão do pool, que é só deste papel.
"""

import os
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.conninfo import conninfo_to_dict, make_conninfo

# O comando que passa disto é cortado, e para o despacho conta como uma morte do lote (regra 4).
LIMITE_DO_COMANDO_S = 60.0

# Quem aceita a conexão e se cala; o que o DSN, ou o ambiente, disser prevalece.
ESPERA_DA_CONEXAO_S = 10

# O limite primeiro: enquanto não vale, vale o do banco, e cada SET é medido à parte.
_AJUSTES = f"""
    SET statement_timeout = '{LIMITE_DO_COMANDO_S:.0f}s';
    SET default_transaction_isolation = 'read committed';
    SET default_transaction_read_only = off;
    SET default_transaction_deferrable = off;
    SET idle_in_transaction_session_timeout = '60s';
    SET idle_session_timeout = 0;
    SET lock_timeout = 0;
    SET client_encoding = 'UTF8';
    SET client_min_messages = notice;
    SET standard_conforming_strings = on;
    SET DateStyle = 'ISO, YMD';
    SET IntervalStyle = postgres;
    SET extra_float_digits = 1;
    SET bytea_output = hex;
    SET row_security = on;
    SET search_path = pg_catalog;
"""
_DO_17_EM_DIANTE = "SET transaction_timeout = 0"


def com_espera(dsn: str) -> str:
    """O mesmo DSN, sem esperar pela conexão mais que ESPERA_DA_CONEXAO_S."""
    if "PGCONNECT_TIMEOUT" in os.environ or "connect_timeout" in conninfo_to_dict(dsn):
        return dsn
    return make_conninfo(dsn, connect_timeout=ESPERA_DA_CONEXAO_S)


def conectar(dsn: str, **opcoes: Any) -> Connection[Any]:
    """Uma sessão do produto, em autocommit."""
    conexao: Connection[Any] = psycopg.connect(com_espera(dsn), autocommit=True, **opcoes)
    try:
        ajustar(conexao)
    except BaseException:
        conexao.close()
        raise
    return conexao


def ajustar(conexao: Connection[Any]) -> None:
    """O mesmo, numa conexão que outro abriu."""
    conexao.execute(_comandos(conexao))


async def conectar_async(dsn: str, **opcoes: Any) -> AsyncConnection[Any]:
    """Uma sessão assíncrona do produto, em autocommit."""
    conexao: AsyncConnection[Any] = await AsyncConnection.connect(com_espera(dsn), autocommit=True, **opcoes)
    try:
        await ajustar_async(conexao)
    except BaseException:
        await conexao.close()
        raise
    return conexao


async def ajustar_async(conexao: AsyncConnection[Any]) -> None:
    """O mesmo, numa conexão assíncrona que outro abriu."""
    await conexao.execute(_comandos(conexao))


def _comandos(conexao: Connection[Any] | AsyncConnection[Any]) -> str:
    return _AJUSTES + _DO_17_EM_DIANTE if conexao.info.server_version >= 170000 else _AJUSTES
