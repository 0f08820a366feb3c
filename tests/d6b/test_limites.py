"""Limites e validação (4.2, 6.2; E07, E10, E12)."""

from typing import Any
from uuid import UUID

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
