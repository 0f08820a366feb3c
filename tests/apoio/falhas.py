"""Falhas provocadas: o banco recusa, de verdade, o que o teste quer ver falhar."""

from typing import Any

import psycopg
from psycopg import sql


def recusar_publicacao(bd: psycopg.Connection[Any], tipo: str, chave: object = None) -> None:
    """Daqui em diante, publicar esse tipo (dessa chave, se dada) falha, como faltaria espaço em disco."""
    bd.execute(
        sql.SQL(
            """
            CREATE OR REPLACE FUNCTION core.falha_de_teste() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'falha de teste em %', NEW.tipo USING ERRCODE = '53100';
            END $$;
            CREATE OR REPLACE TRIGGER falha_de_teste BEFORE INSERT ON core.event_log
                FOR EACH ROW WHEN (NEW.tipo = {} AND NEW.chave = coalesce({}, NEW.chave))
                EXECUTE FUNCTION core.falha_de_teste()
            """
        ).format(sql.Literal(tipo), sql.Literal(None if chave is None else str(chave)))
    )


def aceitar_publicacao(bd: psycopg.Connection[Any]) -> None:
    """Desfaz `recusar_publicacao`."""
    bd.execute("DROP TRIGGER falha_de_teste ON core.event_log")


def vencer_tentativas(bd: psycopg.Connection[Any]) -> None:
    """Traz para agora a próxima tentativa de tudo o que espera na DLQ."""
    bd.execute("UPDATE core.dlq SET proxima_tentativa = clock_timestamp() WHERE estado = 'pendente'")
