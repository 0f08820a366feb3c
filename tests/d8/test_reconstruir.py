"""O estado refeito dos eventos, igual em cada coluna (D-8 1.6, E23)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from tests.apoio.espera import ate
from tests.d8.apoio import LOCALIZACAO, PLANO, Manutencao

# Sem a fase de redução: uma história é uma semente, e semente menor não é história mais simples.
HISTORIAS = settings(
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


CPF = "529.982.247-25"
NA_FILA = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"


def estado(d8: Manutencao) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return d8.projetos(), d8.ciclos()


def conferir(d8: Manutencao) -> None:
    antes = estado(d8)
    eventos, ocorrencias = d8.um("SELECT count(*) FROM core.event_log"), d8.um("SELECT count(*) FROM core.ocorrencias")
    d8.bd.execute("SELECT d8.reconstruir()")
    assert estado(d8) == antes
    assert d8.um("SELECT count(*) FROM core.event_log") == eventos
    assert d8.um("SELECT count(*) FROM core.ocorrencias") == ocorrencias


def viver(d8: Manutencao, sorte: Random, projetos: int, passos: int) -> None:
    """Uma história qualquer: conclusões boas e más, varreduras tardias, execuções de todo tipo, encerramentos."""
    demandas: list[UUID] = []
    for passo in range(passos):
        novas = projetos // passos + (passo < projetos % passos)
        for _ in range(novas):
            plano = PLANO | {
                "intervalo_dias": sorte.choice([1, 7, 30, 90]),
                "vida_util_dias": sorte.choice([5, 60, 200, 1000]),
                "prazo_tolerancia_dias": sorte.choice([0, 3, 30]),
                "profundidade": sorte.choice([0, 0, 1, 2, 3, None]),
            }
            if sorte.random() < 0.1:
                plano["intervalo_dias"] = 0
            plano |= sorte.choice([{}, {"tipo": "rever com 3555-0199", "nota": [f"CPF {CPF}"]}])
            textos = [
                None,
                f"Obra na R. A, CPF {CPF}",
                "(11) 98765-4321(11) 98765-4321 3555-0199 98765432",
                "Rita: a@b.c\n ponto d, 11  98765\n4321\x01 0199, CPF 529.982\x02.247-25",
            ]
            demandas.append(
                d8.concluir(
                    plano_manutencao=plano,
                    titulo=sorte.choice(textos),
                    resumo_final=sorte.choice(textos[1:]),
                    subcategoria=sorte.choice(textos),
                    responsavel_tecnico=sorte.choice(textos),
                    materiais_utilizados=[texto for texto in textos if texto],
                    localizacao=LOCALIZACAO | {"endereco": sorte.choice(textos), "ponto": CPF},
                )
            )
        if demandas and sorte.random() < 0.3:
            d8.concluir(sorte.choice(demandas))
        if sorte.random() < 0.8:
            d8.despachar()
        d8.avancar(sorte.choice([0.5, 1, 8, 40]))
        if sorte.random() < 0.8:
            d8.varrer(lote=sorte.choice([1, 3, 50]))
        ciclos = d8.ciclos()
        for ciclo in sorte.sample(ciclos, min(len(ciclos), 1 + projetos // 8)):
            d8.executar(
                ciclo["demanda_manutencao_id"],
                ciclo["projeto_id"],
                status_execucao=sorte.choice(["concluida", "parcial", "nao_executada", None]),
                observacoes=sorte.choice(
                    [None, "Tudo certo", f"Falar com (11) 98765-4321, CPF {CPF}", "a@b.c\x01 ponto d"]
                ),
                plano_manutencao=sorte.choice([None, {"intervalo_dias": 13, "tipo": CPF}, {"intervalo_dias": -1}]),
            )
        if sorte.random() < 0.2 and (ativos := d8.projetos()):
            d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, 'projeto_removido')", [sorte.choice(ativos)["id"]])
        if sorte.random() < 0.1:
            d8.bd.execute("SELECT core.reposicionar('D-8', 'demanda.recebida', 0)")
    d8.despachar()


@given(semente=st.integers(0, 2**32 - 1))
@settings(HISTORIAS, max_examples=15)
def test_historia_qualquer_se_reconstroi_igual(d8: Manutencao, semente: int) -> None:
    d8.esvaziar()
    viver(d8, Random(semente), projetos=12, passos=8)
    conferir(d8)


@given(semente=st.integers(0, 2**32 - 1))
@settings(HISTORIAS, max_examples=8)
def test_historia_redigida_se_reconstroi_igual(d8: Manutencao, semente: int) -> None:
    d8.esvaziar()
    viver(d8, Random(semente), projetos=12, passos=8)
    # Fora do contrato, mas aceita: um plano numa 1.0.0, cujo resumo o Registro diz pessoal e a D-8 guarda.
    d8.concluir(versao="1.0.0", total_atualizacoes=1, dias_ate_conclusao=1, timestamp=d8.agora.isoformat())
    d8.despachar()
    antes = estado(d8)
    d8.relogio(d8.agora + timedelta(seconds=1))
    d8.bd.execute("CALL core.redigir(core.agora())")
    d8.despachar()
    assert d8.um("SELECT count(*) FROM core.event_log AS e JOIN core.redacoes AS r USING (sequence_number)") > 0
    assert d8.um("SELECT count(*) FROM core.event_log WHERE tipo = 'demanda.recebida' AND payload ? 'texto_bruto'") == 0
    assert d8.um(f"SELECT count(*) FROM core.event_log WHERE payload::text ~ '{CPF}'") == 0
    conferir(d8)
    assert estado(d8) == antes


@pytest.mark.longo
@pytest.mark.timeout(1800)
@given(semente=st.integers(0, 2**32 - 1))
@settings(HISTORIAS, max_examples=3)
def test_historia_de_500_projetos_se_reconstroi_igual(d8: Manutencao, semente: int) -> None:
    d8.esvaziar()
    viver(d8, Random(semente), projetos=500, passos=25)
    assert len(d8.projetos()) > 300
    conferir(d8)


def test_parametro_que_muda_depois_nao_altera_o_passado(d8: Manutencao) -> None:
    projeto = d8.monitorar(plano={"profundidade": 2})
    d8.relogio(d8.projeto(projeto)["proximo_ciclo"])
    d8.avancar(50)
    d8.varrer()
    d8.bd.execute("UPDATE core.parametros SET valor = '0' WHERE nome ~ 'profundidade_maxima|peso_atraso'")
    conferir(d8)


def test_evento_reprocessado_entra_na_ordem_em_que_foi_aplicado(d8: Manutencao) -> None:
    d8.bd.execute("UPDATE core.parametros SET valor = '0' WHERE nome = 'profundidade_maxima'")
    evento = uuid4()
    d8.concluir(event_id=evento, plano_manutencao=PLANO | {"profundidade": 1})
    d8.despachar()
    d8.bd.execute("UPDATE core.parametros SET valor = '2' WHERE nome = 'profundidade_maxima'")
    d8.bd.execute("SELECT core.reprocessar(%s, 'D-8')", [evento])
    d8.gerar(d8.projetos()[0]["id"])
    d8.despachar()
    conferir(d8)


def test_demanda_recebida_de_outra_colonia_nao_confunde_a_reconstrucao(d8: Manutencao) -> None:
    """A D-1a também publica o tipo, e a correlação é de quem publica."""
    demanda = d8.gerar(d8.monitorar())["demanda_manutencao_id"]
    (gerada,) = d8.eventos("demanda.recebida")
    d8.bd.execute(
        "SELECT core.publicar('demanda.recebida', %s, 'D-1a', '2.0.0', gen_random_uuid(), %s)",
        [Jsonb({"demanda_id": str(demanda)}), gerada["correlacao_id"]],
    )
    d8.despachar()
    conferir(d8)


def test_um_lote_chamado_a_mao_se_reconstroi_igual(d8: Manutencao) -> None:
    """Um lote serve ao DBA sem a varredura; a hora do banco tem microssegundos, e a dos eventos não."""
    projeto = d8.monitorar()
    d8.relogio(d8.projeto(projeto)["proximo_ciclo"] + timedelta(microseconds=123_456))
    d8.bd.execute(
        "SELECT d8.varrer_lote(core.agora(), '-infinity', '00000000-0000-0000-0000-000000000000', core.agora(),"
        " 'ffffffff-ffff-ffff-ffff-ffffffffffff', 1)"
    )
    assert d8.ciclo(projeto)["data_geracao"].microsecond == 123_000
    conferir(d8)


def test_o_que_se_estragou_a_mao_volta(d8: Manutencao) -> None:
    projeto = d8.monitorar()
    d8.gerar(projeto)
    antes = estado(d8)
    d8.bd.execute("UPDATE d8.projetos_monitorados SET categoria = 'x', proximo_ciclo = '-infinity'")
    d8.bd.execute("DELETE FROM d8.historico_manutencoes")
    d8.bd.execute("SELECT d8.reconstruir()")
    assert estado(d8) == antes


def test_reconstroi_com_o_sistema_no_ar(dsn: str, d8: Manutencao) -> None:
    """A varredura e o despacho esperam; quem publica, não."""
    for _ in range(30):
        d8.concluir(plano_manutencao=PLANO | {"intervalo_dias": 1})
    d8.despachar()
    d8.avancar(2)
    with psycopg.connect(dsn) as reconstrutora:
        reconstrutora.execute("SELECT d8.reconstruir()")
        d8.bd.execute("SET lock_timeout = '5s'")
        nova = d8.concluir()  # não espera: a reconstrução ainda não confirmou
        assert len(d8.projetos()) == 30

        def na_fila(comando: str) -> None:
            with psycopg.connect(dsn, autocommit=True) as sessao:
                sessao.execute(comando)

        with ThreadPoolExecutor(2) as sessoes:
            filas = [
                sessoes.submit(na_fila, f"CALL {rotina}()") for rotina in ("d8.executar_varredura", "core.despachar")
            ]
            ate(lambda: d8.um(NA_FILA) == 2)
            assert not any(fila.done() for fila in filas)
            reconstrutora.commit()
            for fila in filas:
                fila.result()
    assert len(d8.ciclos()) == 30
    assert d8.projeto_da(nova)["status"] == "ativo"
    d8.despachar()
    conferir(d8)


def test_reconstruir_exige_read_committed(dsn: str, d8: Manutencao) -> None:
    with psycopg.connect(dsn) as sessao:
        sessao.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with pytest.raises(psycopg.Error) as recusa:
            sessao.execute("SELECT d8.reconstruir()")
    assert recusa.value.sqlstate == "FM422"
