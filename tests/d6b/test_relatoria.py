"""Sorteio, atualizações e conclusão: a linha principal da D-6b (7.2 da especificação)."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from tests.apoio.rede import CONTEUDOS, Rede

DEMANDA, ANA, BIA = UUID(int=1), UUID(int=11), UUID(int=12)
MEIO_DIA = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def sorteada(rede: Rede) -> Rede:
    """A demanda sorteada para Ana."""
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    return rede


def test_t01_sorteio_cria_o_acompanhamento(rede: Rede) -> None:
    evento = rede.sortear(DEMANDA, ANA, "2026-11-30T11:59:59.987Z")
    rede.despachar()
    acompanhamento = rede.acompanhamento(DEMANDA)
    assert acompanhamento["status"] == "aguardando_inicio"
    assert acompanhamento["conselheiro_id"] == ANA
    assert acompanhamento["data_sorteio"] == datetime(2026, 11, 30, 11, 59, 59, 980000, tzinfo=UTC)
    assert acompanhamento["event_id_sorteio"] == evento
    assert rede.processado(evento)


@pytest.mark.parametrize("tipo", CONTEUDOS)
def test_t02_primeira_atualizacao_inicia_a_demanda(sorteada: Rede, tipo: str) -> None:
    sorteada.relogio("2026-11-30 12:34:56.789+00")
    evento = sorteada.atualizar(DEMANDA, ANA, tipo)
    sorteada.despachar()
    acompanhamento = sorteada.acompanhamento(DEMANDA)
    inicio = datetime(2026, 11, 30, 12, 34, 56, 780000, tzinfo=UTC)
    assert (acompanhamento["status"], acompanhamento["data_inicio"]) == ("em_andamento", inicio)
    assert acompanhamento["total_atualizacoes"] == 1
    (iniciada,) = sorteada.eventos("conselheiro.demanda_iniciada")
    assert iniciada["payload"]["tipo_primeira_acao"] == tipo
    assert iniciada["payload"]["timestamp_inicio"] == "2026-11-30T12:34:56.780Z"
    (linha,) = sorteada.linhas("SELECT * FROM d6b.atualizacoes")
    assert (linha["sequencia"], linha["event_id_publicacao"], linha["tipo"]) == (1, evento, tipo)
    assert linha["texto_bruto"] == "Liguei para o órgão e a vistoria ficou marcada."
    assert sorteada.um("SELECT count(*) FROM d6b.publicacoes_pendentes") == 1


def test_t03_segunda_atualizacao_nao_inicia_de_novo(sorteada: Rede) -> None:
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.atualizar(DEMANDA, ANA, "protocolo_aberto")
    sorteada.despachar()
    assert sorteada.tipos(DEMANDA) == ["conselheiro.demanda_iniciada"]
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 2
    assert [linha["sequencia"] for linha in sorteada.linhas("SELECT * FROM d6b.atualizacoes ORDER BY sequencia")] == [
        1,
        2,
    ]


def test_t04_t08_conclusao_publica_demanda_concluida_antes_do_ciclo(sorteada: Rede) -> None:
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    sorteada.relogio("2026-12-02 15:00:00+00")
    evento = sorteada.concluir(DEMANDA, ANA, "A tampa foi trocada.", categoria_id="3.1")
    sorteada.despachar()
    assert sorteada.tipos(DEMANDA) == [
        "conselheiro.demanda_iniciada",
        "demanda.concluída",
        "conselheiro.ciclo_concluído",
    ]
    concluida, ciclo = sorteada.eventos("demanda.concluída")[0], sorteada.eventos("conselheiro.ciclo_concluído")[0]
    assert concluida["versao_schema"] == "1.0.0"
    assert concluida["payload"] == {
        "demanda_id": str(DEMANDA),
        "unidade_civica_id": str(UUID(int=7)),
        "conselheiro_id": str(ANA),
        "categoria_id": "3.1",
        "data_conclusao": "2026-12-02T15:00:00.000Z",
        "dias_ate_conclusao": 3,
        "total_atualizacoes": 2,
        "resumo_final": "A tampa foi trocada.",
        "timestamp": "2026-12-02T15:00:00.000Z",
    }
    assert ciclo["payload"]["motivo_encerramento"] == "demanda_concluida"
    assert ciclo["payload"]["data_inicio"] == "2026-11-30T12:00:00.000Z"
    assert ciclo["payload"]["dias_duracao"] == 3
    assert concluida["correlacao_id"] == ciclo["correlacao_id"] == evento
    acompanhamento = sorteada.acompanhamento(DEMANDA)
    assert (acompanhamento["status"], acompanhamento["motivo_encerramento"]) == ("concluido", "demanda_concluida")
    assert not acompanhamento["saidas_conclusao_pendentes"]
    assert [saida["tipo"] for saida in acompanhamento["saidas_conclusao"]] == [concluida["tipo"], ciclo["tipo"]]
    assert all(saida["publicada"] for saida in acompanhamento["saidas_conclusao"])


def test_duracao_nunca_e_negativa_com_o_relogio_de_quem_sorteou_adiantado(rede: Rede) -> None:
    rede.relogio("2026-11-30 12:00:00+00")
    rede.sortear(DEMANDA, ANA, "2026-12-09T12:00:00Z")
    rede.concluir(DEMANDA, ANA)
    rede.despachar()
    assert rede.eventos("demanda.concluída")[0]["payload"]["dias_ate_conclusao"] == 0


def test_conclusao_como_primeira_atualizacao_inicia_e_conclui_em_ordem(sorteada: Rede) -> None:
    sorteada.concluir(DEMANDA, ANA)
    sorteada.despachar()
    assert sorteada.tipos(DEMANDA) == [
        "conselheiro.demanda_iniciada",
        "demanda.concluída",
        "conselheiro.ciclo_concluído",
    ]
    assert sorteada.acompanhamento(DEMANDA)["data_inicio"] == MEIO_DIA


def test_t05_novo_prazo_substitui_o_vigente(sorteada: Rede) -> None:
    for data in ("2026-12-20", "2027-01-15"):
        sorteada.atualizar(DEMANDA, ANA, "prazo_registrado", {"data_estimada": data, "descricao_prazo": "obra"})
    sorteada.despachar()
    prazos = sorteada.linhas("SELECT data_estimada::text, status, descricao FROM d6b.prazos ORDER BY data_estimada")
    assert [(p["data_estimada"], p["status"]) for p in prazos] == [
        ("2026-12-20", "substituido"),
        ("2027-01-15", "vigente"),
    ]


def test_t09_novo_sorteio_encerra_o_anterior(sorteada: Rede) -> None:
    sorteada.atualizar(DEMANDA, ANA, "prazo_registrado")
    sorteada.sortear(DEMANDA, BIA)
    sorteada.despachar()
    anterior, novo = sorted(sorteada.acompanhamentos(DEMANDA), key=lambda a: str(a["conselheiro_id"]))
    assert (anterior["status"], anterior["motivo_encerramento"]) == ("reatribuido", "reatribuido")
    assert anterior["data_conclusao"] == MEIO_DIA
    assert (novo["status"], novo["conselheiro_id"]) == ("aguardando_inicio", BIA)
    assert sorteada.um("SELECT status FROM d6b.prazos") == "substituido"


def test_t10_sorteio_reentregue_nao_repete(sorteada: Rede) -> None:
    sorteada.um("SELECT count(core.reposicionar('D-6b', 'conselheiro.sorteado', 0))")
    sorteada.despachar()
    assert len(sorteada.acompanhamentos(DEMANDA)) == 1
    assert sorteada.cursor("conselheiro.sorteado") == sorteada.um("SELECT core.obter_maior_sequence()")


def test_t11_atualizacao_reentregue_nao_repete(sorteada: Rede) -> None:
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    sorteada.um("SELECT count(core.reposicionar('D-6b', 'conselheiro.atualização_registrada', 0))")
    sorteada.despachar()
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 1
    assert sorteada.tipos(DEMANDA) == ["conselheiro.demanda_iniciada"]


def test_t12_atualizacao_sem_acompanhamento_ativo_e_registrada_e_descartada(rede: Rede) -> None:
    evento = rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    (ocorrencia,) = rede.ocorrencias(evento)
    assert (ocorrencia["nivel"], ocorrencia["demanda_id"], ocorrencia["colonia"]) == ("aviso", DEMANDA, "D-6b")
    assert rede.processado(evento)
    assert rede.cursor("conselheiro.atualização_registrada") == rede.um("SELECT core.obter_maior_sequence()")


@pytest.mark.parametrize("campo", ["demanda_id", "conselheiro_id", "unidade_civica_id"])
@pytest.mark.parametrize("tipo", ["conselheiro.sorteado", "conselheiro.atualização_registrada"])
def test_t13_payload_incompleto_e_descartado_com_erro(rede: Rede, tipo: str, campo: str) -> None:
    payload: dict[str, object] = {
        "demanda_id": str(DEMANDA),
        "conselheiro_id": str(ANA),
        "unidade_civica_id": str(uuid4()),
        "tipo": "contato_realizado",
        "texto_bruto": "x",
        "texto_estruturado": "x",
    }
    del payload[campo]
    handler = {
        "conselheiro.sorteado": "d6b.on_conselheiro_sorteado",
        "conselheiro.atualização_registrada": "d6b.on_conselheiro_atualizacao_registrada",
    }[tipo]
    assert rede.chamar(handler, tipo, payload) == "descartado: Payload incompleto"
    (ocorrencia,) = rede.ocorrencias()
    assert ocorrencia["nivel"] == "erro"
    assert ocorrencia["contexto"]["faltam"] == [campo]


@pytest.mark.parametrize(
    ("extra", "erro"),
    [
        pytest.param({"tipo": "vistoria"}, "Tipo de atualização inválido", id="t14_tipo_invalido"),
        pytest.param({"tipo": "prazo_registrado", "conteudo": {}}, "data_estimada", id="t15_prazo_sem_data"),
        pytest.param(
            {"tipo": "protocolo_aberto", "conteudo": {"orgao": "SP"}}, "protocolo_numero", id="t16_sem_protocolo"
        ),
        pytest.param({"origem_estruturacao": "ia_assistida"}, "sugestao_ia", id="t17_ia_sem_sugestao"),
        pytest.param({"origem_estruturacao": "robo"}, "origem_estruturacao", id="origem_desconhecida"),
        pytest.param(
            {"tipo": "prazo_registrado", "conteudo": {"data_estimada": "2026-11-29"}},
            "Data estimada no passado",
            id="prazo_passado",
        ),
        pytest.param({"conteudo": {"canal": "telefone", "x": "y" * 5200}}, "5120 bytes", id="conteudo_grande"),
        pytest.param(
            {"origem_estruturacao": "ia_assistida", "sugestao_ia": {"x": "y" * 10300}},
            "10240 bytes",
            id="sugestao_grande",
        ),
    ],
)
def test_t14_a_t17_atualizacao_invalida_e_descartada_com_erro(
    sorteada: Rede, extra: dict[str, object], erro: str
) -> None:
    evento = sorteada.atualizar(DEMANDA, ANA, **extra)  # type: ignore[arg-type]
    sorteada.despachar()
    (ocorrencia,) = sorteada.ocorrencias(evento)
    assert ocorrencia["nivel"] == "erro"
    assert erro in f"{ocorrencia['mensagem']} {ocorrencia['contexto']}"
    assert sorteada.processado(evento)
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 0
    assert sorteada.um("SELECT count(*) FROM core.dlq") == 0


def test_hoje_e_o_dia_civil_da_publicacao(sorteada: Rede) -> None:
    """Às 23h30 de São Paulo já é outro dia em UTC, mas o prazo para 'hoje' ainda vale (E10)."""
    sorteada.relogio("2026-12-01 02:30:00+00")
    sorteada.atualizar(DEMANDA, ANA, "prazo_registrado", {"data_estimada": "2026-11-30"})
    sorteada.despachar()
    assert sorteada.um("SELECT count(*) FROM d6b.prazos") == 1


def test_t29_ciclo_completo(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA, "protocolo_aberto")
    rede.concluir(DEMANDA, ANA)
    rede.despachar()
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 3
    assert rede.tipos(DEMANDA) == [
        "conselheiro.demanda_iniciada",
        "demanda.concluída",
        "conselheiro.ciclo_concluído",
    ]
    # As duas digitadas vão à fila do Python; a de conclusão só fecha o resumo.
    fila = rede.linhas("SELECT especie FROM d6b.publicacoes_pendentes ORDER BY sequencia")
    assert [linha["especie"] for linha in fila] == ["atualizacao", "atualizacao", "fecho"]


def test_t30_recusa_novo_sorteio_e_conclusao_pelo_segundo(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.sortear(DEMANDA, BIA)
    tardia = rede.atualizar(DEMANDA, ANA)
    rede.atualizar(DEMANDA, BIA)
    rede.concluir(DEMANDA, BIA)
    rede.despachar()
    situacoes = {a["conselheiro_id"]: a["status"] for a in rede.acompanhamentos(DEMANDA)}
    assert situacoes == {ANA: "reatribuido", BIA: "concluido"}
    assert rede.ocorrencias(tardia)[0]["nivel"] == "aviso"
    assert {linha["conselheiro_id"] for linha in rede.linhas("SELECT conselheiro_id FROM d6b.atualizacoes")} == {BIA}


def test_so_a_d8_gera_demanda_de_manutencao(rede: Rede) -> None:
    """A D-1a também produz demanda.recebida: a obra que ela inventa é uma demanda como as outras."""
    inventada: dict[str, object] = {
        "demanda_id": str(DEMANDA),
        "origem": "manutenção_programada",
        "projeto_original_id": str(uuid4()),
    }
    evento = rede.publicar("demanda.recebida", inventada, "D-1a", "1.1.0")
    rede.sortear(DEMANDA, ANA)
    rede.concluir(DEMANDA, ANA)
    rede.despachar()
    (ocorrencia,) = rede.ocorrencias(evento)
    assert (ocorrencia["nivel"], ocorrencia["mensagem"]) == ("erro", "Demanda de manutenção que não vem da D-8")
    assert (ocorrencia["demanda_id"], ocorrencia["contexto"]["origem"]) == (DEMANDA, "D-1a")
    assert rede.processado(evento)
    assert rede.um("SELECT count(*) FROM d6b.demandas_manutencao") == 0
    assert "demanda.concluída" in rede.tipos(DEMANDA)
    assert "manutenção.executada" not in rede.tipos(DEMANDA)
