"""A agenda em core.agendamentos: que horários aceita, e como um operador os muda."""

from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo


@pytest.mark.parametrize(
    "cron",
    ["* * * * *", "*/5 1-3/2 1,15 * 0-6", "0 0 29 2 *", "59 23 31 12 7", "0,30 */6 * 1-6 1,3,5"],
)
def test_horario_aceito(bd: psycopg.Connection[Any], cron: str) -> None:
    bd.execute("UPDATE core.agendamentos SET cron = %s WHERE nome = 'd8-ciclos'", [cron])
    assert bd.execute("SELECT cron FROM core.agendamentos WHERE nome = 'd8-ciclos'").fetchone() == (cron,)


@pytest.mark.parametrize(
    "cron",
    [
        "",
        "* * * *",
        "* * * * * *",
        "60 * * * *",
        "* 24 * * *",
        "* * 0 * *",
        "* * * 13 *",
        "* * * * 8",
        "5-1 * * * *",
        "5/2 * * * *",
        "*/0 * * * *",
        "1, * * * *",
        "-1 * * * *",
        "* * * jan *",
        "30 seconds",
        "@daily",
        "0 0 31 4,6 *",
        "0 0 30 2 *",
    ],
)
def test_horario_recusado(bd: psycopg.Connection[Any], cron: str) -> None:
    with pytest.raises(psycopg.Error, match="O campo cron do agendamento d8-ciclos") as recusa:
        bd.execute("UPDATE core.agendamentos SET cron = %s WHERE nome = 'd8-ciclos'", [cron])
    assert recusa.value.sqlstate == "FM422"


def test_o_operador_muda_a_hora_mas_nao_o_comando(dsn: str, bd: psycopg.Connection[Any]) -> None:
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_dba"), autocommit=True) as dba:
        assert dba.execute("SELECT core.reagendar('d8-ciclos', '*/30 * * * *')").fetchone() == (
            "vale assim que o aplicativo reler a agenda",
        )
        with pytest.raises(psycopg.Error) as inexistente:
            dba.execute("SELECT core.reagendar('d9-nada', '* * * * *')")
        with pytest.raises(psycopg.Error) as malformado:
            dba.execute("SELECT core.reagendar('d8-ciclos', NULL)")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            dba.execute("UPDATE core.agendamentos SET comando = 'SELECT 1'")
    assert (inexistente.value.sqlstate, malformado.value.sqlstate) == ("FM404", "FM422")
    assert bd.execute("SELECT cron FROM core.agendamentos WHERE nome = 'd8-ciclos'").fetchone() == ("*/30 * * * *",)
    assert bd.execute(
        "SELECT contexto ->> 'antes', contexto ->> 'por' FROM core.ocorrencias WHERE mensagem = 'Agendamento mudado.'"
    ).fetchone() == ("5 * * * *", "formigueiro_dba")
