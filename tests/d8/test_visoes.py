"""As visões para pessoas: atraso, vencida derivada, desfecho e contadores (D-8 2.8 e 8.1; E26)."""

from datetime import timedelta
from decimal import Decimal

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
