"""Os doze cenários da especificação (D-8 7.2)."""

from datetime import timedelta
from uuid import uuid4

import pytest

from tests.d8.apoio import PLANO, Manutencao, conclusao


def test_cenario_01_projeto_concluido_sem_plano_e_ignorado(d8: Manutencao) -> None:
    sem = uuid4()
    d8.concluir(event_id=sem, versao="1.0.0", plano_manutencao=None, dias_ate_conclusao=3, total_atualizacoes=1,
                timestamp=d8.agora.isoformat())  # fmt: skip
    nulo = uuid4()
    d8.publicar("demanda.concluída", conclusao(uuid4(), d8.agora) | {"plano_manutencao": None}, "1.1.0", event_id=nulo)
    d8.despachar()
    assert d8.projetos() == []
    assert d8.ocorrencias() == []
    assert d8.resultado(sem) == d8.resultado(nulo) == "ignorado"


def test_cenario_02_projeto_concluido_com_plano_e_registrado(d8: Manutencao) -> None:
    evento = uuid4()
    demanda = d8.concluir(event_id=evento)
    d8.despachar()
    projeto = d8.projeto_da(demanda)
    assert projeto["status"] == "ativo"
    assert projeto["proximo_ciclo"] == d8.agora + timedelta(days=180)
    assert projeto["ciclo_atual"] == 0
    assert projeto["plano_manutencao"] == PLANO
    assert projeto["event_id_origem"] == projeto["event_id_ultima_alteracao"] == evento
    assert d8.resultado(evento) == "processado"


def test_cenario_03_profundidade_maxima_bloqueia_aninhamento_excessivo(d8: Manutencao) -> None:
    evento = uuid4()
    d8.concluir(event_id=evento, plano_manutencao=PLANO | {"profundidade": 3})
    d8.despachar()
    assert d8.projetos() == []
    (aviso,) = d8.ocorrencias()
    assert aviso["nivel"] == "aviso"
    assert "profundidade excede máximo" in aviso["mensagem"]
    assert aviso["contexto"]["profundidade"] == 3
    assert d8.resultado(evento) == "descartado"


def test_cenario_04_a_mesma_conclusao_duas_vezes(d8: Manutencao) -> None:
    evento = uuid4()
    demanda = d8.concluir(event_id=evento)
    d8.concluir(demanda, event_id=evento)
    d8.despachar()
    d8.bd.execute("SELECT core.reposicionar('D-8', 'demanda.concluída', 0)")
    d8.despachar()
    assert len(d8.projetos()) == 1


def test_cenario_05_varredura_gera_demanda_no_proximo_ciclo(d8: Manutencao) -> None:
    projeto = d8.monitorar(data_conclusao=(d8.agora - timedelta(days=180, hours=1)).isoformat())
    d8.varrer()

    (recebida,) = d8.eventos("demanda.recebida")
    assert recebida["versao_schema"] == "2.0.0"
    assert recebida["payload"]["origem"] == "manutenção_programada"
    assert recebida["payload"]["canal"] == "sistema"
    (ciclo,) = d8.ciclos(projeto)
    assert ciclo["status"] == "gerada"
    assert ciclo["ciclo_numero"] == 1
    assert ciclo["event_id_geracao"] == recebida["event_id"]
    assert ciclo["data_tolerancia"] == ciclo["data_prevista"] + timedelta(days=30)
    depois = d8.projeto(projeto)
    assert depois["proximo_ciclo"] == d8.agora + timedelta(days=180)
    assert depois["ciclo_atual"] == 1


def test_cenario_06_varredura_nao_gera_demanda_para_ciclo_futuro(d8: Manutencao) -> None:
    d8.monitorar(data_conclusao=(d8.agora - timedelta(days=173)).isoformat())
    d8.varrer()
    assert d8.eventos() == []


def test_cenario_07_execucao_atualiza_o_historico_e_recalcula_o_ciclo(d8: Manutencao) -> None:
    projeto = d8.monitorar()
    ciclo = d8.gerar(projeto)
    quando = d8.avancar(12)
    evento = d8.executar(ciclo["demanda_manutencao_id"], projeto)
    d8.despachar()
    depois = d8.ciclo(projeto)
    assert depois["status"] == "concluida"
    assert depois["data_conclusao"] == quando
    assert depois["event_id_ultima_alteracao"] == evento
    assert d8.projeto(projeto)["proximo_ciclo"] == quando + timedelta(days=180)
    assert d8.projeto(projeto)["ciclo_atual"] == 1  # E20: a execução não conta o ciclo outra vez


def test_cenario_08_vida_util_esgotada_encerra_o_monitoramento(d8: Manutencao) -> None:
    projeto = d8.monitorar(plano={"intervalo_dias": 20, "vida_util_dias": 30})
    ciclo = d8.gerar(projeto)
    d8.relogio(d8.INICIO + timedelta(days=35))
    execucao = d8.executar(ciclo["demanda_manutencao_id"], projeto)
    d8.despachar()

    depois = d8.projeto(projeto)
    assert (depois["status"], depois["motivo_encerramento"]) == ("encerrado", "vida_util_esgotada")
    assert depois["data_encerramento"] == d8.agora
    (encerrado,) = d8.eventos("manutenção.ciclo_encerrado")
    assert encerrado["correlacao_id"] == execucao
    assert encerrado["payload"] == {
        "projeto_id": str(projeto),
        "demanda_original_id": str(depois["demanda_original_id"]),
        "categoria": "3.9_pracas_parques",
        "uc_id": str(depois["uc_id"]),
        "motivo": "vida_util_esgotada",
        "total_ciclos": 1,
        "data_inicio_monitoramento": "2026-01-10T12:00:00.000Z",
        "data_encerramento": "2026-02-14T12:00:00.000Z",
    }


@pytest.mark.parametrize(("tolerancia", "dentro"), [(30, True), (15, True), (14, False)])
def test_cenario_09_atraso_gera_peso_adicional_no_dossie(d8: Manutencao, tolerancia: int, dentro: bool) -> None:
    projeto = d8.monitorar(plano={"prazo_tolerancia_dias": tolerancia},
                           data_conclusao=(d8.agora - timedelta(days=195)).isoformat())  # fmt: skip
    d8.varrer()
    esperado = {"dias_atraso": 15, "peso_adicional_sugerido": 0.075, "dentro_tolerancia": dentro}
    assert d8.ciclo(projeto)["dossie_montado"]["metricas_atraso"] == esperado
    assert float(d8.ciclo(projeto)["peso_atraso"]) == 0.075
    assert [evento["payload"]["dossie"]["metricas_atraso"] for evento in d8.eventos()] == [esperado, esperado]


def test_cenario_10_replay_apos_reinicializacao_processa_eventos_perdidos(d8: Manutencao) -> None:
    for _ in range(5):
        d8.concluir()
    d8.despachar()
    perdidos = [d8.concluir() for _ in range(3)]
    # A queda veio antes de o cursor andar: ele está onde estava, e os cinco já foram processados.
    d8.bd.execute("SELECT core.reposicionar('D-8', 'demanda.concluída', 0)")

    relato = d8.um("SELECT d8.iniciar()")
    assert relato["eventos_tratados"] == 8
    assert relato["projetos_ativos"] == 8
    assert relato["offsets_restaurados"]["demanda.concluída"] == 0
    assert {projeto["demanda_original_id"] for projeto in d8.projetos()} >= set(perdidos)
    assert d8.um("SELECT last_sequence FROM d8.consumer_offset WHERE tipo_evento = 'demanda.concluída'") == 8
    assert d8.ocorrencias("info")[-1]["mensagem"] == "D-8 inicializada."


def test_cenario_11_varredura_nao_gera_demanda_para_projeto_encerrado(d8: Manutencao) -> None:
    projeto = d8.monitorar(data_conclusao=(d8.agora - timedelta(days=180, hours=1)).isoformat())
    d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, 'encerramento_manual')", [projeto])
    antes = d8.eventos()
    d8.varrer()
    assert d8.eventos() == antes
    assert d8.ciclos() == []


def test_cenario_12_demanda_recebida_atualiza_o_status_do_historico(d8: Manutencao) -> None:
    projeto = d8.monitorar()
    assert d8.gerar(projeto)["status"] == "gerada"
    d8.despachar()
    ciclo = d8.ciclo(projeto)
    assert ciclo["status"] == "em_andamento"
    assert ciclo["event_id_ultima_alteracao"] == d8.eventos("demanda.recebida")[0]["event_id"]
