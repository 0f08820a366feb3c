"""Uma linha que outra sessão segura detém o que precisa dela, e mais nada (N66)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from app.pecas.denylist import Denylist
from app.trabalhador import trabalhador
from tests.apoio.espera import PRAZO_S, ate
from tests.apoio.rede import Rede
from tests.d8.apoio import conclusao

DEMANDA, ANA = UUID(int=1), UUID(int=11)


@pytest.fixture
def operador(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """Uma sessão que deixa uma transação aberta."""
    with psycopg.connect(dsn) as conexao:
        yield conexao


@pytest.fixture
def sorteada(rede: Rede) -> Rede:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    return rede


def segurar(operador: psycopg.Connection[Any]) -> None:
    operador.execute("SELECT FROM d6b.acompanhamentos WHERE demanda_id = %s FOR UPDATE", [DEMANDA])


def concluida(rede: Rede) -> UUID:
    """Uma obra com plano, que só interessa à D-8."""
    demanda = uuid4()
    rede.publicar("demanda.concluída", conclusao(demanda, datetime.now(UTC)), "D-6b", "1.1.0")
    return demanda


def projetos(rede: Rede) -> int:
    return int(rede.um("SELECT count(*) FROM d8.projetos_monitorados"))


def dlq(rede: Rede) -> list[tuple[Any, ...]]:
    return rede.bd.execute("SELECT estado, sqlstate FROM core.dlq ORDER BY sequence_number").fetchall()


def test_a_outra_colonia_anda_e_o_evento_espera_na_dlq_sem_contar_por_morte(
    sorteada: Rede, operador: psycopg.Connection[Any]
) -> None:
    """Sem statement_timeout, como sob o pg_cron."""
    segurar(operador)
    espera, atras = sorteada.atualizar(DEMANDA, ANA), sorteada.atualizar(DEMANDA, ANA)
    sorteada.sortear(UUID(int=2), ANA)
    concluida(sorteada)
    sorteada.despachar()
    assert projetos(sorteada) == 1
    assert sorteada.acompanhamento(UUID(int=2))["status"] == "aguardando_inicio"
    assert dlq(sorteada) == [("pendente", "55P03"), ("em_espera", None)]
    assert sorteada.um("SELECT sum(mortes) FROM core.consumidores") == 0
    operador.rollback()
    ate(lambda: not dlq_aberta_depois_de_despachar(sorteada), o_que="a espera acabar")
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 2
    assert [sorteada.processado(evento) for evento in (espera, atras)] == [True, True]


def dlq_aberta_depois_de_despachar(rede: Rede) -> bool:
    rede.despachar()
    return bool(rede.um("SELECT EXISTS (SELECT FROM core.dlq WHERE estado IN ('pendente', 'em_espera'))"))


def test_quem_espera_e_tentado_de_novo_logo_por_mais_que_espere(
    sorteada: Rede, operador: psycopg.Connection[Any]
) -> None:
    segurar(operador)
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    sorteada.bd.execute("UPDATE core.dlq SET tentativas = 15, proxima_tentativa = clock_timestamp()")
    assert sorteada.um("SELECT core.reservar_tentativa('D-6b')") is not None
    assert sorteada.um("SELECT proxima_tentativa < clock_timestamp() + interval '31 seconds' FROM core.dlq")


def test_muitas_chaves_detidas_nao_fazem_a_outra_colonia_esperar_por_todas(
    sorteada: Rede, operador: psycopg.Connection[Any]
) -> None:
    operador.execute("LOCK TABLE d6b.acompanhamentos IN EXCLUSIVE MODE")
    for numero in range(40):
        sorteada.sortear(UUID(int=100 + numero), ANA)
    with psycopg.connect(sorteada.bd.info.dsn, autocommit=True) as outra, ThreadPoolExecutor() as executor:
        concluida(sorteada)
        despacho = executor.submit(outra.execute, "CALL core.despachar()")
        ate(lambda: projetos(sorteada) == 1, o_que="a D-8 andar")
        assert len(dlq(sorteada)) < 40
        operador.rollback()
        despacho.result()
    ate(lambda: not dlq_aberta_depois_de_despachar(sorteada), o_que="as esperas acabarem")
    assert sorteada.um("SELECT count(*) FROM d6b.acompanhamentos") == 41


def test_com_o_log_travado_um_evento_com_saidas_espera_inteiro_e_o_lote_nao_espera_por_cada_uma(
    rede: Rede, operador: psycopg.Connection[Any]
) -> None:
    """Como num CREATE INDEX: espera-se uma vez, a outra colônia tem sua vez, e o estado não anda sem suas saídas."""
    demandas = [UUID(int=100 + numero) for numero in range(5)]
    for demanda in demandas:
        rede.sortear(demanda, ANA)
    rede.despachar()
    for demanda in demandas:
        rede.atualizar(demanda, ANA)
    concluida(rede)
    operador.execute("LOCK TABLE core.event_log IN SHARE MODE")
    rede.bd.execute("SET lock_timeout = '300ms'; SELECT d6b.processar_pendentes()")
    assert dlq(rede) == [("pendente", "55P03")]
    assert rede.acompanhamento(demandas[0])["status"] == "aguardando_inicio"
    assert rede.linhas("SELECT * FROM core.ocorrencias WHERE nivel = 'erro'") == []
    rede.bd.execute("SET lock_timeout = 0; SELECT d8.processar_pendentes()")
    assert projetos(rede) == 1
    operador.rollback()
    ate(lambda: not dlq_aberta_depois_de_despachar(rede), o_que="a espera acabar")
    for demanda in demandas:
        assert rede.tipos(demanda) == ["conselheiro.demanda_iniciada"]


@pytest.mark.parametrize(
    "travar",
    [
        "SELECT FROM core.consumidores WHERE colonia = 'D-6b' FOR UPDATE",
        "UPDATE d6b.consumer_offset SET last_sequence = 0",
    ],
)
def test_quem_segura_a_colonia_ou_seus_cursores_detem_so_a_ela_e_o_lote_nao_morre(
    sorteada: Rede, operador: psycopg.Connection[Any], travar: str
) -> None:
    operador.execute(travar)
    evento = sorteada.atualizar(DEMANDA, ANA)
    for _ in range(2):
        concluida(sorteada)
        sorteada.despachar()
    assert projetos(sorteada) == 2
    assert not sorteada.processado(evento)
    operador.rollback()
    assert sorteada.linhas(
        "SELECT reserva_vxid, isolado_ate, mortes FROM core.consumidores WHERE colonia = 'D-6b'"
    ) == [{"reserva_vxid": None, "isolado_ate": None, "mortes": 0}]
    sorteada.despachar()
    assert sorteada.processado(evento)
    assert dlq(sorteada) == []


def test_o_estado_diz_quem_segura_o_que_e_desde_quando(sorteada: Rede, operador: psycopg.Connection[Any]) -> None:
    segurar(operador)
    assert sorteada.um("SELECT core.estado() -> 'problemas'") == []
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    sorteada.bd.execute("UPDATE core.parametros SET valor = '0' WHERE nome = 'segundos_detencao_problema'")
    problemas = "\n".join(sorteada.um("SELECT core.estado() -> 'problemas'"))
    desde = sorteada.um("SELECT core.iso(xact_start) FROM pg_stat_activity WHERE pid = %s", operador.info.backend_pid)
    assert "D-6b: 1 na DLQ esperam por uma trava" in problemas
    quem = f"postgres (pid {operador.info.backend_pid}, idle in transaction, SELECT)"
    assert f"{quem} segura d6b.acompanhamentos desde {desde}" in problemas


def test_a_quem_nao_ve_as_horas_o_estado_diz_quem_segura_se_alguem_espera(
    sorteada: Rede, operador: psycopg.Connection[Any], dsn: str
) -> None:
    segurar(operador)
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_dba"), autocommit=True) as dba:
        daqui = Rede(dba)
        assert daqui.um("SELECT core.estado() -> 'problemas'") == []
        sorteada.atualizar(DEMANDA, ANA)
        sorteada.despachar()
        problemas = "\n".join(daqui.um("SELECT core.estado() -> 'problemas'"))
    assert f"postgres (pid {operador.info.backend_pid}) segura d6b.acompanhamentos, e o que precisa" in problemas


def test_uma_transacao_preparada_que_segura_linhas_e_nomeada(sorteada: Rede, operador: psycopg.Connection[Any]) -> None:
    operador.execute("UPDATE d6b.acompanhamentos SET status = status WHERE demanda_id = %s", [DEMANDA])
    operador.execute("PREPARE TRANSACTION 'teste_trava'")
    operador.commit()
    try:
        sorteada.bd.execute("UPDATE core.parametros SET valor = '0' WHERE nome = 'segundos_detencao_problema'")
        (problema,) = sorteada.um("SELECT core.estado() -> 'problemas'")
        assert problema.startswith("a transação preparada teste_trava, de postgres, segura d6b.acompanhamentos desde")
    finally:
        sorteada.bd.execute("ROLLBACK PREPARED 'teste_trava'")


def test_o_agendamento_que_um_operador_segura_nao_para_o_trabalhador(
    rede: Rede, operador: psycopg.Connection[Any], dsn: str
) -> None:
    operador.execute("UPDATE core.agendamentos SET cron = cron")

    async def cenario() -> None:
        evento = rede.sortear(DEMANDA, ANA)
        await quando(lambda: rede.processado(evento))

    com_trabalhador(dsn, cenario)


def test_os_textos_presos_nao_fazem_esperar_os_outros_nem_contam_por_falha(
    rede: Rede, operador: psycopg.Connection[Any]
) -> None:
    """Mais presos, e mais antigos, do que cabem num lote; soltos, saem logo."""
    demandas = [UUID(int=100 + numero) for numero in range(12)]
    for demanda in [*demandas, DEMANDA]:
        rede.sortear(demanda, ANA)
        rede.atualizar(demanda, ANA)
    rede.despachar()
    operador.execute("UPDATE d6b.acompanhamentos SET status = status WHERE demanda_id <> %s", [DEMANDA])
    reservar = "SELECT r ->> 'demanda_id' FROM d6b.reservar_publicacoes(10) AS r"
    assert rede.linhas(reservar) == [{"?column?": str(DEMANDA)}]
    assert rede.linhas(reservar) == []
    assert rede.um("SELECT max(tentativas) FROM d6b.publicacoes_pendentes") == 0
    operador.rollback()
    ate(lambda: len(rede.linhas(reservar)) == 10, o_que="os textos soltos")


def test_o_trabalhador_publica_os_outros_textos_e_nao_morre(
    sorteada: Rede, operador: psycopg.Connection[Any], dsn: str
) -> None:
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    segurar(operador)

    async def cenario() -> None:
        outra = UUID(int=2)
        sorteada.sortear(outra, ANA)
        sorteada.atualizar(outra, ANA)
        await quando(lambda: sorteada.eventos("demanda.resumo_ciclo_atualizado", outra))
        assert sorteada.eventos("demanda.resumo_ciclo_atualizado", DEMANDA) == []
        operador.rollback()
        await quando(lambda: sorteada.eventos("demanda.resumo_ciclo_atualizado", DEMANDA))

    com_trabalhador(dsn, cenario)
    assert sorteada.um("SELECT sum(mortes) FROM core.consumidores") == 0


def test_o_trabalhador_sobe_com_uma_colonia_presa_e_a_outra_anda(
    sorteada: Rede, operador: psycopg.Connection[Any], dsn: str
) -> None:
    operador.execute("SELECT FROM core.consumidores WHERE colonia = 'D-6b' FOR UPDATE")

    async def cenario() -> None:
        concluida(sorteada)
        await quando(lambda: projetos(sorteada))
        evento = sorteada.atualizar(DEMANDA, ANA)
        await quando(lambda: sorteada.ocorrencias() and sorteada.ocorrencias()[-1]["mensagem"] == "D-8 inicializada.")
        operador.rollback()
        await quando(lambda: sorteada.processado(evento))

    com_trabalhador(dsn, cenario)


def com_trabalhador(dsn: str, cenario: Callable[[], Awaitable[None]]) -> None:
    async def rodar() -> None:
        parar = asyncio.Event()
        app = make_conninfo(dsn, user="formigueiro_app")
        tarefa = asyncio.create_task(trabalhador.trabalhar(app, Denylist.de_texto("idiota"), parar))
        try:
            await cenario()
        finally:
            parar.set()
            await tarefa

    asyncio.run(rodar())


async def quando(condicao: Callable[[], object]) -> None:
    async with asyncio.timeout(PRAZO_S):
        while not condicao():
            await asyncio.sleep(0.02)
