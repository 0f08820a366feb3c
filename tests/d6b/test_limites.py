"""Limites e validação (4.2, 6.2; E07, E10, E12)."""

from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.apoio.rede import CONTEUDOS, Rede

DEMANDA, OUTRA, ANA, BIA = UUID(int=1), UUID(int=2), UUID(int=11), UUID(int=12)


def validar(rede: Rede, tipo: str, conteudo: dict[str, object], hoje: str = "2026-11-30") -> dict[str, Any]:
    return dict(rede.um("SELECT d6b.validar_atualizacao(%s, %s, %s)", tipo, Jsonb(conteudo), hoje))


@pytest.mark.parametrize("tipo", CONTEUDOS)
def test_conteudo_completo_e_valido(rede: Rede, tipo: str) -> None:
    assert validar(rede, tipo, CONTEUDOS[tipo]) == {"valido": True, "erros": []}


@pytest.mark.parametrize(
    ("tipo", "obrigatorios"),
    [
        ("contato_realizado", ["canal"]),
        ("protocolo_aberto", ["protocolo_numero", "orgao"]),
        ("documento_anexado", ["tipo_documento", "descricao"]),
        ("entrave_registrado", ["orgao_envolvido", "descricao_entrave"]),
        ("status_atualizado", ["novo_status"]),
        ("prazo_registrado", ["data_estimada"]),
    ],
)
@pytest.mark.parametrize("ausencia", [{}, None, ""])
def test_cada_campo_obrigatorio_e_nomeado(rede: Rede, tipo: str, obrigatorios: list[str], ausencia: object) -> None:
    conteudo: dict[str, object] = {} if ausencia == {} else dict.fromkeys(obrigatorios, ausencia)
    esperado = [{"campo": campo, "mensagem": "Campo obrigatório."} for campo in obrigatorios]
    assert validar(rede, tipo, conteudo)["erros"] == esperado


@pytest.mark.parametrize(
    ("tipo", "conteudo", "campo", "mensagem"),
    [
        ("vistoria", {}, "tipo", "Tipo de atualização inválido."),
        (
            "contato_realizado",
            {"canal": "pombo"},
            "canal",
            "Valor inválido. Esperado um dos: telefone, email, presencial, oficio.",
        ),
        (
            "contato_realizado",
            {"canal": 3},
            "canal",
            "Valor inválido. Esperado um dos: telefone, email, presencial, oficio.",
        ),
        (
            "entrave_registrado",
            {"orgao_envolvido": "x", "descricao_entrave": "y", "gravidade": "enorme"},
            "gravidade",
            "Valor inválido. Esperado um dos: baixa, media, alta.",
        ),
        (
            "status_atualizado",
            {"novo_status": "feito"},
            "novo_status",
            "Valor inválido. Esperado um dos: pendente, em_andamento, aguardando, concluido, bloqueado.",
        ),
        (
            "protocolo_aberto",
            {"protocolo_numero": "123", "orgao": "x"},
            "protocolo_numero",
            "Formato de protocolo inválido.",
        ),
        (
            "protocolo_aberto",
            {"protocolo_numero": "12_34", "orgao": "x"},
            "protocolo_numero",
            "Formato de protocolo inválido.",
        ),
        (
            "protocolo_aberto",
            {"protocolo_numero": 12345, "orgao": "x"},
            "protocolo_numero",
            "Formato de protocolo inválido.",
        ),
        ("prazo_registrado", {"data_estimada": "30/11/2026"}, "data_estimada", "Data inválida."),
        ("prazo_registrado", {"data_estimada": "2026-02-30"}, "data_estimada", "Data inválida."),
        ("prazo_registrado", {"data_estimada": "0000-01-01"}, "data_estimada", "Data inválida."),
        ("prazo_registrado", {"data_estimada": 20261130}, "data_estimada", "Data inválida."),
        ("prazo_registrado", {"data_estimada": "2026-11-29"}, "data_estimada", "Data estimada no passado."),
    ],
)
def test_valor_invalido_e_nomeado(
    rede: Rede, tipo: str, conteudo: dict[str, object], campo: str, mensagem: str
) -> None:
    assert validar(rede, tipo, conteudo) == {"valido": False, "erros": [{"campo": campo, "mensagem": mensagem}]}


@pytest.mark.parametrize("data", ["2026-11-30", "2028-02-29", "9999-12-31"])
def test_hoje_e_qualquer_data_futura_valem(rede: Rede, data: str) -> None:
    assert validar(rede, "prazo_registrado", {"data_estimada": data})["valido"]


def test_validar_relata_as_faltas_do_plano_que_nao_impedem_a_conclusao(rede: Rede) -> None:
    """E07."""
    plano = {"intervalo_dias": 0, "prazo_tolerancia_dias": -1, "vida_util_dias": 1.5}
    conteudo: dict[str, Any] = {
        "novo_status": "concluido",
        "plano_manutencao": plano,
        "localizacao": {"lat": 91, "lng": 0},
    }
    campos = [erro["campo"] for erro in validar(rede, "status_atualizado", conteudo)["erros"]]
    assert campos == [
        "plano_manutencao.intervalo_dias",
        "plano_manutencao.prazo_tolerancia_dias",
        "plano_manutencao.vida_util_dias",
        "categoria",
        "localizacao.lat",
    ]
    rede.sortear(DEMANDA, ANA)
    evento = rede.concluir(DEMANDA, ANA, **conteudo)
    rede.despachar()
    concluida = rede.eventos("demanda.concluída")[0]
    assert (concluida["versao_schema"], "plano_manutencao" in concluida["payload"]) == ("1.0.0", False)
    (ocorrencia,) = rede.ocorrencias(evento)
    assert ocorrencia["nivel"] == "erro"
    assert [erro["campo"] for erro in ocorrencia["contexto"]["erros"]] == campos


@pytest.mark.parametrize(
    "extra", [{"subcategoria": 3}, {"localizacao": {"lat": -23.5, "lng": -46.6, "endereco": ["rua"]}}, {"categoria": 7}]
)
def test_plano_com_acompanhantes_que_o_contrato_recusa_nao_detem_a_conclusao(rede: Rede, extra: dict[str, Any]) -> None:
    """E07: a saída recusada ficaria na DLQ, e a demanda com ela."""
    conteudo: dict[str, Any] = {
        "plano_manutencao": {"intervalo_dias": 30, "prazo_tolerancia_dias": 5, "vida_util_dias": 300, "tipo": "poda"},
        "categoria": "3.9",
        "localizacao": {"lat": -23.5, "lng": -46.6},
    }
    rede.sortear(DEMANDA, ANA)
    evento = rede.concluir(DEMANDA, ANA, **(conteudo | extra))
    rede.despachar()
    assert rede.eventos("demanda.concluída")[0]["versao_schema"] == "1.0.0"
    (ocorrencia,) = rede.ocorrencias(evento)
    assert ocorrencia["mensagem"] == "Plano de manutenção recusado; a conclusão segue sem ele"
    assert rede.um("SELECT count(*) FROM core.dlq") == 0
    previsto = validar(rede, "status_atualizado", {"novo_status": "concluido"} | conteudo | extra)
    assert previsto == {"valido": False, "erros": ocorrencia["contexto"]["erros"]}


@pytest.mark.parametrize("status", ["não executada", "NAO_EXECUTADA", "Não-Executada", "parcial", "Concluída", None])
def test_o_desfecho_que_se_entende_vale(rede: Rede, status: str | None) -> None:
    conteudo: dict[str, object] = {"novo_status": "concluido", "status_execucao": status}
    assert validar(rede, "status_atualizado", conteudo) == {"valido": True, "erros": []}


@pytest.mark.parametrize("status", ["cancelada", "executada", "", 5, ["concluida"], {}, True])
def test_validar_recusa_antes_o_desfecho_que_nao_se_entende(rede: Rede, status: object) -> None:
    """N54."""
    conteudo = {"novo_status": "concluido", "status_execucao": status}
    assert validar(rede, "status_atualizado", conteudo) == {
        "valido": False,
        "erros": [
            {
                "campo": "status_execucao",
                "mensagem": "Valor inválido. Esperado um dos: concluida, parcial, nao_executada.",
            }
        ],
    }
    # De uma demanda que não é de manutenção, o campo não é de ninguém.
    validada = rede.um("SELECT d6b.validar_atualizacao(%s, %s, current_date, %s)",
                       "status_atualizado", Jsonb(conteudo), DEMANDA)  # fmt: skip
    assert validada["valido"]
    assert validar(rede, "status_atualizado", conteudo | {"novo_status": "bloqueado"})["valido"]


BOM: dict[str, Any] = {
    "plano_manutencao": {"intervalo_dias": 30, "prazo_tolerancia_dias": 5, "vida_util_dias": 300, "tipo": "poda"},
    "categoria": "3.9",
    "localizacao": {"lat": -23.5, "lng": -46.6},
}


@pytest.mark.parametrize(
    ("extra", "antes", "depois"),
    [
        ({"titulo": ["x"]}, ["titulo"], ["titulo"]),
        ({"responsavel_tecnico": 5}, ["responsavel_tecnico"], ["responsavel_tecnico"]),
        ({"materiais_utilizados": "areia"}, ["materiais_utilizados"], ["materiais_utilizados"]),
        ({"materiais_utilizados": ["areia", 3]}, ["materiais_utilizados"], ["materiais_utilizados"]),
        ({"categoria_id": 7}, ["categoria_id"], ["categoria_id"]),
        # O que só a D-8 corta, é ela que registra.
        ({"materiais_utilizados": ["areia"] * 51}, ["materiais_utilizados"], []),
        ({"titulo": "t" * 201}, ["titulo"], []),
        ({"plano_manutencao": BOM["plano_manutencao"] | {"profundidade": 3}}, ["plano_manutencao.profundidade"], []),
        ({"titulo": "Praça", "responsavel_tecnico": None, "materiais_utilizados": ["areia"]}, [], []),
    ],
)
def test_o_campo_que_a_conclusao_perderia_se_diz_antes_e_se_registra_depois(
    rede: Rede, extra: dict[str, Any], antes: list[str], depois: list[str]
) -> None:
    """N56."""
    previsto = validar(rede, "status_atualizado", {"novo_status": "concluido"} | BOM | extra)
    assert [erro["campo"] for erro in previsto["erros"]] == antes
    rede.sortear(DEMANDA, ANA)
    evento = rede.concluir(DEMANDA, ANA, **(BOM | extra))
    rede.despachar()
    assert rede.eventos("demanda.concluída")[0]["versao_schema"] == "1.1.0"
    avisos = rede.ocorrencias(evento)
    assert [erro["campo"] for aviso in avisos for erro in aviso["contexto"]["erros"]] == depois
    for aviso in avisos:
        assert (aviso["nivel"], aviso["mensagem"]) == ("aviso", "Campos da conclusão deixados de fora")
        assert all(erro["mensagem"] for erro in aviso["contexto"]["erros"])
    da_d8 = [o for o in rede.ocorrencias() if o["colonia"] == "D-8" and o["nivel"] == "aviso"]
    assert len(da_d8) == (1 if antes and not depois else 0)


@pytest.mark.parametrize(
    ("extra", "campo"),
    [
        ({"plano_proximo_ciclo": "mensal"}, "plano_proximo_ciclo"),
        ({"plano_proximo_ciclo": [30]}, "plano_proximo_ciclo"),
        ({"plano_proximo_ciclo": {"intervalo_dias": "30"}}, "plano_proximo_ciclo.intervalo_dias"),
        ({"plano_proximo_ciclo": {"tipo": "pintura"}}, "plano_proximo_ciclo.intervalo_dias"),
        ({"observacoes": ["Faltou tinta"]}, "observacoes"),
    ],
)
def test_validar_diz_o_que_a_manutencao_perderia(rede: Rede, extra: dict[str, object], campo: str) -> None:
    (erro,) = validar(rede, "status_atualizado", {"novo_status": "concluido"} | extra)["erros"]
    assert erro["campo"] == campo
    assert erro["mensagem"]


def test_sem_plano_a_categoria_que_nao_e_texto_tambem_se_registra(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    evento = rede.concluir(DEMANDA, ANA, categoria_id=["3.9"], status_execucao="cancelada")
    rede.despachar()
    assert "categoria_id" not in rede.eventos("demanda.concluída")[0]["payload"]
    (aviso,) = rede.ocorrencias(evento)
    assert [erro["campo"] for erro in aviso["contexto"]["erros"]] == ["categoria_id"]


def test_acima_do_limite_so_conclusao_e_sistema_entram(rede: Rede) -> None:
    """E12."""
    rede.bd.execute("UPDATE core.parametros SET valor = '3' WHERE nome = 'limite_atualizacoes'")
    rede.sortear(DEMANDA, ANA)
    for _ in range(3):
        rede.atualizar(DEMANDA, ANA)
    demais = rede.atualizar(DEMANDA, ANA)
    rede.publicar(
        "demanda.conclusao_confirmada",
        {
            "demanda_id": str(DEMANDA),
            "conclusao_id": str(UUID(int=5)),
            "data_conclusao": rede.agora(),
            "total_conclusoes": 2,
            "ratificacao_necessaria": True,
        },
        "D-12",
    )
    rede.concluir(DEMANDA, ANA)
    rede.despachar()
    assert rede.ocorrencias(demais)[0]["mensagem"] == "Limite de atualizações do acompanhamento atingido"
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 5
    assert rede.acompanhamento(DEMANDA)["status"] == "concluido"


def test_acima_do_limite_ha_um_so_aviso_por_ciclo_e_o_resto_se_conta(rede: Rede) -> None:
    """E12: dito uma vez, e nada se perde."""
    rede.bd.execute("UPDATE core.parametros SET valor = '1' WHERE nome = 'limite_atualizacoes'")
    rede.sortear(DEMANDA, ANA)
    rede.sortear(OUTRA, BIA)
    rede.atualizar(DEMANDA, ANA)
    rede.atualizar(OUTRA, BIA)
    demais = [rede.atualizar(DEMANDA, ANA) for _ in range(5)]
    da_outra = rede.atualizar(OUTRA, BIA)
    avisos: list[str] = []
    rede.bd.add_notice_handler(lambda aviso: avisos.append(aviso.message_primary or ""))
    rede.despachar()
    assert avisos.count("Limite de atualizações do acompanhamento atingido") == 2
    assert {o["event_id"] for o in rede.ocorrencias()} == {demais[0], da_outra}
    assert all(rede.processado(evento) for evento in demais)
    assert rede.um("SELECT array_agg(event_id) FROM d6b.atualizacoes_excedentes") == [*demais, da_outra]
    rede.um("SELECT d6b.apurar_medidas()")
    assert rede.um("SELECT valor FROM d6b.metricas() WHERE nome = 'd6b_atualizacoes_excedentes'") == 6
    passos = rede.linhas("SELECT o_que FROM core.linha_do_tempo(%s)", DEMANDA)
    assert [p["o_que"] for p in passos].count("atualização descartada: acima do limite do acompanhamento") == 5

    assert str(rede.um("SELECT core.reprocessar(%s, 'D-6b')", demais[3])).startswith("descartado: ")
    rede.bd.execute("UPDATE core.parametros SET valor = '500' WHERE nome = 'limite_atualizacoes'")
    assert rede.um("SELECT core.reprocessar(%s, 'D-6b')", demais[3]) == "processado"
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 2
    assert rede.um("SELECT count(*) FROM d6b.atualizacoes_excedentes") == 5
    assert avisos.count("Limite de atualizações do acompanhamento atingido") == 2


def test_o_excedente_relido_nao_conta_duas_vezes(rede: Rede) -> None:
    rede.bd.execute("UPDATE core.parametros SET valor = '1' WHERE nome = 'limite_atualizacoes'")
    rede.sortear(DEMANDA, ANA)
    for _ in range(4):
        rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    rede.bd.execute("SELECT core.reposicionar('D-6b', 'conselheiro.atualização_registrada', 0)")
    rede.despachar()
    assert rede.um("SELECT count(*) FROM d6b.atualizacoes_excedentes") == 3
    assert len(rede.ocorrencias()) == 1


def test_limites_sao_contados_em_caracteres_e_em_bytes(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA, texto="ã" * 10000)
    # {"x": "…", "canal": "telefone"}: 30 bytes em volta, e cada "ã" são dois.
    rede.atualizar(DEMANDA, ANA, conteudo={"canal": "telefone", "x": "ã" * ((5120 - 30) // 2)})
    rede.atualizar(DEMANDA, ANA, conteudo={"canal": "telefone", "x": "ã" * ((5120 - 30) // 2 + 1)})
    rede.despachar()
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 2


def um_campo(campo: str, tamanho: int) -> dict[str, Any]:
    return {campo: "x" * tamanho}


@pytest.mark.parametrize(
    ("campo", "limite"), [("texto_bruto", 10_000), ("texto_estruturado", 10_000), ("audio_object_key", 1_024)]
)
def test_cada_texto_da_atualizacao_tem_limite_na_porta_e_no_handler(rede: Rede, campo: str, limite: int) -> None:
    """E12. No handler, o que já estava no log antes do limite."""
    with pytest.raises(psycopg.Error, match=f"{campo}: ") as recusa:
        rede.atualizar(DEMANDA, ANA, **um_campo(campo, limite + 1))
    assert recusa.value.sqlstate == "FM422"
    rede.sortear(DEMANDA, ANA)
    dentro = rede.atualizar(DEMANDA, ANA, **um_campo(campo, limite))
    rede.despachar()
    assert rede.ocorrencias(dentro) == []
    payload = rede.eventos("conselheiro.atualização_registrada")[0]["payload"] | um_campo(campo, limite + 1)
    resultado = rede.chamar("d6b.on_conselheiro_atualizacao_registrada", "conselheiro.atualização_registrada", payload)
    assert resultado.startswith("descartado")
    assert [erro["campo"] for erro in rede.ocorrencias()[-1]["contexto"]["erros"]] == [campo]


def test_o_identificador_da_conclusao_tem_limite_na_porta_e_no_handler(rede: Rede) -> None:
    payload: dict[str, object] = {
        "demanda_id": str(DEMANDA),
        "conclusao_id": "c" * 200,
        "data_conclusao": rede.agora(),
        "total_conclusoes": 2,
        "ratificacao_necessaria": True,
    }
    rede.publicar("demanda.conclusao_confirmada", payload, "D-12")
    payload["conclusao_id"] = "c" * 201
    with pytest.raises(psycopg.Error, match="conclusao_id: ") as recusa:
        rede.publicar("demanda.conclusao_confirmada", payload, "D-12")
    assert recusa.value.sqlstate == "FM422"
    resultado = rede.chamar("d6b.on_demanda_conclusao_confirmada", "demanda.conclusao_confirmada", payload)
    assert resultado.startswith("descartado")
    assert [erro["campo"] for erro in rede.ocorrencias()[-1]["contexto"]["erros"]] == ["conclusao_id"]


def test_validar_diz_do_conteudo_grande_o_que_o_handler_dira(rede: Rede) -> None:
    conteudo: dict[str, object] = {"canal": "telefone", "x": "y" * 5_120}
    erros = [{"campo": "conteudo_estruturado", "mensagem": "Acima de 5120 bytes."}]
    assert validar(rede, "contato_realizado", conteudo) == {"valido": False, "erros": erros}
    rede.sortear(DEMANDA, ANA)
    evento = rede.atualizar(DEMANDA, ANA, conteudo=conteudo)
    rede.despachar()
    assert rede.ocorrencias(evento)[0]["contexto"]["erros"] == erros
