"""Conclusão confirmada pela comunidade, ratificação e guarda de sorteio tardio (3.15 a 3.17)."""

import threading
from datetime import datetime
from uuid import UUID

import psycopg
import pytest

from tests.apoio.rede import Rede

DEMANDA, ANA, BIA = UUID(int=1), UUID(int=11), UUID(int=12)
CONFIRMADA = "demanda.conclusao_confirmada"


def confirmar(rede: Rede, demanda: UUID = DEMANDA, ratificacao: bool = True, correlacao: UUID | None = None) -> UUID:
    payload: dict[str, object] = {
        "demanda_id": str(demanda),
        "conclusao_id": str(UUID(int=77)),
        "data_conclusao": "2026-11-30T10:00:00.000Z",
        "total_conclusoes": 5,
        "ratificacao_necessaria": ratificacao,
    }
    return rede.publicar(CONFIRMADA, payload, "D-12", correlacao_id=correlacao)


def ratificar(rede: Rede, cidadao: UUID = ANA, demanda: UUID = DEMANDA) -> dict[str, str]:
    return dict(rede.um("SELECT d6b.ratificar_conclusao(%s, %s)", demanda, cidadao))


@pytest.fixture
def sorteada(rede: Rede) -> Rede:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    return rede


def test_t24_confirmada_sem_acompanhamento_ativo(rede: Rede) -> None:
    necessaria = confirmar(rede, UUID(int=2), ratificacao=True)
    desnecessaria = confirmar(rede, ratificacao=False)
    rede.despachar()
    (social,) = rede.linhas("SELECT * FROM d6b.conclusoes_sociais")
    assert (social["demanda_id"], social["evento_id"]) == (DEMANDA, desnecessaria)
    assert rede.processado(necessaria)
    assert rede.processado(desnecessaria)
    assert rede.acompanhamentos(DEMANDA) == []


def test_t25_confirmada_reentregue_nao_repete(sorteada: Rede) -> None:
    confirmar(sorteada)
    sorteada.despachar()
    sorteada.um("SELECT count(core.reposicionar('D-6b', %s, 0))", CONFIRMADA)
    sorteada.despachar()
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 1


@pytest.mark.parametrize("via", ["social", "conselheiro"])
def test_t26_sorteio_tardio_nao_abre_acompanhamento(sorteada: Rede, via: str) -> None:
    if via == "social":
        confirmar(sorteada, UUID(int=2), ratificacao=False)
        tardio = sorteada.sortear(UUID(int=2), BIA)
    else:
        sorteada.concluir(DEMANDA, ANA)
        tardio = sorteada.sortear(DEMANDA, BIA)
    sorteada.despachar()
    assert sorteada.um("SELECT count(*) FROM d6b.acompanhamentos") == 1
    assert sorteada.ocorrencias(tardio)[0]["nivel"] == "erro"
    assert sorteada.processado(tardio)


def test_t27_ratificar_sem_condicoes(sorteada: Rede) -> None:
    with pytest.raises(psycopg.Error, match="Demanda sem pendência de conclusão") as sem_pendencia:
        ratificar(sorteada)
    assert sem_pendencia.value.sqlstate == "FM409"
    with pytest.raises(psycopg.Error, match="Acompanhamento ativo não encontrado para a demanda") as sem_ativo:
        ratificar(sorteada, demanda=UUID(int=9))
    assert sem_ativo.value.sqlstate == "FM404"
    confirmar(sorteada)
    sorteada.despachar()
    with pytest.raises(psycopg.Error, match="Apenas o conselheiro do acompanhamento pode ratificar") as outro:
        ratificar(sorteada, BIA)
    assert outro.value.sqlstate == "FM403"
    assert sorteada.acompanhamento(DEMANDA)["status"] == "aguardando_inicio"


def test_t28_ratificar_com_pendencia_conclui(sorteada: Rede) -> None:
    sorteada.atualizar(DEMANDA, ANA)
    confirmar(sorteada, correlacao=UUID(int=55))
    sorteada.despachar()
    assert ratificar(sorteada) == {"demanda_id": str(DEMANDA), "status": "concluida"}
    acompanhamento = sorteada.acompanhamento(DEMANDA)
    assert (acompanhamento["status"], acompanhamento["pendencia_conclusao"]) == ("concluido", None)
    assert acompanhamento["total_atualizacoes"] == 3
    assert sorteada.tipos(DEMANDA) == [
        "conselheiro.demanda_iniciada",
        "demanda.concluída",
        "conselheiro.ciclo_concluído",
    ]
    concluida = sorteada.eventos("demanda.concluída")[0]
    assert concluida["correlacao_id"] == UUID(int=55)
    (social,) = sorteada.linhas("SELECT * FROM d6b.conclusoes_sociais")
    assert social["evento_id"] == concluida["event_id"]
    ultima = sorteada.linhas("SELECT * FROM d6b.atualizacoes ORDER BY sequencia DESC LIMIT 1")[0]
    assert (ultima["origem_estruturacao"], ultima["conteudo_estruturado"]) == ("sistema", {"novo_status": "concluido"})


def test_t34_confirmada_com_ativo_grava_pendencia_e_conta_a_atualizacao_de_sistema(sorteada: Rede) -> None:
    sorteada.atualizar(DEMANDA, ANA)
    evento = confirmar(sorteada)
    sorteada.despachar()
    acompanhamento = sorteada.acompanhamento(DEMANDA)
    assert acompanhamento["pendencia_conclusao"] == {
        "conclusao_id": str(UUID(int=77)),
        "total_conclusoes": 5,
        "data": "2026-11-30T10:00:00.000Z",
    }
    assert (acompanhamento["status"], acompanhamento["total_atualizacoes"]) == ("em_andamento", 2)
    sistema = sorteada.linhas("SELECT * FROM d6b.atualizacoes WHERE origem_estruturacao = 'sistema'")[0]
    assert (sistema["sequencia"], sistema["event_id_publicacao"]) == (2, evento)
    assert sistema["conteudo_estruturado"]["novo_status"] == "conclusao_confirmada"
    assert sorteada.um("SELECT count(*) FROM d6b.publicacoes_pendentes") == 1


def test_ratificacao_como_primeira_atualizacao_nao_publica_inicio(sorteada: Rede) -> None:
    """E16: em_andamento e data_inicio, mas sem conselheiro.demanda_iniciada."""
    confirmar(sorteada)
    sorteada.despachar()
    assert sorteada.acompanhamento(DEMANDA)["status"] == "aguardando_inicio"
    sorteada.relogio("2026-12-01 09:00+00")
    ratificar(sorteada)
    assert sorteada.tipos(DEMANDA) == ["demanda.concluída", "conselheiro.ciclo_concluído"]
    assert sorteada.acompanhamento(DEMANDA)["data_inicio"] == datetime.fromisoformat("2026-12-01T09:00:00Z")


def test_conclusao_pelo_conselheiro_limpa_a_pendencia(sorteada: Rede) -> None:
    confirmar(sorteada)
    sorteada.concluir(DEMANDA, ANA)
    sorteada.despachar()
    assert sorteada.acompanhamento(DEMANDA)["pendencia_conclusao"] is None


def test_novo_sorteio_leva_a_pendencia_ao_novo_conselheiro(sorteada: Rede) -> None:
    """E08."""
    confirmar(sorteada, correlacao=UUID(int=55))
    sorteada.sortear(DEMANDA, BIA)
    sorteada.despachar()
    anterior, novo = sorted(sorteada.acompanhamentos(DEMANDA), key=lambda a: str(a["conselheiro_id"]))
    assert anterior["pendencia_conclusao"] is None
    assert novo["pendencia_conclusao"]["total_conclusoes"] == 5
    ratificar(sorteada, BIA)
    assert sorteada.eventos("demanda.concluída")[0]["correlacao_id"] == UUID(int=55)


def test_ratificar_duas_vezes_ao_mesmo_tempo_da_um_sucesso_e_um_404(sorteada: Rede, dsn: str) -> None:
    confirmar(sorteada)
    sorteada.despachar()
    resultados: list[str] = []
    largada = threading.Barrier(2)

    def sessao() -> None:
        with psycopg.connect(dsn, autocommit=True) as conexao:
            largada.wait()
            try:
                conexao.execute("SELECT d6b.ratificar_conclusao(%s, %s)", [DEMANDA, ANA])
                resultados.append("201")
            except psycopg.Error as erro:
                resultados.append(str(erro.sqlstate))

    sessoes = [threading.Thread(target=sessao) for _ in range(2)]
    for uma in sessoes:
        uma.start()
    for uma in sessoes:
        uma.join()
    assert sorted(resultados) == ["201", "FM404"]
    assert len(sorteada.eventos("demanda.concluída")) == 1
