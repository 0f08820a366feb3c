"""Cada trabalho tem sua fatia do tempo: nenhum espera que a fila de outro acabe (N70)."""

import asyncio
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from app.pecas.denylist import Denylist
from app.trabalhador import publicador, trabalhador
from tests.apoio.rede import Rede

TEXTOS, ATRASO = 40, 90
PRAZO_S = 60.0


@pytest.fixture
def sem_fim(rede: Rede) -> Rede:
    """Há textos na fila, e quem publique sem parar: a cada evento que a D-6b trata, outro entra no log."""
    for n in range(TEXTOS):
        rede.sortear(UUID(int=n + 1), UUID(int=1000 + n))
        rede.atualizar(UUID(int=n + 1), UUID(int=1000 + n))
    rede.despachar()
    assert rede.um("SELECT count(*) FROM d6b.publicacoes_pendentes") == TEXTOS
    atrasar(rede)
    rede.bd.execute(
        """
        CREATE FUNCTION d6b.sem_fim() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            INSERT INTO core.event_log (event_id, tipo, origem, versao_schema, correlacao_id, chave, payload,
                                        publicado_em, impressao)
            SELECT n.id, 'demanda.recebida', 'D-1a', '1.1.0', n.id, n.id::text, jsonb_build_object('demanda_id', n.id),
                   clock_timestamp(), ''
              FROM gen_random_uuid() AS n (id);
            RETURN NULL;
        END $$;
        CREATE TRIGGER sem_fim AFTER INSERT ON d6b.processed_events FOR EACH ROW EXECUTE FUNCTION d6b.sem_fim()
        """
    )
    return rede


def atrasar(rede: Rede, quantos: int = ATRASO) -> None:
    for _ in range(quantos):
        rede.publicar("demanda.recebida", {"demanda_id": str(uuid4())}, "D-1a", "1.1.0")


def por_ler(rede: Rede) -> int:
    return int(rede.um("SELECT core.obter_maior_sequence() - min(posicao) FROM core.consumidores"))


def test_textos_agenda_e_inicializacao_andam_com_quem_publique_sem_parar(
    sem_fim: Rede, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trabalhador, "FATIA_S", 0.1)
    menor_atraso: list[int] = []

    async def rodar() -> None:
        parar = asyncio.Event()
        tarefa = asyncio.create_task(
            trabalhador.trabalhar(make_conninfo(dsn, user="formigueiro_app"), Denylist.de_texto("idiota"), parar)
        )
        try:
            async with asyncio.timeout(PRAZO_S):
                while sem_fim.um("SELECT count(*) FROM d6b.publicacoes") < TEXTOS or not iniciadas(sem_fim):
                    menor_atraso.append(por_ler(sem_fim))
                    await asyncio.sleep(0.02)
        finally:
            parar.set()
            await tarefa

    asyncio.run(rodar())
    assert min(menor_atraso) > 0  # a fila dos eventos nunca acabou
    assert sem_fim.um("SELECT ultima_conclusao IS NOT NULL FROM core.agendamentos WHERE nome = 'd6b-saidas-conclusao'")


def iniciadas(rede: Rede) -> bool:
    return bool(rede.um("SELECT count(*) FROM core.ocorrencias WHERE mensagem = 'D-8 inicializada.'"))


@pytest.mark.parametrize("colonia", ["d6b", "d8"])
def test_iniciar_trata_o_que_havia_e_nao_corre_atras_de_quem_publica(sem_fim: Rede, colonia: str) -> None:
    sem_fim.bd.execute("SET statement_timeout = '30s'")
    havia = sem_fim.um("SELECT core.obter_maior_sequence()")
    tratados = sem_fim.um(f"SELECT ({colonia}.iniciar() ->> 'eventos_tratados')::int")
    assert ATRASO <= tratados <= ATRASO + 30
    assert sem_fim.um("SELECT max(posicao) FROM core.consumidores") >= havia


def test_uma_fatia_de_textos_publica_lote_apos_lote_ate_que_a_fila_acabe(
    sem_fim: Rede, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publicador, "LOTE", 3)

    async def rodar(fatia_s: float) -> int:
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conexao:
            return await publicador.publicar_pendentes(conexao, Denylist.de_texto("idiota"), fatia_s)

    assert asyncio.run(rodar(0)) == 3  # sem tempo, um lote
    assert asyncio.run(rodar(PRAZO_S)) == TEXTOS - 3


def test_o_atraso_de_uma_colonia_nao_detem_a_outra(sem_fim: Rede) -> None:
    inicio = sem_fim.um("SELECT min(posicao) FROM core.consumidores")
    sem_fim.bd.execute("CALL core.despachar_por(interval '0')")
    posicoes = dict(sem_fim.bd.execute("SELECT colonia, posicao FROM core.consumidores").fetchall())
    assert posicoes["D-6b"] == inicio + 30
    assert posicoes["D-8"] >= inicio + 30


def test_muitas_tentativas_da_dlq_nao_detem_os_eventos(rede: Rede) -> None:
    """Entradas que falham sempre e têm sempre a hora vencida: sem medida, o despacho não faria outra coisa."""
    rede.bd.execute(
        """
        CREATE FUNCTION d6b.veneno() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'veneno';
        END $$;
        CREATE TRIGGER veneno BEFORE INSERT ON d6b.acompanhamentos FOR EACH ROW EXECUTE FUNCTION d6b.veneno();
        CREATE FUNCTION core.ja() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            NEW.proxima_tentativa := clock_timestamp();
            RETURN NEW;
        END $$;
        CREATE TRIGGER ja BEFORE UPDATE ON core.dlq
            FOR EACH ROW WHEN (NEW.estado = 'pendente') EXECUTE FUNCTION core.ja();
        """
    )
    for n in range(3):
        rede.sortear(UUID(int=n + 1), UUID(int=1000 + n))
    rede.bd.execute("CALL core.despachar_por(interval '0')")
    rede.bd.execute("UPDATE core.dlq SET atualizado_em = clock_timestamp()")
    antes = rede.um("SELECT count(*) FROM core.dlq_tentativas")
    atrasar(rede, 1)
    rede.bd.execute("SET statement_timeout = '30s'")
    rede.bd.execute("CALL core.despachar_por(interval '1 second')")
    tentadas = rede.um(
        "SELECT count(*) FROM core.dlq_tentativas WHERE quando < (SELECT max(processed_at) FROM d6b.processed_events)"
    )
    assert tentadas - antes <= 30
    assert rede.um("SELECT count(*) FROM core.dlq_tentativas") > antes
    assert por_ler(rede) == 0


@pytest.mark.parametrize("fatia", ["-1 second", "2 days", "-infinity"])
def test_uma_fatia_que_nao_serve_e_recusada(rede: Rede, fatia: str) -> None:
    if fatia == "-infinity" and rede.bd.info.server_version < 170000:
        pytest.skip("antes do 17 não há intervalo infinito")
    with pytest.raises(psycopg.Error) as recusa:
        rede.bd.execute("CALL core.despachar_por(%s::interval)", [fatia])
    assert recusa.value.sqlstate == "FM422"
