"""Medidas apuradas, marcas da agenda e o que uma coleta lê."""

from datetime import UTC, datetime
from itertools import islice
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from cronsim import CronSim

from tests.apoio.rede import Rede


@pytest.mark.parametrize(
    "cron",
    [
        "* * * * *",
        "*/7 3 * * *",
        "0 9-17/2 * 1-6 1-5",
        "15 4 1,15 * 1",
        "30 6 */10 * 3",
        "0 0 * * 7",
        "5 5 31 * *",
        "0 3 29 2 *",
    ],
)
def test_as_horas_marcadas_sao_as_que_o_app_cumpre(cron: str, bd: psycopg.Connection[Any]) -> None:
    apos = datetime(2026, 11, 30, 12, 34, 30, tzinfo=UTC)
    esperadas = list(islice(CronSim(cron, apos), 300 if cron != "0 3 29 2 *" else 3))
    linhas = bd.execute(
        "SELECT * FROM core.horas_marcadas(%s, %s, %s, 1000)", [cron, apos, esperadas[-1]]
    ).fetchall()
    assert [hora for (hora,) in linhas] == esperadas
    assert bd.execute(
        "SELECT * FROM core.horas_marcadas(%s, %s, %s, 2)", [cron, apos, esperadas[-1]]
    ).fetchall() == linhas[:2]  # fmt: skip


def test_toda_a_agenda_diz_de_si_que_acabou_bem(bd: psycopg.Connection[Any]) -> None:
    for (comando,) in bd.execute("SELECT comando FROM core.agendamentos").fetchall():
        bd.execute(comando)
    assert bd.execute("SELECT nome FROM core.agendamentos WHERE ultima_conclusao IS NULL").fetchall() == []


def test_o_que_nao_se_confirma_nao_se_marca(bd: psycopg.Connection[Any]) -> None:
    with bd.transaction(force_rollback=True):
        bd.execute("SELECT d6b.verificar_prazos_proximos()")
        assert _marca(bd, "d6b-prazos") is not None
    assert _marca(bd, "d6b-prazos") is None


def test_marcar_nao_espera_por_ninguem_nem_marca_a_toda_hora(bd: psycopg.Connection[Any], dsn: str) -> None:
    with psycopg.connect(dsn) as outra:
        outra.execute("SELECT core.marcar_execucao('core-despacho')")
        bd.execute("SET lock_timeout = '1s'")
        bd.execute("SELECT core.marcar_execucao('core-despacho')")
        assert _marca(bd, "core-despacho") is None
    primeira = _marca(bd, "core-despacho")
    assert primeira is not None
    bd.execute("SELECT core.marcar_execucao('core-despacho')")
    assert _marca(bd, "core-despacho") == primeira


def test_atrasado_e_quem_perde_duas_horas_marcadas(bd: psycopg.Connection[Any]) -> None:
    def atrasados(conclusao: str) -> set[str]:
        bd.execute(f"UPDATE core.agendamentos SET ultima_conclusao = clock_timestamp() - interval '{conclusao}'")
        linhas = bd.execute("SELECT a.nome FROM core.agendamentos AS a WHERE core.agendamento_atrasado(a)").fetchall()
        return {nome for (nome,) in linhas}

    assert atrasados("11 minutes") == set()
    assert atrasados("13 minutes") == {"core-despacho", "core-filas", "d6b-saidas-conclusao"}
    frequentes = {"core-despacho", "core-filas", "d6b-saidas-conclusao", "d6b-medidas", "d8-medidas", "d8-ciclos"}
    assert atrasados("2 hours 11 minutes") == frequentes
    bd.execute("UPDATE core.agendamentos SET cron = '0 3 * * 1' WHERE nome = 'd8-ciclos'")
    bd.execute("UPDATE core.agendamentos SET cron = '0 3 29 2 *' WHERE nome = 'core-despacho'")
    anuais = {"core-despacho"}
    semanais = {"d8-ciclos"}
    assert atrasados("7 days") & (semanais | anuais) == set()
    assert atrasados("15 days") & (semanais | anuais) == semanais
    assert atrasados("3 years") & (semanais | anuais) == semanais
    assert atrasados("17 years") & (semanais | anuais) == semanais | anuais


def test_o_que_nunca_rodou_tem_um_dia_para_comecar(bd: psycopg.Connection[Any]) -> None:
    atraso = "SELECT bool_or(core.agendamento_atrasado(a)) FROM core.agendamentos AS a WHERE cron = '* * * * *'"
    assert bd.execute(atraso).fetchone() == (False,)
    bd.execute("UPDATE core.agendamentos SET criado_em = clock_timestamp() - interval '25 hours'")
    assert bd.execute(atraso).fetchone() == (True,)


def test_apurar_de_novo_nao_acumula(bd: psycopg.Connection[Any]) -> None:
    rede = Rede(bd)
    rede.sortear(uuid4(), uuid4())
    rede.despachar()
    totais = []
    for _ in range(2):
        bd.execute("SELECT d6b.apurar_medidas(), d8.apurar_medidas()")
        totais.append(bd.execute("SELECT count(*), sum(valor) FILTER (WHERE nome LIKE '%ativos') FROM d6b.medidas")
                      .fetchone())  # fmt: skip
    assert totais[0] == totais[1]
    assert totais[0] is not None
    assert totais[0][1] == 1


def test_um_sorteio_tardio_conta_uma_vez_ainda_que_reprocessado(bd: psycopg.Connection[Any]) -> None:
    rede = Rede(bd)
    demanda, ana, bia = uuid4(), uuid4(), uuid4()
    rede.sortear(demanda, ana)
    rede.concluir(demanda, ana)
    tardio = rede.sortear(demanda, bia)
    rede.despachar()
    bd.execute("SELECT core.reprocessar(%s, 'D-6b')", [tardio])
    assert rede.linhas("SELECT event_id, demanda_id, conselheiro_id FROM d6b.sorteios_tardios") == [
        {"event_id": tardio, "demanda_id": demanda, "conselheiro_id": bia}
    ]


CHEIAS = {"event_log", "ocorrencias", "dlq", "acompanhamentos", "atualizacoes", "prazos", "projetos_monitorados",
          "historico_manutencoes", "publicacoes_pendentes"}  # fmt: skip


def test_uma_coleta_nao_varre_tabela_que_cresce(bd: psycopg.Connection[Any]) -> None:
    """O planejador, com as tabelas cheias, acha índice para tudo: nenhuma leitura sequencial entra na conta."""
    bd.execute(
        """
        INSERT INTO core.ocorrencias (nivel, colonia, mensagem, criado_em)
        SELECT 'info', 'D-8', 'x', now() - n * interval '1 minute' FROM generate_series(1, 20000) AS n;
        INSERT INTO core.dlq (colonia, especie, event_id, sequence_number, tipo, chave, estado)
        SELECT 'D-8', 'evento', gen_random_uuid(), n, 't', 'c', 'resolvida' FROM generate_series(1, 20000) AS n;
        INSERT INTO d6b.acompanhamentos (demanda_id, conselheiro_id, unidade_civica_id, event_id_sorteio,
                                         event_id_ultima_alteracao, status)
        SELECT gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), gen_random_uuid(),
               'concluido'
          FROM generate_series(1, 20000);
        """
    )
    bd.execute("VACUUM ANALYZE")
    antes = _lidas_em_sequencia(bd)
    with bd.transaction():
        bd.execute("SELECT count(*) FROM core.metricas()")
        depois = _lidas_em_sequencia(bd)
    assert {nome: depois[nome] - antes[nome] for nome in antes if depois[nome] > antes[nome] + 100} == {}


def _lidas_em_sequencia(bd: psycopg.Connection[Any]) -> dict[str, int]:
    linhas = bd.execute(
        "SELECT relname, seq_tup_read + pg_stat_get_xact_tuples_returned(relid) FROM pg_stat_user_tables"
        " WHERE relname = ANY (%s)",
        [list(CHEIAS)],
    ).fetchall()
    assert {nome for nome, _ in linhas} == CHEIAS
    return dict(linhas)


def test_o_estado_da_agenda_diz_quem_passou_da_hora(bd: psycopg.Connection[Any]) -> None:
    bd.execute(
        "UPDATE core.agendamentos SET ultima_conclusao = clock_timestamp() - interval '1 day' WHERE nome = 'd8-ciclos'"
    )
    linha = bd.execute("SELECT core.estado() -> 'problemas'").fetchone()
    assert linha is not None
    (problema,) = linha[0]
    assert problema.startswith("o agendamento d8-ciclos (5 * * * *) não acaba bem desde ")


def _marca(bd: psycopg.Connection[Any], nome: str) -> object:
    linha = bd.execute("SELECT ultima_conclusao FROM core.agendamentos WHERE nome = %s", [nome]).fetchone()
    assert linha is not None
    return linha[0]
