"""A execução e o fim: desfechos, próximo ciclo, vida útil, encerramento manual (D-8 3.9, 4.6 a 4.8; E20 a E26)."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import psycopg
import pytest

from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao, vencer_tentativas
from tests.d8.apoio import CONSELHEIRO, UC, Manutencao
from tests.d8.test_reconstruir import conferir


@pytest.fixture
def projeto(d8: Manutencao) -> UUID:
    """Um projeto com o primeiro ciclo gerado, quatro dias depois de vencido."""
    projeto = d8.monitorar()
    d8.relogio(d8.projeto(projeto)["proximo_ciclo"] + timedelta(days=4))
    d8.varrer()
    d8.despachar()
    return projeto


def test_parcial_fecha_o_ciclo_e_marca_o_seguinte(d8: Manutencao, projeto: UUID) -> None:
    quando = d8.avancar(10)
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto, status_execucao="parcial",
                observacoes="Faltou tinta. Zelador: (11) 98765-4321",
                data_conclusao="2026-07-20T08:00:00-03:00")  # fmt: skip
    d8.despachar()
    ciclo = d8.ciclo(projeto)
    assert (ciclo["status"], ciclo["status_execucao"]) == ("concluida", "parcial")
    assert ciclo["observacoes"] == "Faltou tinta. Zelador: [telefone removido]"
    assert ciclo["conselheiro_id"] == CONSELHEIRO
    assert d8.projeto(projeto)["proximo_ciclo"] == quando + timedelta(days=180)

    (anterior,) = d8.gerar(projeto)["dossie_montado"]["historico_manutencoes"]
    assert anterior == {
        "ciclo": 1,
        "data_prevista": "2026-07-09T12:00:00.000Z",
        "data_real": "2026-07-20T11:00:00.000Z",
        "status": "concluida",
        "status_execucao": "parcial",
        "conselheiro": str(CONSELHEIRO),
        "observacoes": "Faltou tinta. Zelador: [telefone removido]",
    }


def test_as_observacoes_se_guardam_ate_dez_mil_caracteres(d8: Manutencao, projeto: UUID) -> None:
    """E12."""
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto, observacoes="ç" * 200_000)
    d8.despachar()
    assert d8.ciclo(projeto)["observacoes"] == "ç" * 10_000


def test_nao_executada_cancela_o_ciclo_e_deixa_o_proximo_onde_esta(d8: Manutencao, projeto: UUID) -> None:
    antes = d8.projeto(projeto)
    d8.avancar(10)
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto, status_execucao="nao_executada")
    d8.despachar()
    ciclo = d8.ciclo(projeto)
    assert (ciclo["status"], ciclo["status_execucao"]) == ("cancelada", "nao_executada")
    assert ciclo["data_conclusao"] is None
    assert d8.projeto(projeto) == antes


@pytest.mark.parametrize("status", ["não executada", "NAO_EXECUTADA", "Não-Executada", "  na\u0303o  executada "])
def test_o_desfecho_de_outro_produtor_se_entende_como_for_escrito(d8: Manutencao, projeto: UUID, status: str) -> None:
    antes = d8.projeto(projeto)
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto, status_execucao=status)
    d8.despachar()
    assert (d8.ciclo(projeto)["status"], d8.ciclo(projeto)["status_execucao"]) == ("cancelada", "nao_executada")
    assert d8.projeto(projeto) == antes
    relato = d8.ocorrencias("info")[-1]
    assert relato["mensagem"] == "Manutenção registrada como não executada."
    assert relato["contexto"]["status_execucao"] == "nao_executada"
    conferir(d8)


@pytest.mark.parametrize("status", ["cancelada", "executada", "", "não", "concluida não"])
def test_um_desfecho_que_nao_se_entende_nao_e_execucao_e_a_certa_ainda_serve(
    d8: Manutencao, projeto: UUID, status: str
) -> None:
    demanda, antes = d8.ciclo(projeto)["demanda_manutencao_id"], d8.projeto(projeto)
    ruim = d8.executar(demanda, projeto, status_execucao=status)
    d8.despachar()
    assert (d8.resultado(ruim), d8.ciclo(projeto)["status"], d8.projeto(projeto)) == (
        "descartado",
        "em_andamento",
        antes,
    )
    (erro,) = d8.ocorrencias("erro")
    assert erro["mensagem"] == "manutenção.executada com status_execucao desconhecido."
    assert erro["contexto"]["status_execucao"] == status
    d8.executar(demanda, projeto, status_execucao="Concluída")
    d8.despachar()
    assert d8.ciclo(projeto)["status_execucao"] == "concluida"


@pytest.mark.parametrize("status", ["concluida", "parcial", "nao_executada"])
def test_o_fim_da_vida_util_se_julga_em_qualquer_desfecho(d8: Manutencao, projeto: UUID, status: str) -> None:
    d8.relogio(d8.INICIO + timedelta(days=1825, milliseconds=1))
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto, status_execucao=status)
    d8.despachar()
    assert d8.projeto(projeto)["motivo_encerramento"] == "vida_util_esgotada"


def test_no_ultimo_instante_da_vida_util_o_projeto_segue(d8: Manutencao, projeto: UUID) -> None:
    d8.relogio(d8.INICIO + timedelta(days=1825))
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto)
    d8.despachar()
    assert d8.projeto(projeto)["status"] == "ativo"


def test_a_vida_util_conta_pela_hora_do_evento_e_nao_pela_do_tratamento(d8: Manutencao, projeto: UUID) -> None:
    d8.relogio(d8.INICIO + timedelta(days=1825))
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto)
    d8.avancar(30)
    d8.despachar()
    assert d8.projeto(projeto)["status"] == "ativo"
    assert d8.projeto(projeto)["proximo_ciclo"] == d8.INICIO + timedelta(days=1825 + 180)


def test_a_mesma_execucao_duas_vezes_muda_uma(d8: Manutencao, projeto: UUID) -> None:
    evento = d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto)
    d8.despachar()
    antes = (d8.projeto(projeto), d8.ciclos())
    d8.avancar(3)
    d8.bd.execute("SELECT core.reposicionar('D-8', 'manutenção.executada', 0)")
    d8.despachar()
    assert (d8.projeto(projeto), d8.ciclos()) == antes
    assert d8.resultado(evento) == "processado"
    assert d8.ocorrencias() == []


def test_outra_execucao_do_mesmo_ciclo_fica_registrada_e_nada_muda(d8: Manutencao, projeto: UUID) -> None:
    demanda = d8.ciclo(projeto)["demanda_manutencao_id"]
    d8.executar(demanda, projeto)
    d8.despachar()
    antes = (d8.projeto(projeto), d8.ciclos())
    d8.avancar(3)
    outra = d8.executar(demanda, projeto, status_execucao="nao_executada")
    d8.despachar()
    assert (d8.projeto(projeto), d8.ciclos()) == antes
    assert d8.resultado(outra) == "descartado"
    (aviso,) = d8.ocorrencias("aviso")
    assert aviso["mensagem"] == "manutenção.executada recebido para ciclo já encerrado."
    assert aviso["contexto"]["projeto_id"] == str(projeto)
    assert aviso["contexto"]["demanda_original_id"] == str(d8.projeto(projeto)["demanda_original_id"])


def test_execucao_de_projeto_encerrado_so_fecha_o_ciclo(d8: Manutencao, projeto: UUID) -> None:
    d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, 'encerramento_manual')", [projeto])
    antes = d8.projeto(projeto)
    d8.avancar(5)
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto)
    d8.despachar()
    assert d8.ciclo(projeto)["status"] == "concluida"
    assert d8.projeto(projeto) == antes
    assert len(d8.eventos("manutenção.ciclo_encerrado")) == 1


def test_execucao_tratada_com_atraso_nao_traz_de_volta_o_proximo_ciclo(d8: Manutencao) -> None:
    """Publicada no dia seguinte ao ciclo 1 e tratada semanas depois, com o 3 já gerado, só fecha o seu."""
    semanal = d8.monitorar(plano={"intervalo_dias": 7})
    primeiro = d8.gerar(semanal)
    d8.despachar()
    d8.avancar(1)
    d8.executar(primeiro["demanda_manutencao_id"], semanal)
    d8.gerar(semanal)
    d8.gerar(semanal)
    d8.avancar(1)
    marcado = d8.projeto(semanal)
    d8.despachar()
    assert [ciclo["status"] for ciclo in d8.ciclos(semanal)] == ["concluida", "em_andamento", "em_andamento"]
    assert d8.projeto(semanal) == marcado
    d8.varrer()
    assert len(d8.ciclos(semanal)) == 3


@pytest.mark.parametrize("volta", ["dlq", "reprocessar", "republicada"])
def test_execucao_mais_velha_que_a_ultima_so_fecha_o_seu_ciclo(d8: Manutencao, projeto: UUID, volta: str) -> None:
    """A do ciclo 1 falha; a do 2, publicada depois, marca o próximo; a do 1 volta, e não o traz para trás."""
    segue = d8.monitorar(plano={"intervalo_dias": 10})
    primeiro = d8.gerar(segue)["demanda_manutencao_id"]
    segundo = d8.gerar(segue)["demanda_manutencao_id"]
    d8.despachar()
    d8.avancar(2)
    if volta == "reprocessar":
        velha = d8.executar(primeiro, segue, status_execucao="quem sabe")
    else:
        d8.bd.execute(
            f"""
            CREATE FUNCTION d8.veneno() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'veneno'; END $$;
            CREATE TRIGGER veneno BEFORE UPDATE ON d8.historico_manutencoes FOR EACH ROW
                WHEN (NEW.demanda_manutencao_id = '{primeiro}') EXECUTE FUNCTION d8.veneno()
            """
        )
        velha = d8.executar(primeiro, segue)
    d8.despachar()
    d8.avancar(7)
    d8.executar(segundo, segue)
    d8.despachar()
    marcado = d8.projeto(segue)
    assert marcado["proximo_ciclo"] == d8.agora + timedelta(days=10)

    if volta == "reprocessar":
        # O núcleo de outra versão entendia menos: o evento descartado passa de novo.
        compreende = d8.um("SELECT pg_get_functiondef('core.status_execucao'::regproc)")
        d8.bd.execute(compreende.replace("THEN 'concluida'", "OR p_valor = '\"quem sabe\"' THEN 'concluida'"))
        assert d8.um("SELECT core.reprocessar(%s, 'D-8')", velha) == "processado"
    else:
        d8.bd.execute("DROP TRIGGER veneno ON d8.historico_manutencoes")
        if volta == "republicada":
            d8.bd.execute("SELECT core.dlq_descartar(id, 'republicado') FROM core.dlq WHERE estado = 'pendente'")
            velha = uuid4()
            hoje = d8.agora
            d8.relogio(hoje - timedelta(days=7))
            d8.executar(primeiro, segue, event_id=velha)
            d8.relogio(hoje)
        vencer_tentativas(d8.bd)
        d8.despachar()
    assert d8.resultado(velha) == "processado"
    assert [ciclo["status"] for ciclo in d8.ciclos(segue)] == ["concluida", "concluida"]
    assert d8.projeto(segue) == marcado
    conferir(d8)


def test_com_o_relogio_atrasado_nada_anda_para_tras(d8: Manutencao) -> None:
    """Nem o próximo ciclo, que venceria com um atraso que não houve, nem o encerramento, anterior ao começo."""
    novo = d8.monitorar()
    segue = d8.monitorar(plano={"intervalo_dias": 10})
    demanda = d8.gerar(segue)["demanda_manutencao_id"]
    d8.despachar()
    antes, hora = d8.projeto(segue), d8.agora
    d8.relogio(d8.INICIO - timedelta(days=3))
    d8.executar(demanda, segue)
    d8.despachar()
    assert d8.ciclo(segue)["status"] == "concluida"
    assert d8.ciclo(segue)["atualizado_em"] == hora
    assert d8.projeto(segue) == antes

    d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, 'encerramento_manual')", [novo])
    depois = d8.projeto(novo)
    assert depois["criado_em"] <= depois["data_encerramento"] == depois["atualizado_em"]
    (evento,) = d8.eventos("manutenção.ciclo_encerrado")
    assert datetime.fromisoformat(evento["payload"]["data_encerramento"]) == depois["data_encerramento"]

    d8.relogio(antes["proximo_ciclo"])
    d8.varrer()
    assert d8.ciclo(segue)["dossie_montado"]["metricas_atraso"] is None
    conferir(d8)


def test_fim_de_vida_por_execucao_com_o_relogio_atrasado_nao_antecede_o_ultimo_ciclo(d8: Manutencao) -> None:
    breve = d8.monitorar(plano={"intervalo_dias": 10, "vida_util_dias": 5})
    demanda = d8.gerar(breve)["demanda_manutencao_id"]
    d8.despachar()
    hora = d8.agora
    d8.relogio(d8.INICIO + timedelta(days=6))
    d8.executar(demanda, breve)
    d8.despachar()
    assert (d8.projeto(breve)["status"], d8.projeto(breve)["data_encerramento"]) == ("encerrado", hora)
    conferir(d8)


def test_um_intervalo_mais_curto_na_ultima_execucao_ainda_antecipa_o_proximo(d8: Manutencao, projeto: UUID) -> None:
    """E25: quem vem por último pode marcar mais cedo; só o que é mais velho não pode."""
    marcado = d8.projeto(projeto)["proximo_ciclo"]
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto, plano_manutencao={"intervalo_dias": 2})
    d8.despachar()
    assert d8.projeto(projeto)["proximo_ciclo"] == d8.agora + timedelta(days=2) < marcado


def test_ciclo_velho_executado_agora_adia_o_proximo(d8: Manutencao) -> None:
    semanal = d8.monitorar(plano={"intervalo_dias": 7})
    primeiro = d8.gerar(semanal)
    d8.gerar(semanal)
    d8.avancar(1)
    d8.executar(primeiro["demanda_manutencao_id"], semanal)
    d8.despachar()
    assert d8.projeto(semanal)["proximo_ciclo"] == d8.agora + timedelta(days=7)


def test_a_execucao_aceita_a_demanda_original_no_lugar_do_projeto(d8: Manutencao, projeto: UUID) -> None:
    original = d8.projeto(projeto)["demanda_original_id"]
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], original)
    d8.despachar()
    assert d8.ciclo(projeto)["status"] == "concluida"


def test_execucao_que_nao_acha_seu_ciclo_e_descartada(d8: Manutencao, projeto: UUID) -> None:
    outro = d8.monitorar()
    demanda = d8.ciclo(projeto)["demanda_manutencao_id"]
    casos = {
        d8.executar(demanda, uuid4()): "manutenção.executada recebido para projeto não monitorado.",
        d8.executar(uuid4(), projeto): "manutenção.executada recebido para demanda sem registro no histórico.",
        d8.executar(demanda, outro): "manutenção.executada recebido para demanda sem registro no histórico.",
        d8.executar(demanda, projeto, status_execucao="ok"): "manutenção.executada com status_execucao desconhecido.",
    }
    d8.despachar()
    assert {cada["event_id"]: cada["mensagem"] for cada in d8.ocorrencias()} == casos
    sem_ciclo = [cada for cada in d8.ocorrencias() if "sem registro no histórico" in cada["mensagem"]]
    assert [UUID(cada["contexto"]["demanda_original_id"]) for cada in sem_ciclo] == [
        d8.projeto(cada)["demanda_original_id"] for cada in (projeto, outro)
    ]
    assert d8.ciclo(projeto)["status"] == "em_andamento"
    assert d8.pendencias() == 0


def test_execucao_sem_os_campos_opcionais_vale_concluida_na_hora_do_evento(d8: Manutencao, projeto: UUID) -> None:
    quando = d8.avancar(1)
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto, status_execucao=None, data_conclusao=None,
                conselheiro_id=None)  # fmt: skip
    d8.despachar()
    ciclo = d8.ciclo(projeto)
    assert (ciclo["status"], ciclo["data_conclusao"], ciclo["conselheiro_id"]) == ("concluida", quando, None)


def test_o_plano_que_vem_na_execucao_da_so_o_proximo_intervalo(d8: Manutencao, projeto: UUID) -> None:
    plano = d8.projeto(projeto)["plano_manutencao"]
    quando = d8.avancar(1)
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto, plano_manutencao={"intervalo_dias": 45})
    d8.despachar()
    assert d8.projeto(projeto)["proximo_ciclo"] == quando + timedelta(days=45)
    assert d8.projeto(projeto)["plano_manutencao"] == plano
    d8.gerar(projeto)
    assert d8.projeto(projeto)["proximo_ciclo"] == quando + timedelta(days=45 + 180)


def test_o_que_a_execucao_traz_e_nao_vale_fica_registrado(d8: Manutencao, projeto: UUID) -> None:
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto, observacoes="x" * 1001,
                plano_manutencao={"intervalo_dias": 45, "tipo": "pintura", "vida_util_dias": 1825})  # fmt: skip
    d8.despachar()
    (aviso,) = d8.ocorrencias()
    assert (aviso["nivel"], aviso["mensagem"]) == ("aviso", "Campos da execução que a D-8 corta ou deixa de fora.")
    assert [perda["campo"] for perda in aviso["contexto"]["erros"]] == ["observacoes", "plano_manutencao.tipo"]
    assert aviso["contexto"]["demanda_original_id"] == str(d8.projeto(projeto)["demanda_original_id"])


@pytest.mark.parametrize("plano", [{"intervalo_dias": 0}, {"intervalo_dias": "45"}, {"tipo": "pintura"}], ids=str)
def test_plano_ruim_na_execucao_nao_a_impede(d8: Manutencao, projeto: UUID, plano: dict[str, object]) -> None:
    quando = d8.avancar(1)
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto, plano_manutencao=plano)
    d8.despachar()
    assert d8.projeto(projeto)["proximo_ciclo"] == quando + timedelta(days=180)
    (erro,) = d8.ocorrencias("erro")
    assert erro["mensagem"] == "Plano do próximo ciclo recusado; vale o do projeto."
    assert [cada["campo"] for cada in erro["contexto"]["erros"]] == ["plano_manutencao.intervalo_dias"]
    assert erro["contexto"]["demanda_original_id"] == str(d8.projeto(projeto)["demanda_original_id"])


def test_o_acompanhamento_nunca_volta_de_um_estado_final(d8: Manutencao) -> None:
    projeto = d8.monitorar()
    demanda = d8.gerar(projeto)["demanda_manutencao_id"]
    d8.executar(demanda, projeto)
    # A recebida só chega depois: o cursor, adiantado à força, a pula, e depois se recua.
    d8.bd.execute("UPDATE d8.consumer_offset SET last_sequence = 1000 WHERE tipo_evento = 'demanda.recebida'")
    d8.despachar()
    assert d8.ciclo(projeto)["status"] == "concluida"
    d8.bd.execute("SELECT core.reposicionar('D-8', 'demanda.recebida', 0)")
    d8.despachar()
    assert d8.ciclo(projeto)["status"] == "concluida"
    assert d8.resultado(d8.eventos("demanda.recebida")[0]["event_id"]) == "ignorado"


def test_demanda_recebida_que_nao_e_da_colonia_e_ignorada(d8: Manutencao) -> None:
    cidada = d8.publicar("demanda.recebida", {"demanda_id": str(uuid4())}, "1.1.0", "D-1a")
    alheia = d8.publicar(
        "demanda.recebida",
        {"demanda_id": str(uuid4()), "origem": "manutenção_programada", "projeto_original_id": str(uuid4())},
        "2.0.0",
        "D-8",
    )
    d8.despachar()
    assert d8.resultado(cidada) == d8.resultado(alheia) == "ignorado"
    assert d8.ocorrencias() == []


def test_encerramento_que_nao_se_publica_nao_desfaz_o_estado(d8: Manutencao, projeto: UUID) -> None:
    """Regra 5: a saída espera na DLQ, inteira, e sai depois."""
    recusar_publicacao(d8.bd, "manutenção.ciclo_encerrado")
    d8.relogio(d8.INICIO + timedelta(days=2000))
    d8.executar(d8.ciclo(projeto)["demanda_manutencao_id"], projeto)
    d8.despachar()
    assert d8.projeto(projeto)["status"] == "encerrado"
    assert d8.eventos("manutenção.ciclo_encerrado") == []
    assert d8.pendencias() == 1

    aceitar_publicacao(d8.bd)
    vencer_tentativas(d8.bd)
    d8.despachar()
    (evento,) = d8.eventos("manutenção.ciclo_encerrado")
    assert evento["payload"]["data_encerramento"] == "2031-07-03T12:00:00.000Z"
    assert d8.resultado(evento["event_id"]) == "processado"


@pytest.mark.parametrize("motivo", ["encerramento_manual", "projeto_removido"])
def test_encerramento_manual_publica_uma_vez(d8: Manutencao, projeto: UUID, motivo: str) -> None:
    quando = d8.avancar(2)
    for _ in range(2):
        d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, %s)", [projeto, motivo])
        d8.avancar(1)
    depois = d8.projeto(projeto)
    assert (depois["status"], depois["motivo_encerramento"], depois["data_encerramento"]) == (
        "encerrado", motivo, quando,
    )  # fmt: skip
    (evento,) = d8.eventos("manutenção.ciclo_encerrado")
    assert evento["payload"]["motivo"] == motivo
    assert evento["payload"]["total_ciclos"] == 1
    assert evento["payload"]["uc_id"] == str(UC)
    assert depois["event_id_ultima_alteracao"] == evento["event_id"]


@pytest.mark.parametrize(
    ("motivo", "codigo"),
    [("cansei", "FM422"), (None, "FM422"), ("vida_util_esgotada", "FM422"), ("projeto_removido", "FM404")],
)
def test_encerramento_manual_recusa_motivo_e_projeto_desconhecidos(
    d8: Manutencao, motivo: str | None, codigo: str
) -> None:
    with pytest.raises(psycopg.Error) as recusa:
        d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, %s)", [uuid4(), motivo])
    assert recusa.value.sqlstate == codigo


def test_vida_toda_aninhada_duas_vezes_por_eventos(d8: Manutencao) -> None:
    """A manutenção concluída com plano próprio vira projeto de profundidade 1, e a dela, 2; a seguinte é recusada."""
    demanda = uuid4()
    for profundidade, intervalo in enumerate((300, 100, 30)):
        projeto = d8.monitorar(demanda, plano={"intervalo_dias": intervalo, "profundidade": profundidade})
        demanda = d8.gerar(projeto)["demanda_manutencao_id"]
        recebida = d8.eventos("demanda.recebida")[-1]["payload"]
        assert recebida["metadata"] == {"profundidade": profundidade, "intervalo_dias": intervalo, "ciclo_numero": 1}
        d8.executar(demanda, projeto)
    d8.concluir(demanda, plano_manutencao={**d8.projetos()[0]["plano_manutencao"], "profundidade": 3})
    d8.despachar()
    assert sorted(cada["profundidade"] for cada in d8.projetos()) == [0, 1, 2]
    assert [cada["status"] for cada in d8.ciclos()] == ["concluida"] * 3


def test_o_que_ja_foi_aplicado_nao_se_apaga(d8: Manutencao, projeto: UUID) -> None:
    """d8.reconstruir conta com processed_events inteiro (E23)."""
    for comando in ("DELETE FROM d8.processed_events", "UPDATE d8.processed_events SET id = id + 100"):
        with pytest.raises(psycopg.Error, match="já foi aplicado") as recusa:
            d8.bd.execute(comando)
        assert recusa.value.sqlstate == "FM409"


def test_evento_descartado_e_reprocessado_depois_de_consertada_a_causa(d8: Manutencao, projeto: UUID) -> None:
    outra = d8.gerar(d8.monitorar())["demanda_manutencao_id"]
    d8.bd.execute("UPDATE core.parametros SET valor = '0' WHERE nome = 'profundidade_maxima'")
    evento = uuid4()
    d8.concluir(outra, event_id=evento, plano_manutencao={**d8.projeto(projeto)["plano_manutencao"], "profundidade": 1})
    d8.despachar()
    assert d8.resultado(evento) == "descartado"
    d8.bd.execute("UPDATE core.parametros SET valor = '2' WHERE nome = 'profundidade_maxima'")
    assert d8.um("SELECT core.reprocessar(%s, 'D-8')", evento) == "processado"
    assert d8.projeto_da(outra)["profundidade"] == 1
