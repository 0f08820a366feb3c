"""A previsão diz o que a varredura fará, se cada ciclo se executar no dia (E20, E21)."""

from datetime import datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID, uuid4

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.d8.apoio import PLANO, Manutencao

Ciclo = tuple[UUID, int, datetime]


def prever(d8: Manutencao, ate: datetime, uc: UUID | None = None) -> list[dict[str, Any]]:
    return d8.linhas("SELECT * FROM d8.previsao(%s, %s)", ate, uc)


def simular(d8: Manutencao) -> list[Ciclo]:
    """Varre no instante em que cada ciclo vence, e executa ali mesmo o que gerou, até não haver projeto ativo."""
    proximo = "SELECT min(proximo_ciclo) FROM d8.projetos_monitorados WHERE status = 'ativo'"
    gerados = "SELECT * FROM d8.historico_manutencoes WHERE status = 'gerada' AND data_geracao = %s"
    vividos: list[Ciclo] = []
    while (vencimento := d8.um(proximo)) is not None:
        d8.relogio(max(d8.agora, vencimento))
        d8.varrer()
        for ciclo in d8.linhas(gerados, d8.agora):
            vividos.append((ciclo["projeto_id"], ciclo["ciclo_numero"], ciclo["data_prevista"]))
            d8.executar(ciclo["demanda_manutencao_id"], ciclo["projeto_id"])
        d8.despachar()
    return vividos


@given(semente=st.integers(0, 2**32 - 1))
@settings(max_examples=12, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate],
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
def test_previsao_e_igual_a_simulacao(d8: Manutencao, semente: int) -> None:
    sorte = Random(semente)
    d8.esvaziar()
    for _ in range(6):
        prazos = {"intervalo_dias": sorte.choice([1, 3, 10, 45]), "vida_util_dias": sorte.choice([1, 12, 30])}
        conclusao = d8.agora - timedelta(days=sorte.choice([0, 0.25, 1, 20, 60]))
        d8.concluir(plano_manutencao=PLANO | prazos, data_conclusao=conclusao.isoformat())
    d8.despachar()
    # Parte de um estado qualquer: alguns ciclos já gerados, alguns executados, e um atraso.
    for _ in range(sorte.choice([0, 1, 2])):
        d8.avancar(sorte.choice([0.1, 2, 11]))
        d8.varrer()
        for ciclo in d8.ciclos()[::2]:
            if ciclo["status"] != "concluida":
                d8.executar(ciclo["demanda_manutencao_id"], ciclo["projeto_id"])
        d8.despachar()
    d8.avancar(sorte.choice([0, 0.3, 5]))

    longe = d8.agora + timedelta(days=40_000)
    perto = d8.agora + timedelta(days=sorte.choice([0, 1, 7.5, 40]))
    toda, curta = prever(d8, longe), prever(d8, perto)
    vividos = simular(d8)

    assert sorted((c["projeto_id"], c["ciclo_numero"], c["data_prevista"]) for c in toda) == sorted(vividos)
    assert curta == [ciclo for ciclo in toda if ciclo["data_prevista"] <= perto]
    ultimos = {projeto: max(numero for outro, numero, _ in vividos if outro == projeto) for projeto, _, _ in vividos}
    assert {(c["projeto_id"], c["ciclo_numero"]) for c in toda if c["ultimo"]} == set(ultimos.items())


def test_previsao_de_um_projeto(d8: Manutencao) -> None:
    demanda = uuid4()
    projeto = d8.monitorar(demanda, plano={"intervalo_dias": 100, "vida_util_dias": 350})
    previstos = prever(d8, d8.agora + timedelta(days=365))
    assert previstos == [
        {
            "projeto_id": projeto,
            "demanda_original_id": demanda,
            "ciclo_numero": n,
            "data_prevista": d8.agora + timedelta(days=100 * n),
            "ultimo": n == 3,
        }
        for n in (1, 2, 3)
    ]
    assert prever(d8, d8.agora + timedelta(days=99)) == []
    assert len(d8.linhas("SELECT * FROM d8.previsao('infinity')")) == 3


def test_previsao_de_uma_unidade_civica(d8: Manutencao) -> None:
    outra = uuid4()
    d8.monitorar()
    de_la = d8.monitorar(unidade_civica_id=str(outra))
    longe = d8.agora + timedelta(days=200)
    assert [ciclo["projeto_id"] for ciclo in prever(d8, longe, outra)] == [de_la]
    assert len(prever(d8, longe)) == 2


def test_projeto_encerrado_nao_tem_previsao(d8: Manutencao) -> None:
    projeto = d8.monitorar()
    d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, 'projeto_removido')", [projeto])
    assert prever(d8, d8.agora + timedelta(days=5000)) == []
