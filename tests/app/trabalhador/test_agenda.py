"""A agenda cumprida pelo app, onde não há pg_cron."""

import asyncio
from datetime import UTC, datetime, timedelta, tzinfo
from time import monotonic
from typing import Self

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from app.trabalhador.agenda import Agenda
from tests.apoio.rede import Rede


@pytest.fixture
def contada(rede: Rede) -> Rede:
    """Um agendamento só, de minuto em minuto, que conta as vezes em que rodou; a última, há três dias."""
    rede.bd.execute(
        """
        DELETE FROM core.agendamentos;
        CREATE TABLE public.vezes (n int);
        GRANT INSERT ON public.vezes TO formigueiro_app;
        INSERT INTO core.agendamentos (nome, cron, comando, ultima_execucao)
        VALUES ('teste', '* * * * *', 'INSERT INTO public.vezes VALUES (1)', clock_timestamp() - interval '3 days')
        """
    )
    return rede


def cumprir(dsn: str, processos: int = 1) -> None:
    async def um() -> None:
        async with await AsyncConnection.connect(
            make_conninfo(dsn, user="formigueiro_app"), autocommit=True
        ) as conexao:
            await Agenda().cumprir(conexao)

    async def todos() -> None:
        await asyncio.gather(*(um() for _ in range(processos)))

    asyncio.run(todos())


def vezes(rede: Rede) -> int:
    return int(rede.um("SELECT count(*) FROM public.vezes"))


def test_horas_perdidas_sao_cumpridas_uma_vez_so(contada: Rede, dsn: str) -> None:
    cumprir(dsn)
    assert vezes(contada) == 1
    ultima = contada.um("SELECT ultima_execucao FROM core.agendamentos")
    assert datetime.now(UTC) - ultima < timedelta(minutes=2)


def test_a_tabela_so_se_le_de_novo_na_proxima_hora_ou_ao_dormir(contada: Rede, dsn: str) -> None:
    contada.bd.execute("UPDATE core.agendamentos SET cron = '0 0 1 1 *', ultima_execucao = clock_timestamp()")

    async def passos() -> tuple[int, int]:
        async with await AsyncConnection.connect(
            make_conninfo(dsn, user="formigueiro_app"), autocommit=True
        ) as conexao:
            agenda = Agenda()
            await agenda.cumprir(conexao)
            contada.bd.execute("UPDATE core.agendamentos SET cron = '* * * * *', ultima_execucao = NULL")
            await agenda.cumprir(conexao)
            antes = vezes(contada)
            proxima = await agenda.proxima(conexao)  # como quem vai dormir: a hora já passou, e não se dorme
            assert proxima is not None
            assert proxima <= datetime.now(UTC)
            await agenda.cumprir(conexao)
            return antes, vezes(contada)

    assert asyncio.run(passos()) == (0, 1)


def test_cada_hora_e_de_um_processo_so(contada: Rede, dsn: str) -> None:
    cumprir(dsn, processos=6)
    # Se o minuto virar no meio, a hora seguinte também é cumprida, e também uma vez.
    assert 1 <= vezes(contada) <= 2


def test_agendamento_que_um_operador_segura_nao_detem_os_outros_e_se_cumpre_depois(contada: Rede, dsn: str) -> None:
    contada.bd.execute(
        "INSERT INTO core.agendamentos SELECT 'outro', cron, comando, ultima_execucao FROM core.agendamentos"
    )
    with psycopg.connect(dsn) as operador:
        operador.execute("SELECT core.reagendar('outro', '*/2 * * * *')")
        cumprir(dsn)
        assert vezes(contada) == 1
    cumprir(dsn)
    assert vezes(contada) == 2


def test_comando_que_falha_nao_detem_os_outros(contada: Rede, dsn: str) -> None:
    contada.bd.execute(
        "INSERT INTO core.agendamentos VALUES ('antes', '* * * * *', 'SELECT 1/0', now() - interval '1 day')"
    )
    cumprir(dsn)
    assert vezes(contada) == 1


def test_com_pg_cron_o_app_nao_cumpre_a_agenda(contada: Rede, dsn: str) -> None:
    contada.bd.execute("UPDATE core.parametros SET valor = 'true' WHERE nome = 'agenda_no_pg_cron'")
    cumprir(dsn)
    assert vezes(contada) == 0


def test_relogio_adiantado_de_um_processo_nao_cala_o_trabalho(contada: Rede) -> None:
    assert contada.um("SELECT core.reservar_execucao('teste', clock_timestamp() + interval '1 year')") is None
    assert contada.um("SELECT core.reservar_execucao('teste', clock_timestamp())") is not None


@pytest.mark.parametrize("adiante", ["1 year", "2 hours", "2 minutes"])
def test_o_que_rodou_com_o_relogio_adiantado_conta_como_nunca_rodado(contada: Rede, dsn: str, adiante: str) -> None:
    contada.bd.execute(
        "UPDATE core.agendamentos SET ultima_execucao = clock_timestamp() + %s::interval,"
        " ultima_conclusao = clock_timestamp() + %s::interval, criado_em = clock_timestamp() - interval '3 days'",
        [adiante, adiante],
    )
    assert contada.um("SELECT core.agendamento_atrasado(a) FROM core.agendamentos AS a")
    cumprir(dsn)
    assert vezes(contada) == 1
    assert contada.um("SELECT ultima_execucao <= clock_timestamp() FROM core.agendamentos")
    contada.bd.execute("SELECT core.marcar_execucao('teste')")
    assert contada.um("SELECT ultima_conclusao <= clock_timestamp() FROM core.agendamentos")


def test_um_processo_cujo_relogio_recua_le_a_agenda_na_mesma(
    contada: Rede, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Adiantado(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(datetime.now().timestamp() + 365 * 86400, tz)

    async def passos() -> int:
        async with await AsyncConnection.connect(
            make_conninfo(dsn, user="formigueiro_app"), autocommit=True
        ) as conexao:
            agenda = Agenda()
            monkeypatch.setattr("app.trabalhador.agenda.datetime", Adiantado)
            await agenda.cumprir(conexao)
            monkeypatch.undo()
            monkeypatch.setattr("app.trabalhador.agenda.monotonic", lambda: monotonic() + 61)  # a releitura seguinte
            await agenda.cumprir(conexao)
            return vezes(contada)

    assert asyncio.run(passos()) == 1


def test_a_agenda_de_verdade_e_toda_executavel_pelo_app(rede: Rede, dsn: str) -> None:
    """Cada comando de core.agendamentos roda como formigueiro_app, tal como escrito."""
    comandos = [linha["comando"] for linha in rede.linhas("SELECT comando FROM core.agendamentos ORDER BY nome")]
    assert len(comandos) == 10

    async def rodar() -> None:
        async with await AsyncConnection.connect(
            make_conninfo(dsn, user="formigueiro_app"), autocommit=True
        ) as conexao:
            for comando in comandos:
                await conexao.execute(comando)

    asyncio.run(rodar())
