"""Quem pode o quê na D-8 (regra 8)."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.d8.apoio import Manutencao

Entrar = Callable[[str], psycopg.Connection[Any]]
RECUSADO = psycopg.errors.InsufficientPrivilege


@pytest.fixture
def como(dsn: str) -> Iterator[Entrar]:
    """Abre uma sessão com o papel dado."""
    with ExitStack() as sessoes:
        yield lambda papel: sessoes.enter_context(psycopg.connect(make_conninfo(dsn, user=papel), autocommit=True))


@pytest.fixture
def projeto(d8: Manutencao) -> UUID:
    projeto = d8.monitorar()
    d8.avancar(200)
    return projeto


def test_o_app_inicia_despacha_e_varre_e_nada_mais(d8: Manutencao, projeto: UUID, como: Entrar) -> None:
    app = como("formigueiro_app")
    app.execute("SELECT d8.iniciar()")
    app.execute("CALL d8.executar_varredura()")
    assert len(d8.ciclos(projeto)) == 1
    for comando in (
        "SELECT d8.encerrar_monitoramento(gen_random_uuid(), 'encerramento_manual')",
        "SELECT d8.previsao('infinity')",
        "SELECT d8.reconstruir()",
        "SELECT * FROM d8.painel_projetos",
        "SELECT * FROM d8.projetos_monitorados",
        "DELETE FROM d8.processed_events",
        "SELECT d8.on_demanda_concluida(NULL)",
        "SELECT core._publicar_lote(NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
        "SELECT core.publicar_lote('[]')",
    ):
        with pytest.raises(RECUSADO):
            app.execute(comando)


def test_o_dba_opera_e_le_as_visoes_sem_tocar_nas_tabelas(d8: Manutencao, projeto: UUID, como: Entrar) -> None:
    dba = como("formigueiro_dba")
    dba.execute("CALL d8.executar_varredura()")
    dba.execute("SELECT * FROM d8.previsao('infinity')")
    for visao in ("painel_projetos", "painel_ciclos", "contadores"):
        assert len(dba.execute(f"SELECT * FROM d8.{visao}").fetchall()) == 1
    dba.execute("SELECT d8.calcular_peso_atraso(31)")
    dba.execute("SELECT core.mascarar_identificadores('x')")
    dba.execute("SELECT d8.encerrar_monitoramento(%s, 'encerramento_manual')", [projeto])
    dba.execute("SELECT d8.reconstruir()")
    assert d8.projeto(projeto)["status"] == "encerrado"
    for comando in (
        "UPDATE d8.projetos_monitorados SET ciclo_atual = 9",
        "SELECT * FROM d8.historico_manutencoes",
        "SELECT d8.registrar_projeto(NULL)",
        "SELECT d8.gravar_encerramento(NULL, NULL, NULL, NULL)",
    ):
        with pytest.raises(RECUSADO):
            dba.execute(comando)


def test_o_produtor_nao_entra_na_colonia(d8: Manutencao, como: Entrar) -> None:
    produtor = como("formigueiro_produtor")
    for comando in ("CALL d8.executar_varredura()", "SELECT d8.iniciar()", "SELECT * FROM d8.contadores"):
        with pytest.raises(RECUSADO):
            produtor.execute(comando)


def test_a_colonia_nao_le_a_d6b_nem_escreve_no_log(bd: psycopg.Connection[Any]) -> None:
    bd.execute("SET ROLE d8_dono")
    for comando in (
        "SELECT * FROM d6b.acompanhamentos",
        "SELECT d6b.iniciar()",
        "INSERT INTO core.event_log DEFAULT VALUES",
        "DELETE FROM core.event_log",
        "SELECT * FROM core.ocorrencias",
    ):
        with pytest.raises(RECUSADO):
            bd.execute(comando)


def test_so_o_que_outros_chamam_e_security_definer(bd: psycopg.Connection[Any]) -> None:
    """Handlers e regras rodam como quem os chama: o dono da colônia, de dentro de uma porta."""
    portas = {
        "processar_pendentes", "reservar_lote", "tentar_dlq", "descartar_dlq", "reposicionar", "semear_cursores",
        "reprocessar", "iniciar", "encerrar_monitoramento", "previsao", "reconstruir", "varrer_lote",
        "proximos_vencidos", "registrar_falha", "relatar_varredura", "cursores", "metricas", "apurar_medidas",
        "linha_do_tempo", "abrir_varredura", "aquem_do_log", "proxima_manutencao",
    }  # fmt: skip
    definer = {
        nome
        for (nome,) in bd.execute("SELECT proname FROM pg_proc WHERE pronamespace = 'd8'::regnamespace AND prosecdef")
    }
    assert definer == portas
