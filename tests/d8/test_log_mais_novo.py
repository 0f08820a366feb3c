"""Uma D-8 restaurada de cópia mais velha que o log: nada se duplica nem se perde até d8.reconstruir() (N53)."""

import os
import subprocess
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import given
from hypothesis import settings as ajustes
from hypothesis import strategies as st
from psycopg.conninfo import make_conninfo

from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao, vencer_tentativas
from tests.apoio.servidor import BINARIOS
from tests.d8.apoio import Manutencao
from tests.d8.test_reconstruir import HISTORIAS, conferir, estado, viver

TABELAS = ("projetos_monitorados", "historico_manutencoes", "processed_events", "consumer_offset")


class Copia:
    """Uma cópia do esquema d8, pelo pg_dump, que se restaura no mesmo banco."""

    def __init__(self, dsn: str, pasta: Path) -> None:
        self.dsn, self.arquivo = dsn, pasta / "d8.dump"
        _rodar("pg_dump", "--schema=d8", "--format=custom", f"--file={self.arquivo}", dsn)

    def restaurar(self, d8: Manutencao) -> None:
        d8.bd.execute("DROP SCHEMA d8 CASCADE")
        _rodar("pg_restore", "--exit-on-error", f"--dbname={self.dsn}", str(self.arquivo))


def _rodar(programa: str, *argumentos: str) -> None:
    feito = subprocess.run(
        [BINARIOS / programa, *argumentos],
        check=False, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert feito.returncode == 0, feito.stderr


@pytest.fixture
def copia(dsn: str, tmp_path: Path, d8: Manutencao) -> Copia:
    """A cópia de uma D-8 com um ciclo gerado em cada um de três projetos."""
    for vida in (1000, 1000, 15):
        d8.monitorar(plano={"intervalo_dias": 10, "vida_util_dias": vida})
    d8.avancar(10)
    d8.varrer()
    d8.despachar()
    return Copia(dsn, tmp_path)


def depois_da_copia(d8: Manutencao) -> UUID:
    """Uma execução, um fim de vida, um encerramento manual, uma obra nova e dois ciclos; devolve o que segue."""
    segue, manual, breve = (
        projeto["id"]
        for projeto in sorted(d8.projetos(), key=lambda p: p["plano_manutencao"]["vida_util_dias"], reverse=True)
    )
    d8.avancar(6)
    for projeto in (segue, breve):
        d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto)
    d8.despachar()
    assert d8.projeto(breve)["motivo_encerramento"] == "vida_util_esgotada"
    d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, 'encerramento_manual')", [manual])
    d8.monitorar(plano={"intervalo_dias": 9})
    d8.avancar(11)
    d8.varrer()
    d8.despachar()
    return UUID(str(segue))


def recusa(d8: Manutencao, comando: str, *valores: object) -> str:
    with pytest.raises(psycopg.Error) as erro:
        d8.bd.execute(comando, valores)
    assert erro.value.sqlstate == "FM409"
    return str(erro.value)


def dobrados(d8: Manutencao) -> int:
    """Ciclos que foram publicados mais de uma vez."""
    return int(
        d8.um(
            "SELECT count(*) FROM (SELECT FROM core.event_log WHERE tipo = 'demanda.manutenção_gerada'"
            " GROUP BY payload -> 'projeto_original_id', payload -> 'ciclo_numero' HAVING count(*) > 1) AS d"
        )
    )


def test_a_varredura_espera_a_reconstrucao_e_nenhum_ciclo_dobra(d8: Manutencao, copia: Copia) -> None:
    segue = depois_da_copia(d8)
    antes, eventos = estado(d8), d8.um("SELECT count(*) FROM core.event_log")
    copia.restaurar(d8)
    assert estado(d8) != antes

    assert "d8.reconstruir()" in recusa(d8, "CALL d8.executar_varredura(%s)", d8.agora)
    recusa(d8, "SELECT d8.encerrar_monitoramento(%s, 'projeto_removido')", segue)
    recusa(d8, "SELECT core.reprocessar(%s, 'D-8')", uuid4())
    (problema,) = [p for p in d8.um("SELECT core.estado() -> 'problemas'") if "mais velha que o log" in p]
    assert "d8.reconstruir()" in problema
    assert d8.um("SELECT count(*) FROM core.event_log") == eventos

    d8.bd.execute("SELECT d8.reconstruir()")
    assert estado(d8) == antes
    assert d8.um("SELECT count(*) FROM core.event_log") == eventos
    assert d8.um("SELECT core.estado() ->> 'd8_aquem_do_log'") is None
    d8.despachar()
    d8.varrer()
    assert (estado(d8), d8.um("SELECT count(*) FROM core.event_log")) == (antes, eventos)
    d8.gerar(segue)
    assert dobrados(d8) == 0
    conferir(d8)


def test_a_execucao_que_chega_antes_da_reconstrucao_espera(d8: Manutencao, copia: Copia) -> None:
    segue = depois_da_copia(d8)
    esperado = d8.ciclo(segue)
    copia.restaurar(d8)
    d8.avancar(1)
    execucao = d8.executar(esperado["demanda_manutencao_id"], segue)
    d8.despachar()
    relato = d8.um("SELECT d8.iniciar()")
    assert (relato["eventos_tratados"], d8.pendencias()) == (0, 0)
    assert [o["mensagem"] for o in d8.ocorrencias("erro")] == ["D-8 mais velha que o log: espera por d8.reconstruir()."]
    assert d8.um("SELECT count(*) FROM core.consumidores WHERE posicao = core.obter_maior_sequence()") == 1  # a D-6b

    d8.bd.execute("SELECT d8.reconstruir()")
    d8.despachar()
    assert d8.resultado(execucao) == "processado"
    assert (d8.ciclo(segue)["id"], d8.ciclo(segue)["status"]) == (esperado["id"], "concluida")
    assert d8.projeto(segue)["proximo_ciclo"] == d8.agora + timedelta(days=10)
    assert d8.ocorrencias("aviso")[-1]["mensagem"] == "D-8 mais velha que o log, posta em dia pela reconstrução."
    conferir(d8)


def test_o_que_um_operador_descartou_segue_descartado_e_o_que_esta_na_dlq_espera(d8: Manutencao, copia: Copia) -> None:
    d8.bd.execute(
        "CREATE FUNCTION public.falhar() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'falha'; END $$;"
        "CREATE TRIGGER falhar BEFORE INSERT ON d8.projetos_monitorados FOR EACH ROW EXECUTE FUNCTION public.falhar()"
    )
    descartada, pendente = d8.concluir(), d8.concluir()
    d8.despachar()
    d8.bd.execute("SELECT core.dlq_descartar(id, 'não é obra') FROM core.dlq WHERE chave = %s", [str(descartada)])
    d8.bd.execute("DROP TRIGGER falhar ON d8.projetos_monitorados")
    depois_da_copia(d8)
    copia.restaurar(d8)
    d8.bd.execute("SELECT d8.reconstruir()")
    assert len(d8.linhas("SELECT FROM d8.projetos_monitorados WHERE demanda_original_id IN (%s, %s)",
                         descartada, pendente)) == 0  # fmt: skip
    vencer_tentativas(d8.bd)
    d8.despachar()
    assert d8.projeto_da(pendente)["status"] == "ativo"
    assert d8.linhas("SELECT FROM d8.projetos_monitorados WHERE demanda_original_id = %s", descartada) == []
    conferir(d8)


def test_um_esquema_esvaziado_volta_do_log_inteiro(d8: Manutencao, copia: Copia) -> None:
    """Sem cópia nenhuma: os cursores nascem no fim do log, e nada do passado seria relido."""
    depois_da_copia(d8)
    antes = estado(d8)
    d8.bd.execute(f"TRUNCATE {', '.join(f'd8.{tabela}' for tabela in TABELAS)}")
    d8.bd.execute("SELECT d8.semear_cursores()")
    recusa(d8, "CALL d8.executar_varredura(%s)", d8.agora)
    d8.bd.execute("SELECT d8.reconstruir()")
    assert estado(d8) == antes
    conferir(d8)


def test_evento_proprio_que_nao_se_aplica_fica_registrado_e_nao_detem_a_colonia(d8: Manutencao) -> None:
    """Publicado à mão, de um projeto que não existe: a reconstrução o diz, e segue."""
    projeto = d8.monitorar()
    d8.gerar(projeto)
    (gerada,) = d8.eventos("demanda.manutenção_gerada")
    estranho = d8.publicar(
        "demanda.manutenção_gerada", gerada["payload"] | {"projeto_original_id": str(uuid4())}, "1.0.0", "D-8"
    )
    recusa(d8, "CALL d8.executar_varredura(%s)", d8.agora)
    antes = estado(d8)
    d8.bd.execute("SELECT d8.reconstruir()")
    assert estado(d8) == antes
    assert d8.resultado(estranho) == "descartado"
    assert d8.ocorrencias("erro")[-1]["event_id"] == estranho
    d8.varrer()


def test_nao_ha_alarme_falso(dsn: str, d8: Manutencao) -> None:
    """Varredura por confirmar em outra sessão, saída na DLQ, retenção e log mais velho que a D-8."""
    breve = d8.monitorar(plano={"intervalo_dias": 10, "vida_util_dias": 15})
    d8.gerar(breve)
    d8.monitorar(plano={"intervalo_dias": 1})
    d8.avancar(6)
    with psycopg.connect(make_conninfo(dsn)) as outra:
        outra.execute(
            "SELECT d8.varrer_lote(core.agora(), '-infinity', '00000000-0000-0000-0000-000000000000', core.agora(),"
            " 'ffffffff-ffff-ffff-ffff-ffffffffffff', 1)"
        )
        d8.varrer()
    assert d8.um("SELECT d8.aquem_do_log()") is None

    recusar_publicacao(d8.bd, "manutenção.ciclo_encerrado")
    d8.executar(d8.ciclo(breve)["demanda_manutencao_id"], breve)
    d8.despachar()
    assert d8.pendencias() == 1
    d8.varrer()
    aceitar_publicacao(d8.bd)
    vencer_tentativas(d8.bd)
    d8.despachar()
    assert len(d8.eventos("manutenção.ciclo_encerrado")) == 1
    d8.avancar(1)
    d8.bd.execute("CALL core.redigir(core.agora())")
    d8.varrer()

    d8.bd.execute(
        "SET session_replication_role = replica;"
        "DELETE FROM core.event_log WHERE sequence_number > 5; SET session_replication_role = origin"
    )
    d8.avancar(1)
    d8.varrer()
    assert d8.um("SELECT d8.aquem_do_log()") is None


@given(semente=st.integers(0, 2**32 - 1))
@ajustes(HISTORIAS, max_examples=6)
def test_historia_qualquer_perdida_pela_metade_volta_do_log(d8: Manutencao, semente: int) -> None:
    """A ordem em que se aplicou se perdeu, e vale a do log: o que se promete e o que se fez são os mesmos."""
    d8.esvaziar()
    d8.bd.execute("SELECT d8.semear_cursores()")
    sorte = Random(semente)
    viver(d8, sorte, projetos=6, passos=4)
    for tabela in TABELAS:
        d8.bd.execute(f"DROP TABLE IF EXISTS public.{tabela}; CREATE TABLE public.{tabela} AS TABLE d8.{tabela}")
    viver(d8, sorte, projetos=6, passos=6)
    antes = retrato(d8)
    d8.bd.execute(f"TRUNCATE {', '.join(f'd8.{tabela}' for tabela in TABELAS)}")
    for tabela in TABELAS:
        d8.bd.execute(f"INSERT INTO d8.{tabela} TABLE public.{tabela}")
    d8.bd.execute("SELECT d8.reconstruir()")
    d8.despachar()
    assert retrato(d8) == antes
    assert d8.pendencias() == 0
    conferir(d8)


def retrato(d8: Manutencao) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return (
        d8.linhas(
            "SELECT id, status, motivo_encerramento, data_encerramento, ciclo_atual, plano_manutencao,"
            " CASE WHEN status = 'ativo' THEN proximo_ciclo END FROM d8.projetos_monitorados ORDER BY id"
        ),
        d8.linhas(
            "SELECT id, status, status_execucao, data_prevista, data_geracao, data_conclusao, observacoes"
            " FROM d8.historico_manutencoes ORDER BY id"
        ),
    )
