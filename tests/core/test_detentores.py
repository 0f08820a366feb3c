"""Quem publica e não termina detém a leitura: dito em segundos e, se a instalação quer, encerrado (N67)."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.apoio.rede import Rede

ANA = UUID(int=11)


@pytest.fixture
def parado(dsn: str, rede: Rede) -> Iterator[psycopg.Connection[Any]]:
    """Um produtor que dispensou o prazo, publicou e parou no meio; e um evento que ficou atrás."""
    rede.bd.execute("INSERT INTO core.produtores VALUES ('formigueiro_produtor', 'D-6a')")
    with closing(psycopg.connect(make_conninfo(dsn, user="formigueiro_produtor"))) as conexao:
        conexao.execute("SET idle_in_transaction_session_timeout = '1h'")
        deter(rede, conexao)
        yield conexao


def deter(rede: Rede, conexao: psycopg.Connection[Any]) -> None:
    Rede(conexao).publicar(
        "conselheiro.sorteado",
        {"demanda_id": str(UUID(int=1)), "conselheiro_id": str(ANA), "unidade_civica_id": str(UUID(int=7))},
        "D-6a",
    )
    rede.sortear(UUID(int=2), ANA)
    rede.despachar()
    assert rede.acompanhamentos(UUID(int=2)) == []


def envelhecer(rede: Rede, segundos: int) -> None:
    rede.bd.execute(
        "UPDATE core.consumidores SET lacuna_desde = clock_timestamp() - make_interval(secs => %s)", [segundos]
    )


def ajustar(rede: Rede, nome: str, valor: str) -> None:
    rede.bd.execute("UPDATE core.parametros SET valor = %s::jsonb WHERE nome = %s", [valor, nome])


def metrica(rede: Rede) -> set[float]:
    consulta = "SELECT valor FROM core.metricas() WHERE nome = 'formigueiro_barramento_leitura_detida'"
    return {valor for (valor,) in rede.bd.execute(consulta)}


def test_e_um_problema_depois_de_alguns_segundos_que_um_parametro_diz(
    rede: Rede, parado: psycopg.Connection[Any]
) -> None:
    envelhecer(rede, 9)
    assert rede.um("SELECT core.estado() -> 'problemas'") == []
    assert metrica(rede) == {0}
    envelhecer(rede, 11)
    problemas = rede.um("SELECT core.estado() -> 'problemas'")
    assert f"D-6b: leitura detida há 11 s por pid {parado.info.backend_pid} (formigueiro_produtor)" in problemas
    assert metrica(rede) == {1}
    ajustar(rede, "segundos_detencao_problema", "60")
    assert rede.um("SELECT core.estado() -> 'problemas'") == []
    assert metrica(rede) == {0}


@pytest.mark.parametrize("estragado", ['"x"', "-1", "1e400", "[]", "true", "null"])
def test_um_parametro_estragado_nao_para_o_despacho_nem_cala_o_estado(
    rede: Rede, parado: psycopg.Connection[Any], estragado: str
) -> None:
    ajustar(rede, "segundos_detencao_maxima", estragado)
    ajustar(rede, "segundos_detencao_problema", estragado)
    envelhecer(rede, 11)
    rede.despachar()
    assert len(rede.um("SELECT core.estado() -> 'problemas'")) == 2
    parado.rollback()


def test_por_padrao_ninguem_e_encerrado(rede: Rede, parado: psycopg.Connection[Any]) -> None:
    envelhecer(rede, 100_000)
    rede.despachar()
    assert rede.acompanhamentos(UUID(int=2)) == []
    parado.commit()
    rede.despachar()
    assert rede.acompanhamento(UUID(int=1))["conselheiro_id"] == ANA


def test_o_despacho_encerra_quem_passa_do_maximo_registra_e_segue(rede: Rede, parado: psycopg.Connection[Any]) -> None:
    ajustar(rede, "segundos_detencao_maxima", "30")
    envelhecer(rede, 29)
    rede.despachar()
    assert rede.ocorrencias() == []
    envelhecer(rede, 31)
    rede.despachar()
    assert rede.acompanhamento(UUID(int=2))["conselheiro_id"] == ANA
    (ocorrencia,) = rede.ocorrencias()
    assert ocorrencia["mensagem"] == "Sessão que detinha a leitura encerrada"
    assert ocorrencia["contexto"].items() >= {"pid": parado.info.backend_pid, "papel": "formigueiro_produtor"}.items()
    with pytest.raises(psycopg.OperationalError):
        parado.execute("SELECT 1")


@pytest.mark.parametrize("pode", [False, True])
def test_so_encerra_quem_tem_o_direito_e_o_despacho_nao_falha_sem_ele(
    rede: Rede, parado: psycopg.Connection[Any], dsn: str, pode: bool
) -> None:
    ajustar(rede, "segundos_detencao_maxima", "30")
    envelhecer(rede, 31)
    if pode:
        rede.bd.execute("GRANT pg_signal_backend TO formigueiro_app")
    try:
        with psycopg.connect(make_conninfo(dsn, user="formigueiro_app"), autocommit=True) as app:
            app.execute("CALL core.despachar()")
    finally:
        rede.bd.execute("REVOKE pg_signal_backend FROM formigueiro_app")
    assert len(rede.acompanhamentos(UUID(int=2))) == pode
    assert len(rede.ocorrencias()) == pode


def test_a_transacao_parada_de_um_superusuario_so_outro_encerra(rede: Rede, dsn: str) -> None:
    ajustar(rede, "segundos_detencao_maxima", "30")
    rede.bd.execute("GRANT pg_signal_backend TO formigueiro_app")
    try:
        with closing(psycopg.connect(dsn)) as dono:
            deter(rede, dono)
            envelhecer(rede, 31)
            with psycopg.connect(make_conninfo(dsn, user="formigueiro_app"), autocommit=True) as app:
                app.execute("CALL core.despachar()")
            assert rede.ocorrencias() == []
            rede.despachar()
            with pytest.raises(psycopg.OperationalError):
                dono.execute("SELECT 1")
    finally:
        rede.bd.execute("REVOKE pg_signal_backend FROM formigueiro_app")
    assert rede.acompanhamento(UUID(int=2))["conselheiro_id"] == ANA


def test_uma_transacao_preparada_e_nomeada_e_nunca_encerrada(rede: Rede, dsn: str) -> None:
    ajustar(rede, "segundos_detencao_maxima", "30")
    with psycopg.connect(dsn) as conexao:
        deter(rede, conexao)
        conexao.execute("PREPARE TRANSACTION 'teste_detentor'")
        conexao.commit()
        envelhecer(rede, 31)
        rede.despachar()
        assert rede.acompanhamentos(UUID(int=2)) == []
        problemas = rede.um("SELECT core.estado() -> 'problemas'")
        assert "D-6b: leitura detida há 31 s por transação preparada teste_detentor, de postgres" in problemas
        rede.bd.execute("COMMIT PREPARED 'teste_detentor'")
    rede.despachar()
    assert rede.acompanhamento(UUID(int=2))["conselheiro_id"] == ANA
