"""A saída que não pode ser publicada não desfaz o estado, não se perde e sai depois, em ordem (3.10, regra 5, E04)."""

from uuid import UUID

import pytest

from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao, vencer_tentativas
from tests.apoio.rede import Rede

DEMANDA, OUTRA, ANA, BIA = UUID(int=1), UUID(int=2), UUID(int=11), UUID(int=12)
REGISTRADA = "conselheiro.atualização_registrada"
ORDEM = ["conselheiro.demanda_iniciada", "demanda.concluída", "conselheiro.ciclo_concluído"]


@pytest.mark.parametrize("falha", ORDEM)
def test_t20_t36_saida_que_falha_fica_na_dlq_e_o_cursor_nao_passa(rede: Rede, falha: str) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    recusar_publicacao(rede.bd, falha)
    evento = rede.concluir(DEMANDA, ANA)
    rede.despachar()

    acompanhamento = rede.acompanhamento(DEMANDA)
    assert acompanhamento["status"] == "concluido"
    assert acompanhamento["saidas_conclusao_pendentes"]
    assert rede.tipos(DEMANDA) == ORDEM[: ORDEM.index(falha)]
    dlq = rede.linhas("SELECT * FROM core.dlq ORDER BY id")
    assert [(e["especie"], e["saida"]["tipo"]) for e in dlq] == [("saida", t) for t in ORDEM[ORDEM.index(falha) :]]
    assert [e["estado"] for e in dlq] == ["pendente"] + ["em_espera"] * (len(dlq) - 1)
    assert dlq[0]["sqlstate"] == "53100"
    sequencia = rede.um("SELECT sequence_number FROM core.event_log WHERE event_id = %s", evento)
    assert rede.cursor(REGISTRADA) == sequencia - 1
    assert rede.ocorrencias(evento)[0]["nivel"] == "erro"

    aceitar_publicacao(rede.bd)
    vencer_tentativas(rede.bd)
    rede.despachar()
    assert rede.tipos(DEMANDA) == ORDEM
    assert rede.um("SELECT count(*) FROM core.dlq WHERE estado <> 'resolvida'") == 0
    assert rede.cursor(REGISTRADA) >= sequencia
    snapshot = [(s["tipo"], UUID(s["event_id"])) for s in acompanhamento["saidas_conclusao"]]
    assert [(e["tipo"], e["event_id"]) for e in rede.eventos(demanda=DEMANDA) if e["tipo"] in ORDEM[1:]] == snapshot


def test_t37_varredura_republica_o_snapshot_com_os_mesmos_ids_e_desliga_a_marca(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    recusar_publicacao(rede.bd, "demanda.concluída")
    rede.concluir(DEMANDA, ANA)
    rede.despachar()
    ids = [saida["event_id"] for saida in rede.acompanhamento(DEMANDA)["saidas_conclusao"]]
    assert rede.um("SELECT d6b.republicar_saidas_conclusao_pendentes()") == 0

    aceitar_publicacao(rede.bd)
    assert rede.um("SELECT d6b.iniciar() ->> 'conclusoes_republicadas'") == "1"
    assert not rede.acompanhamento(DEMANDA)["saidas_conclusao_pendentes"]
    assert [str(e["event_id"]) for e in rede.eventos(demanda=DEMANDA) if e["tipo"] in ORDEM[1:]] == ids
    vencer_tentativas(rede.bd)
    rede.despachar()
    assert rede.um("SELECT count(*) FROM core.dlq WHERE estado <> 'resolvida'") == 0
    assert rede.tipos(DEMANDA) == ORDEM


def test_varredura_nao_passa_a_frente_do_inicio_que_espera_na_dlq(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    recusar_publicacao(rede.bd, "conselheiro.demanda_iniciada")
    rede.concluir(DEMANDA, ANA)
    rede.despachar()
    assert rede.um("SELECT d6b.republicar_saidas_conclusao_pendentes()") == 0
    assert rede.tipos(DEMANDA) == []


def test_uma_conclusao_que_nao_sai_nao_detem_as_outras_na_varredura(rede: Rede) -> None:
    for demanda, conselheiro in ((DEMANDA, ANA), (OUTRA, BIA)):
        rede.sortear(demanda, conselheiro)
        rede.atualizar(demanda, conselheiro)
    rede.despachar()
    recusar_publicacao(rede.bd, "demanda.concluída")
    rede.concluir(DEMANDA, ANA)
    rede.concluir(OUTRA, BIA)
    rede.despachar()
    aceitar_publicacao(rede.bd)
    # Um snapshot que o Registro recusa, como o deixaria uma versão antiga.
    rede.bd.execute(
        "UPDATE d6b.acompanhamentos SET saidas_conclusao ="
        " jsonb_set(saidas_conclusao, '{0,payload}', '{}') WHERE demanda_id = %s",
        [DEMANDA],
    )
    assert rede.um("SELECT d6b.republicar_saidas_conclusao_pendentes()") == 1
    assert rede.acompanhamento(DEMANDA)["saidas_conclusao_pendentes"]
    assert rede.tipos(OUTRA) == ORDEM


def test_varredura_respeita_o_limite(rede: Rede) -> None:
    for n in range(3):
        rede.sortear(UUID(int=100 + n), UUID(int=200 + n))
        rede.atualizar(UUID(int=100 + n), UUID(int=200 + n))
    rede.despachar()
    recusar_publicacao(rede.bd, "conselheiro.ciclo_concluído")
    for n in range(3):
        rede.concluir(UUID(int=100 + n), UUID(int=200 + n))
    rede.despachar()
    aceitar_publicacao(rede.bd)
    assert rede.um("SELECT d6b.republicar_saidas_conclusao_pendentes(2)") == 2
    assert rede.um("SELECT d6b.republicar_saidas_conclusao_pendentes()") == 1


def test_atualizacao_da_chave_detida_espera_e_segue_depois(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    recusar_publicacao(rede.bd, "conselheiro.demanda_iniciada")
    rede.atualizar(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA, "protocolo_aberto")
    rede.sortear(OUTRA, BIA)
    rede.despachar()
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 1
    assert rede.acompanhamento(OUTRA)["status"] == "aguardando_inicio"
    aceitar_publicacao(rede.bd)
    vencer_tentativas(rede.bd)
    rede.despachar()
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 2
    assert rede.tipos(DEMANDA) == ["conselheiro.demanda_iniciada"]
