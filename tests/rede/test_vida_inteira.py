"""As duas colônias juntas, só por eventos: da obra à manutenção da manutenção (D-8 5.2 e 5.7; E06, E07, E20 a E25)."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.apoio.rede import Rede

OBRA, ANA, BIA = UUID(int=1), UUID(int=11), UUID(int=12)
PLANO: dict[str, object] = {
    "intervalo_dias": 100,
    "tipo": "inspecao",
    "prazo_tolerancia_dias": 10,
    "vida_util_dias": 1000,
}
DADOS: dict[str, object] = {
    "categoria": "3.9_pracas_parques",
    "subcategoria": "playground",
    "localizacao": {"lat": -23.5, "lng": -46.6, "endereco": "Praça Rotary"},
    "titulo": "Reforma do parquinho",
    "responsavel_tecnico": "Secretaria do Verde",
    "materiais_utilizados": ["eucalipto"],
}


def varrer(rede: Rede, quando: str) -> dict[str, Any]:
    """Passa o tempo, varre, despacha e devolve o payload da última demanda gerada."""
    rede.relogio(quando)
    rede.bd.execute("CALL d8.executar_varredura()")
    rede.despachar()
    gerada = rede.eventos("demanda.manutenção_gerada")[-1]
    assert gerada["publicado_em"].astimezone(UTC).isoformat().startswith(quando[:10])
    return dict(gerada["payload"])


def acompanhar(rede: Rede, demanda: UUID, conselheiro: UUID, **conteudo: object) -> None:
    """Do sorteio à conclusão."""
    rede.sortear(demanda, conselheiro)
    rede.atualizar(demanda, conselheiro)
    rede.concluir(demanda, conselheiro, "Serviço feito.", **conteudo)
    rede.despachar()


def projetos(rede: Rede) -> list[dict[str, Any]]:
    return rede.linhas("SELECT * FROM d8.projetos_monitorados ORDER BY criado_em, profundidade")


def test_da_obra_ao_ciclo_cumprido_e_ao_seguinte(rede: Rede) -> None:
    acompanhar(rede, OBRA, ANA, plano_manutencao=PLANO, **DADOS)
    concluida = rede.eventos("demanda.concluída")[0]
    assert concluida["versao_schema"] == "1.1.0"
    assert concluida["payload"]["plano_manutencao"] == PLANO
    (projeto,) = projetos(rede)
    assert (projeto["demanda_original_id"], projeto["status"], projeto["profundidade"]) == (OBRA, "ativo", 0)

    gerada = varrer(rede, "2027-03-10 12:00:00+00")
    manutencao = UUID(gerada["demanda_id"])
    assert rede.um("SELECT status FROM d8.historico_manutencoes") == "em_andamento"
    guardada = rede.linhas("SELECT * FROM d6b.demandas_manutencao")[0]
    assert (guardada["demanda_id"], guardada["projeto_original_id"]) == (manutencao, projeto["id"])

    rede.relogio("2027-03-15 12:00:00+00")
    acompanhar(rede, manutencao, BIA, status_execucao="parcial", observacoes="Faltou a corrente.")
    assert rede.tipos(manutencao)[-3:] == ["demanda.concluída", "manutenção.executada", "conselheiro.ciclo_concluído"]
    executada = rede.eventos("manutenção.executada")[0]["payload"]
    assert (executada["projeto_original_id"], executada["status_execucao"]) == (str(projeto["id"]), "parcial")
    ciclo = rede.linhas("SELECT * FROM d8.historico_manutencoes")[0]
    assert (ciclo["status"], ciclo["status_execucao"], ciclo["conselheiro_id"]) == ("concluida", "parcial", BIA)
    assert projetos(rede)[0]["proximo_ciclo"] == datetime.fromisoformat("2027-06-23T12:00:00Z")

    seguinte = varrer(rede, "2027-06-23 12:00:00+00")
    assert seguinte["ciclo_numero"] == 2
    assert seguinte["dossie"]["historico_manutencoes"][0]["observacoes"] == "Faltou a corrente."


@pytest.mark.parametrize(
    ("status", "publicado"), [("não executada", "nao_executada"), ("NAO_EXECUTADA", "nao_executada"),
                              ("Não-Executada", "nao_executada"), ("Parcial", "parcial"), (None, "concluida")],
)  # fmt: skip
def test_o_desfecho_da_manutencao_se_entende_como_for_escrito(rede: Rede, status: str | None, publicado: str) -> None:
    acompanhar(rede, OBRA, ANA, plano_manutencao=PLANO, **DADOS)
    manutencao = UUID(varrer(rede, "2027-03-10 12:00:00+00")["demanda_id"])
    marcado = projetos(rede)[0]["proximo_ciclo"]
    rede.relogio("2027-03-15 12:00:00+00")
    acompanhar(rede, manutencao, BIA, status_execucao=status)
    assert rede.eventos("manutenção.executada")[0]["payload"]["status_execucao"] == publicado
    assert rede.um("SELECT status_execucao FROM d8.historico_manutencoes") == publicado
    assert (projetos(rede)[0]["proximo_ciclo"] == marcado) == (publicado == "nao_executada")
    assert [o for o in rede.ocorrencias() if o["nivel"] == "erro"] == []


@pytest.mark.parametrize("status", ["cancelada", "executada", "", 5, ["concluida"]])
def test_um_desfecho_que_nao_se_entende_conclui_e_libera_mas_nao_e_execucao(rede: Rede, status: object) -> None:
    """N54: o ciclo segue aberto, à espera de quem diga o que houve, e o próximo não se adia."""
    acompanhar(rede, OBRA, ANA, plano_manutencao=PLANO, **DADOS)
    manutencao = UUID(varrer(rede, "2027-03-10 12:00:00+00")["demanda_id"])
    antes = projetos(rede)
    rede.relogio("2027-03-15 12:00:00+00")
    acompanhar(rede, manutencao, BIA, status_execucao=status, plano_proximo_ciclo="mensal", observacoes=7)
    assert rede.tipos(manutencao)[-2:] == ["demanda.concluída", "conselheiro.ciclo_concluído"]
    assert rede.eventos("manutenção.executada") == []
    assert rede.acompanhamento(manutencao)["status"] == "concluido"
    assert rede.acompanhamento(manutencao)["saidas_conclusao_pendentes"] is False
    assert projetos(rede) == antes
    assert rede.um("SELECT status FROM d8.historico_manutencoes") == "em_andamento"
    aviso, erro = (o for o in rede.ocorrencias() if o["nivel"] != "info")
    assert [campo["campo"] for campo in aviso["contexto"]["erros"]] == ["observacoes", "plano_proximo_ciclo"]
    assert (erro["nivel"], erro["demanda_id"]) == ("erro", manutencao)
    assert erro["contexto"]["status_execucao"] == status

    # Quem apurou o que houve o publica, e o ciclo se fecha.
    rede.publicar(
        "manutenção.executada",
        {"demanda_id": str(manutencao), "projeto_original_id": str(antes[0]["id"]), "status_execucao": "nao_executada"},
        "D-6b",
    )
    rede.despachar()
    assert rede.um("SELECT status FROM d8.historico_manutencoes") == "cancelada"


def test_manutencao_da_manutencao_ate_a_profundidade_maxima(rede: Rede) -> None:
    acompanhar(rede, OBRA, ANA, plano_manutencao=PLANO, **DADOS)
    demanda, quando = OBRA, 3
    for profundidade in (1, 2):
        gerada = varrer(rede, f"2027-{quando:02}-20 12:00:00+00")
        demanda = UUID(gerada["demanda_id"])
        # O plano da manutenção herda categoria e lugar da própria demanda, e desce um nível.
        acompanhar(rede, demanda, BIA, plano_manutencao=PLANO)
        novo = rede.linhas("SELECT * FROM d8.projetos_monitorados WHERE demanda_original_id = %s", demanda)[0]
        assert (novo["profundidade"], novo["categoria"]) == (profundidade, "3.9_pracas_parques")
        assert novo["localizacao"] == DADOS["localizacao"]
        # Só o mais fundo há de vencer na próxima varredura.
        rede.bd.execute("SELECT d8.encerrar_monitoramento(id, 'encerramento_manual') FROM d8.projetos_monitorados"
                        " WHERE id <> %s AND status = 'ativo'", [novo["id"]])  # fmt: skip
        quando += 4

    gerada = varrer(rede, f"2027-{quando:02}-20 12:00:00+00")
    terceira = UUID(gerada["demanda_id"])
    acompanhar(rede, terceira, ANA, plano_manutencao=PLANO)
    assert rede.linhas("SELECT * FROM d8.projetos_monitorados WHERE demanda_original_id = %s", terceira) == []
    avisos = [o for o in rede.ocorrencias() if "profundidade excede máximo" in o["mensagem"]]
    assert [(a["nivel"], a["demanda_id"]) for a in avisos] == [("aviso", terceira)]
    assert rede.um("SELECT count(*) FROM core.dlq") == 0


def test_manutencao_concluida_pela_comunidade_tambem_e_executada(rede: Rede) -> None:
    acompanhar(rede, OBRA, ANA, plano_manutencao=PLANO, **DADOS)
    manutencao = UUID(varrer(rede, "2027-03-10 12:00:00+00")["demanda_id"])
    rede.sortear(manutencao, BIA)
    rede.publicar(
        "demanda.conclusao_confirmada",
        {
            "demanda_id": str(manutencao),
            "conclusao_id": str(uuid4()),
            "data_conclusao": rede.agora(),
            "total_conclusoes": 4,
            "ratificacao_necessaria": True,
        },
        "D-12",
    )
    rede.despachar()
    rede.bd.execute("SELECT d6b.ratificar_conclusao(%s, %s)", [manutencao, BIA])
    rede.despachar()
    assert rede.tipos(manutencao) == ["demanda.concluída", "manutenção.executada", "conselheiro.ciclo_concluído"]
    assert rede.um("SELECT status_execucao FROM d8.historico_manutencoes") == "concluida"
