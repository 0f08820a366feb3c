"""A agenda cumprida pelo próprio pg_cron, sem nenhum Python: despacho e varreduras, lançados por ele."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg

from app.banco.cluster import Cluster
from app.banco.migrar import migrar
from tests.apoio.espera import ate
from tests.apoio.rede import Rede

UM_MINUTO_E_POUCO_S = 80  # o grão do pg_cron é o minuto

AGENDA = {
    "core-despacho": "* * * * *",
    "core-limpeza": "20 4 * * *",
    "core-retencao": "50 4 * * *",
    "d6b-inativos": "30 9 * * *",
    "d6b-medidas": "*/5 * * * *",
    "d6b-prazos": "0 */6 * * *",
    "d6b-saidas-conclusao": "* * * * *",
    "d8-ciclos": "5 * * * *",
    "d8-medidas": "*/5 * * * *",
}


@contextmanager
def _conectado(cluster: Cluster, banco: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(cluster.endereco.dsn(banco), autocommit=True) as conexao:
        yield conexao


def _trabalhos(cron: psycopg.Connection[Any]) -> dict[str, str]:
    linhas = cron.execute("SELECT jobname, schedule FROM cron.job WHERE database = 'cidade'").fetchall()
    return {nome.removeprefix("cidade/"): agenda for nome, agenda in linhas}


def _mudar_a_agenda(cidade: psycopg.Connection[Any]) -> None:
    cidade.execute("DELETE FROM core.agendamentos WHERE nome = 'd6b-inativos'")
    cidade.execute("UPDATE core.agendamentos SET cron = '* * * * *'")


def test_a_agenda_e_espelhada_acompanha_mudancas_e_e_cumprida(cluster_com_cron: Cluster) -> None:
    dsn = cluster_com_cron.endereco.dsn("cidade")
    assert migrar(dsn).pg_cron
    with _conectado(cluster_com_cron, "postgres") as cron, _conectado(cluster_com_cron, "cidade") as cidade:
        assert _trabalhos(cron) == AGENDA

        rede = Rede(cidade)
        conselheiro, com_prazo, sorteada = uuid4(), uuid4(), uuid4()
        depois_de_amanha = (datetime.now(UTC) + timedelta(days=2)).date()
        rede.sortear(com_prazo, conselheiro)
        prazo: dict[str, object] = {"data_estimada": str(depois_de_amanha), "descricao_prazo": "troca da tampa"}
        rede.atualizar(com_prazo, conselheiro, "prazo_registrado", prazo)
        rede.despachar()
        assert rede.um("SELECT count(*) FROM d6b.prazos") == 1

        _mudar_a_agenda(cidade)
        migrar(dsn)
        assert _trabalhos(cron) == dict.fromkeys(AGENDA.keys() - {"d6b-inativos"}, "* * * * *")
        rede.sortear(sorteada, conselheiro)

        ate(
            lambda: rede.acompanhamentos(sorteada) and rede.eventos("conselheiro.prazo_próximo"),
            UM_MINUTO_E_POUCO_S,
            "o pg_cron despachar o sorteio e alertar o prazo",
        )
        ate(lambda: _execucoes(cron).keys() == _trabalhos(cron).keys(), UM_MINUTO_E_POUCO_S, "todos rodarem")
        assert set(_execucoes(cron).values()) == {"succeeded"}


def _execucoes(cron: psycopg.Connection[Any]) -> dict[str, str]:
    """A situação da primeira execução acabada de cada trabalho."""
    linhas = cron.execute(
        """
        SELECT DISTINCT ON (j.jobname) j.jobname, 
               CASE d.status WHEN 'succeeded' THEN d.status ELSE d.status || ': ' || d.return_message END
          FROM cron.job_run_details AS d
          JOIN cron.job AS j ON j.jobid = d.jobid
         WHERE d.end_time IS NOT NULL
         ORDER BY j.jobname, d.runid
        """
    ).fetchall()
    return {nome.removeprefix("cidade/"): situacao for nome, situacao in linhas}


def test_um_banco_fora_da_agenda_do_app(cluster_com_cron: Cluster) -> None:
    """Com a agenda no pg_cron, o app não a cumpre também."""
    dsn = cluster_com_cron.endereco.dsn("cidade")
    migrar(dsn)
    with _conectado(cluster_com_cron, "cidade") as cidade:
        assert cidade.execute("SELECT count(*) FROM core.agenda_do_app()").fetchone() == (0,)


def test_sem_a_extensao_criada_a_agenda_e_do_app(cluster_com_cron: Cluster) -> None:
    with _conectado(cluster_com_cron, "postgres") as cron:
        cron.execute("DROP EXTENSION pg_cron")
    dsn = cluster_com_cron.endereco.dsn("cidade")
    assert not migrar(dsn).pg_cron
    with _conectado(cluster_com_cron, "cidade") as cidade:
        assert cidade.execute("SELECT count(*) FROM core.agenda_do_app()").fetchone() == (len(AGENDA),)
