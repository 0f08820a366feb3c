"""As visões para pessoas: atraso, próximo ciclo, vencida derivada, desfecho e contadores (D-8 2.8 e 8.1; E21, E26)."""

from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

import psycopg
from psycopg.conninfo import make_conninfo

from tests.d8.apoio import Manutencao


def test_painel_de_projetos(d8: Manutencao) -> None:
    projeto = d8.monitorar(titulo="Praça da Sé")
    d8.relogio(d8.projeto(projeto)["proximo_ciclo"] + timedelta(days=3, hours=2))
    (linha,) = d8.linhas("SELECT * FROM d8.painel_projetos")
    assert (linha["titulo"], linha["dias_de_atraso"], linha["ciclo_em_aberto"], linha["vencida"]) == (
        "Praça da Sé", 3, None, False,
    )  # fmt: skip

    d8.varrer()
    ciclo = d8.ciclo(projeto)
    (linha,) = d8.linhas("SELECT * FROM d8.painel_projetos")
    assert (linha["dias_de_atraso"], linha["ciclo_em_aberto"], linha["vencida"]) == (0, 1, False)
    assert linha["demanda_em_aberto"] == ciclo["demanda_manutencao_id"]
    assert linha["fim_da_vida_util"] == d8.INICIO + timedelta(days=1825)

    d8.relogio(ciclo["data_tolerancia"] + timedelta(seconds=1))
    (linha,) = d8.linhas("SELECT * FROM d8.painel_projetos")
    assert linha["vencida"] is True


def test_vencida_e_derivada_de_qualquer_ciclo_sem_desfecho(d8: Manutencao) -> None:
    projeto = d8.monitorar(plano={"intervalo_dias": 10, "prazo_tolerancia_dias": 2})
    for _ in range(3):
        d8.gerar(projeto)
    gerada, em_andamento, executada = d8.ciclos(projeto)
    d8.executar(executada["demanda_manutencao_id"], projeto, status_execucao="parcial", observacoes="Faltou tinta")
    d8.despachar()
    d8.bd.execute("UPDATE d8.historico_manutencoes SET status = 'gerada' WHERE id = %s", [gerada["id"]])
    d8.avancar(5)
    painel = d8.linhas("SELECT * FROM d8.painel_ciclos ORDER BY ciclo_numero")
    assert [linha["situacao"] for linha in painel] == ["vencida", "vencida", "concluida"]
    assert painel[2]["status_execucao"] == "parcial"
    assert painel[2]["observacoes"] == "Faltou tinta"
    assert {ciclo["status"] for ciclo in d8.ciclos(projeto)} == {"gerada", "em_andamento", "concluida"}
    assert em_andamento["ciclo_numero"] == 2


def prometidos(d8: Manutencao, projeto: UUID) -> list[object]:
    """O próximo ciclo do projeto, segundo cada um que o diz."""
    valores = [
        d8.um("SELECT proximo_ciclo FROM d8.painel_projetos WHERE projeto_id = %s", projeto),
        d8.um("SELECT proximo_ciclo FROM d8.projetos_publicos WHERE projeto_id = %s", projeto),
        d8.um("SELECT min(data_prevista) FROM d8.previsao('infinity') WHERE projeto_id = %s", projeto),
    ]
    demanda = d8.projeto(projeto)["demanda_original_id"]
    historia = d8.um(
        "SELECT detalhe ->> 'proximo_ciclo' FROM core.linha_do_tempo(%s) WHERE o_que = 'projeto monitorado'", demanda
    )
    return [*valores, historia and datetime.fromisoformat(historia)]


def test_ninguem_promete_o_ciclo_que_nao_vira(d8: Manutencao) -> None:
    """Plano de 365 dias, vida de 400: depois do ciclo 1, o seguinte cairia além da vida útil."""
    projeto = d8.monitorar(plano={"intervalo_dias": 365, "vida_util_dias": 400})
    assert prometidos(d8, projeto) == [d8.projeto(projeto)["proximo_ciclo"]] * 4
    demanda = d8.gerar(projeto)["demanda_manutencao_id"]
    assert prometidos(d8, projeto) == [None] * 4
    d8.avancar(1)
    d8.executar(demanda, projeto)
    d8.despachar()
    assert d8.projeto(projeto)["status"] == "ativo"
    assert prometidos(d8, projeto) == [None] * 4
    (linha,) = d8.linhas("SELECT * FROM d8.painel_projetos")
    assert linha["dias_de_atraso"] is None
    relato = d8.ocorrencias("info")[-1]
    assert (relato["mensagem"], relato["contexto"]["proximo_ciclo"]) == ("Manutenção registrada como executada.", None)

    d8.relogio(d8.projeto(projeto)["proximo_ciclo"])
    d8.varrer()
    assert d8.projeto(projeto)["status"] == "encerrado"
    assert len(d8.ciclos(projeto)) == 1


def test_o_primeiro_ciclo_se_promete_ainda_que_caia_depois_da_vida_util(d8: Manutencao) -> None:
    projeto = d8.monitorar(plano={"intervalo_dias": 90, "vida_util_dias": 30})
    assert prometidos(d8, projeto) == [d8.projeto(projeto)["proximo_ciclo"]] * 4


def test_o_ultimo_ciclo_que_cabe_na_vida_util_se_promete(dsn: str, d8: Manutencao) -> None:
    projeto = d8.monitorar(plano={"intervalo_dias": 10, "vida_util_dias": 20})
    d8.gerar(projeto)
    assert prometidos(d8, projeto) == [d8.projeto(projeto)["proximo_ciclo"]] * 4
    d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, 'projeto_removido')", [projeto])
    assert prometidos(d8, projeto) == [None] * 4
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_leitura")) as leitora:
        assert leitora.execute("SELECT proximo_ciclo FROM d8.projetos_publicos").fetchall() == [(None,)]


def test_contadores(d8: Manutencao) -> None:
    zerados = d8.linhas("SELECT * FROM d8.contadores")
    assert zerados[0]["projetos_ativos"] == 0
    assert zerados[0]["atraso_medio_dias"] is None
    no_prazo, atrasado = d8.monitorar(), d8.monitorar(data_conclusao=(d8.agora - timedelta(days=31)).isoformat())
    d8.relogio(d8.projeto(no_prazo)["proximo_ciclo"])
    d8.varrer()
    d8.executar(d8.ciclo(atrasado)["demanda_manutencao_id"], atrasado)
    d8.despachar()
    d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, 'projeto_removido')", [no_prazo])
    assert d8.linhas("SELECT * FROM d8.contadores") == [
        {
            "projetos_ativos": 1,
            "ciclos_encerrados": 1,
            "demandas_geradas": 2,
            "manutencoes_concluidas": 1,
            "atraso_medio_dias": Decimal("15.50"),
            "peso_atraso_medio": Decimal("0.0877"),
        }
    ]
