"""O trabalhador vivo: acordar, liderar, reconectar (regra 7)."""

import asyncio
from collections.abc import Awaitable, Callable
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from structlog.testing import capture_logs

from app.pecas.denylist import Denylist
from app.trabalhador import trabalhador
from tests.apoio.rede import Rede

DEMANDA, ANA = UUID(int=1), UUID(int=11)
PRAZO_S = 60.0  # bem menos que o sono máximo: o que acontece aqui aconteceu por aviso


@pytest.fixture(autouse=True)
def _sono_longo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trabalhador, "SONO_MAXIMO_S", 600.0)


def com_trabalhadores(
    dsn: str, cenario: Callable[[list["asyncio.Task[None]"]], Awaitable[None]], quantos: int = 1
) -> None:
    """Roda `cenario` com trabalhadores de verdade ao lado, como formigueiro_app, e os para no fim."""

    async def rodar() -> None:
        parar = asyncio.Event()
        tarefas = [
            asyncio.create_task(
                trabalhador.trabalhar(make_conninfo(dsn, user="formigueiro_app"), Denylist.de_texto("idiota"), parar)
            )
            for _ in range(quantos)
        ]
        try:
            await cenario(tarefas)
        finally:
            parar.set()
            await asyncio.gather(*tarefas)

    asyncio.run(rodar())


async def ate(condicao: Callable[[], object]) -> None:
    """Espera a condição, até o prazo."""
    async with asyncio.timeout(PRAZO_S):
        while not condicao():
            await asyncio.sleep(0.02)


def dormindo(rede: Rede) -> bool:
    return bool(
        rede.um(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ExclusiveLock'"
            " AND objid = core.trava_do_sono()::int"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
    )


def test_quem_dorme_acorda_com_a_publicacao(rede: Rede, dsn: str) -> None:
    async def cenario(_: list["asyncio.Task[None]"]) -> None:
        await ate(lambda: dormindo(rede))
        rede.sortear(DEMANDA, ANA)
        await ate(lambda: rede.acompanhamentos(DEMANDA))
        await ate(lambda: dormindo(rede))
        rede.atualizar(DEMANDA, ANA)
        await ate(lambda: rede.eventos("demanda.resumo_ciclo_atualizado"))

    com_trabalhadores(dsn, cenario)


def test_a_linha_de_inicio_da_d8_traz_os_cursores_de_antes_do_replay(rede: Rede, dsn: str) -> None:
    """D-8 4.5: o trabalhador despacha o atraso antes de iniciar as colônias, e o relato diz de onde se partiu."""
    rede.sortear(DEMANDA, ANA)
    rede.concluir(DEMANDA, ANA)
    rede.bd.execute("CALL core.despachar()")
    antes = rede.um("SELECT d8.cursores()")
    for n in range(3):
        rede.publicar("demanda.recebida", {"demanda_id": str(UUID(int=100 + n))}, "D-1a", "1.1.0")

    async def cenario(_: list["asyncio.Task[None]"]) -> None:
        await ate(lambda: dormindo(rede))

    com_trabalhadores(dsn, cenario)
    (relato,) = [o["contexto"] for o in rede.ocorrencias() if o["mensagem"] == "D-8 inicializada."]
    assert relato["offsets_restaurados"] == antes != rede.um("SELECT d8.cursores()")


def test_com_a_d8_mais_velha_que_o_log_a_outra_colonia_segue(rede: Rede, dsn: str) -> None:
    """N53: o trabalhador não cai, e o que é da D-8 espera por ler."""
    desconhecido = rede.publicar(
        "manutenção.ciclo_encerrado",
        {
            "projeto_id": str(UUID(int=5)),
            "demanda_original_id": str(UUID(int=6)),
            "categoria": "3.9",
            "uc_id": str(UUID(int=7)),
            "motivo": "encerramento_manual",
            "total_ciclos": 1,
            "data_inicio_monitoramento": rede.agora(),
            "data_encerramento": rede.agora(),
        },
        "D-8",
    )

    async def cenario(tarefas: list["asyncio.Task[None]"]) -> None:
        rede.sortear(DEMANDA, ANA)
        rede.concluir(DEMANDA, ANA)
        await ate(lambda: rede.eventos("demanda.resumo_ciclo_atualizado"))
        assert not any(tarefa.done() for tarefa in tarefas)
        assert rede.um("SELECT count(*) FROM d8.processed_events") == 0
        rede.bd.execute("SELECT d8.reconstruir()")
        await ate(lambda: rede.um("SELECT count(*) FROM d8.processed_events") == 2)

    com_trabalhadores(dsn, cenario)
    assert rede.um("SELECT resultado FROM d8.processed_events WHERE event_id = %s", desconhecido) == "descartado"


def test_publicar_so_notifica_quem_dorme(rede: Rede, dsn: str) -> None:
    rede.bd.execute("LISTEN formigueiro")
    rede.sortear(DEMANDA, ANA)
    assert list(rede.bd.notifies(timeout=0.1)) == []
    with psycopg.connect(dsn, autocommit=True) as dorminhoco:
        dorminhoco.execute("SELECT pg_advisory_lock(core.trava_do_sono())")
        rede.atualizar(DEMANDA, ANA)
    (aviso,) = rede.bd.notifies(timeout=PRAZO_S, stop_after=1)
    assert aviso.channel == "formigueiro"


@pytest.mark.parametrize("partilhada", [False, True])
def test_quem_toma_as_travas_do_trabalhador_nao_o_cala(rede: Rede, dsn: str, partilhada: bool) -> None:
    """Onde migrar não pôde fechá-las a qualquer login: a rede anda, só sem avisos."""
    tomar = "pg_advisory_lock_shared" if partilhada else "pg_advisory_lock"
    rede.bd.execute(f"GRANT EXECUTE ON FUNCTION {tomar}(bigint), {tomar}(int, int) TO formigueiro_leitura")

    async def cenario(_: list["asyncio.Task[None]"]) -> None:
        rede.sortear(DEMANDA, ANA)
        rede.atualizar(DEMANDA, ANA)
        await ate(lambda: rede.eventos("demanda.resumo_ciclo_atualizado"))
        assert not rede.um("SELECT core.ha_lider()")

    with psycopg.connect(make_conninfo(dsn, user="formigueiro_leitura"), autocommit=True) as intruso:
        for trava in (str(trabalhador.TRAVA_DE_LIDER), "7031001", "7031003, 1", "7031003, 2"):
            intruso.execute(f"SELECT {tomar}({trava})")
        com_trabalhadores(dsn, cenario, quantos=2)


def test_conexao_derrubada_e_refeita_e_nada_se_perde(rede: Rede, dsn: str) -> None:
    async def cenario(_: list["asyncio.Task[None]"]) -> None:
        await ate(lambda: dormindo(rede))
        rede.bd.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE usename = 'formigueiro_app' AND datname = current_database()"
        )
        rede.sortear(DEMANDA, ANA)
        await ate(lambda: rede.acompanhamentos(DEMANDA))

    com_trabalhadores(dsn, cenario)


def test_outro_assume_quando_o_lider_morre(rede: Rede, dsn: str) -> None:
    async def cenario(tarefas: list["asyncio.Task[None]"]) -> None:
        await ate(lambda: dormindo(rede))
        rede.bd.execute(
            "SELECT pg_terminate_backend(l.pid) FROM pg_locks AS l JOIN pg_stat_activity AS a USING (pid)"
            " WHERE l.locktype = 'advisory' AND l.objid = %s AND a.datname = current_database()",
            [trabalhador.TRAVA_DE_LIDER],
        )
        rede.sortear(DEMANDA, ANA)
        await ate(lambda: rede.acompanhamentos(DEMANDA))
        assert not any(tarefa.done() for tarefa in tarefas)

    com_trabalhadores(dsn, cenario, quantos=2)


@pytest.mark.parametrize("quebrada", ["d6b", "d8"])
def test_o_inicio_que_falha_numa_colonia_nao_detem_a_outra_nem_o_trabalho(rede: Rede, dsn: str, quebrada: str) -> None:
    rede.bd.execute(
        f"""
        CREATE OR REPLACE FUNCTION {quebrada}.iniciar({'p_offsets jsonb' if quebrada == 'd8' else ''})
        RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN RAISE 'não agora' USING ERRCODE = 'FM409'; END $$
        """
    )
    # Só o início põe os cursores que faltam.
    tipos = {"d6b": "demanda.conclusao_confirmada", "d8": "manutenção.executada"}
    for colonia, tipo in tipos.items():
        rede.bd.execute(f"DELETE FROM {colonia}.consumer_offset WHERE tipo_evento = %s", [tipo])

    async def cenario(_: list["asyncio.Task[None]"]) -> None:
        await ate(lambda: dormindo(rede))
        rede.sortear(DEMANDA, ANA)
        await ate(lambda: rede.acompanhamentos(DEMANDA))

    with capture_logs() as linhas:
        com_trabalhadores(dsn, cenario)
    assert [linha["colonia"] for linha in linhas if linha["event"] == "início da colônia falhou"] == [quebrada]
    for colonia, tipo in tipos.items():
        consulta = f"SELECT count(*) FROM {colonia}.consumer_offset WHERE tipo_evento = %s"
        assert rede.um(consulta, tipo) == (colonia != quebrada)
