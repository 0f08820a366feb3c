"""O que o Registro deixa passar e não é o que o campo quer dizer: o handler o julga (N48, N49)."""

from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.apoio.rede import CONTEUDOS, Rede

DEMANDA, ANA, BIA = UUID(int=1), UUID(int=11), UUID(int=12)
NAO_SAO_OBJETO: list[object] = ["", "x", 0, 1.5, False, True, [], [{}], None]
SUGESTAO = {"titulo_sugerido": "t", "texto_sugerido": "s", "campos_estruturados": {}, "score_confianca": 0.5}


@pytest.fixture
def sorteada(rede: Rede) -> Rede:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    return rede


def linha(rede: Rede) -> dict[str, Any]:
    (unica,) = rede.linhas("SELECT * FROM d6b.atualizacoes")
    return unica


def registrar_na_1_0_0(rede: Rede, **extra: object) -> UUID:
    payload: dict[str, object] = {
        "conselheiro_id": str(ANA),
        "demanda_id": str(DEMANDA),
        "unidade_civica_id": str(UUID(int=7)),
        "tipo": "contato_realizado",
        "texto_bruto": "Liguei.",
        "texto_estruturado": "Liguei.",
        "conteudo_estruturado": CONTEUDOS["contato_realizado"],
        "timestamp": rede.agora(),
    } | extra
    return rede.publicar("conselheiro.atualização_registrada", payload, "D-1a")


@pytest.mark.parametrize("sugestao", NAO_SAO_OBJETO)
def test_ia_assistida_exige_uma_sugestao_que_seja_um_objeto(sorteada: Rede, sugestao: object) -> None:
    evento = sorteada.atualizar(DEMANDA, ANA, origem_estruturacao="ia_assistida", sugestao_ia=sugestao)
    sorteada.despachar()
    (ocorrencia,) = sorteada.ocorrencias(evento)
    assert (ocorrencia["nivel"], ocorrencia["mensagem"]) == (
        "erro",
        "origem_estruturacao ia_assistida exige sugestao_ia",
    )
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 0


@pytest.mark.parametrize("origem", ["conselheiro", None])
def test_a_sugestao_so_se_guarda_de_quem_a_usou(sorteada: Rede, origem: str | None) -> None:
    sorteada.atualizar(DEMANDA, ANA, origem_estruturacao=origem, sugestao_ia=SUGESTAO)
    sorteada.despachar()
    assert (linha(sorteada)["origem_estruturacao"], linha(sorteada)["sugestao_ia"]) == ("conselheiro", None)


@pytest.mark.parametrize("chave", [False, True, 0, 1e30, "", " ", "\t\n", "\u00a0", [], ["a.ogg"], {}, None])
def test_so_um_texto_que_diz_algo_e_chave_de_audio(sorteada: Rede, chave: object) -> None:
    """Na 1.0.0 o campo é dos que passam sem exame."""
    registrar_na_1_0_0(sorteada, audio_object_key=chave)
    sorteada.despachar()
    assert (linha(sorteada)["texto_estruturado"], linha(sorteada)["conteudo_estruturado"]) == (
        "Liguei.",
        CONTEUDOS["contato_realizado"],
    )


@pytest.mark.parametrize("chave", ["", " ", "\t"])
def test_chave_de_audio_em_branco_nao_dispensa_os_textos(sorteada: Rede, chave: str) -> None:
    with pytest.raises(psycopg.Error, match="texto_bruto") as recusa:
        sorteada.atualizar(DEMANDA, ANA, texto="", audio_object_key=chave)
    assert recusa.value.sqlstate == "FM422"
    sorteada.atualizar(DEMANDA, ANA, texto="Liguei.", audio_object_key=chave)
    sorteada.despachar()
    assert "audio_object_key" not in linha(sorteada)["conteudo_estruturado"]


@pytest.mark.parametrize(
    ("tipo", "campo"),
    [
        ("protocolo_aberto", "orgao"),
        ("documento_anexado", "tipo_documento"),
        ("documento_anexado", "descricao"),
        ("entrave_registrado", "orgao_envolvido"),
        ("entrave_registrado", "descricao_entrave"),
    ],
)
@pytest.mark.parametrize("valor", [False, True, " ", "\t\n", [], ["Enel"], {}, None, ""])
def test_campo_obrigatorio_que_ninguem_leria_e_como_ausente(rede: Rede, tipo: str, campo: str, valor: object) -> None:
    conteudo = CONTEUDOS[tipo] | {campo: valor}
    assert rede.um("SELECT d6b.validar_atualizacao(%s, %s)", tipo, Jsonb(conteudo)) == {
        "valido": False,
        "erros": [{"campo": campo, "mensagem": "Campo obrigatório."}],
    }


@pytest.mark.parametrize("valor", [5, 0, 1e30, "Enel"])
def test_um_numero_diz_algo_num_campo_de_texto(rede: Rede, valor: object) -> None:
    conteudo = CONTEUDOS["protocolo_aberto"] | {"orgao": valor}
    assert rede.um("SELECT d6b.validar_atualizacao('protocolo_aberto', %s)", Jsonb(conteudo))["valido"]


@pytest.mark.parametrize("tipo", ["status_atualizado", "contato_realizado"])
@pytest.mark.parametrize("valor", [False, 0, " ", [], ["concluido"], {}, "Concluido", "concluido "])
def test_enumerado_so_vale_escrito_como_e(sorteada: Rede, tipo: str, valor: object) -> None:
    campo = {"status_atualizado": "novo_status", "contato_realizado": "canal"}[tipo]
    evento = sorteada.atualizar(DEMANDA, ANA, tipo, {campo: valor})
    sorteada.despachar()
    (ocorrencia,) = sorteada.ocorrencias(evento)
    assert [erro["campo"] for erro in ocorrencia["contexto"]["erros"]] == [campo]
    assert sorteada.acompanhamento(DEMANDA)["status"] == "aguardando_inicio"


@pytest.mark.parametrize("numero", ["    ", "-/./-", "....", 12345, False, ["2026/0012"]])
def test_protocolo_sem_letra_nem_algarismo_nao_e_protocolo(rede: Rede, numero: object) -> None:
    conteudo = Jsonb({"protocolo_numero": numero, "orgao": "Enel"})
    assert rede.um("SELECT d6b.validar_atualizacao('protocolo_aberto', %s)", conteudo)["erros"] == [
        {"campo": "protocolo_numero", "mensagem": "Formato de protocolo inválido."}
    ]


@pytest.mark.parametrize(
    "data", [" 2026-12-20", "2026-12-20 ", "2026-12-20\n", 20261220, 2e3, False, [], {}, "infinity"]
)
def test_data_so_vale_como_aaaa_mm_dd(rede: Rede, data: object) -> None:
    assert rede.um("SELECT d6b.validar_atualizacao('prazo_registrado', %s)", Jsonb({"data_estimada": data}))[
        "erros"
    ] == [{"campo": "data_estimada", "mensagem": "Data inválida."}]


@pytest.mark.parametrize("conteudo", ["", "x", 0, False, [], [{"canal": "telefone"}]])
def test_conteudo_que_nao_e_um_objeto_e_descartado(sorteada: Rede, conteudo: object) -> None:
    evento = sorteada.atualizar(DEMANDA, ANA, conteudo=conteudo)  # type: ignore[arg-type]
    sorteada.despachar()
    assert sorteada.ocorrencias(evento)[0]["mensagem"] == "conteudo_estruturado não é um objeto"


@pytest.mark.parametrize("tipo", [False, 0, " ", "", [], ["contato_realizado"], {}, "CONTATO_REALIZADO"])
def test_tipo_que_nao_e_um_dos_seis_e_descartado(sorteada: Rede, tipo: object) -> None:
    evento = registrar_na_1_0_0(sorteada, tipo=tipo)
    sorteada.despachar()
    assert sorteada.ocorrencias(evento)[0]["mensagem"] == "Tipo de atualização inválido"


def test_identificadores_em_maiusculas_sao_os_mesmos(rede: Rede) -> None:
    demanda, ana = UUID("abcdef00-0000-4000-8000-00000000000a"), UUID("abcdef00-0000-4000-8000-00000000000b")
    rede.sortear(demanda, ana)
    rede.atualizar(demanda, ana, demanda_id=str(demanda).upper(), conselheiro_id=str(ana).upper())
    rede.despachar()
    assert rede.acompanhamento(demanda)["total_atualizacoes"] == 1


def confirmar(rede: Rede, conclusao: str = "conclusao-1", total: object = 5, ratificacao: bool = True) -> UUID:
    payload: dict[str, object] = {
        "demanda_id": str(DEMANDA),
        "conclusao_id": conclusao,
        "data_conclusao": "2026-11-30",
        "total_conclusoes": total,
        "ratificacao_necessaria": ratificacao,
    }
    return rede.publicar("demanda.conclusao_confirmada", payload, "D-12")


@pytest.mark.parametrize(
    ("conclusao", "total", "campo"),
    [
        ("c", 0, "total_conclusoes"),
        ("c", -3, "total_conclusoes"),
        ("c", 2**31, "total_conclusoes"),
        ("", 5, "conclusao_id"),
        (" \t", 5, "conclusao_id"),
    ],
)
@pytest.mark.parametrize("ratificacao", [True, False])
def test_conclusao_que_nao_conta_ninguem_ou_nao_tem_nome_nada_grava(
    sorteada: Rede, conclusao: str, total: object, campo: str, ratificacao: bool
) -> None:
    evento = confirmar(sorteada, conclusao, total, ratificacao)
    sorteada.despachar()
    (ocorrencia,) = sorteada.ocorrencias(evento)
    assert (ocorrencia["nivel"], ocorrencia["mensagem"]) == ("erro", "Conclusão coletiva inválida")
    assert [erro["campo"] for erro in ocorrencia["contexto"]["erros"]] == [campo]
    assert sorteada.processado(evento)
    assert sorteada.acompanhamento(DEMANDA)["pendencia_conclusao"] is None
    assert sorteada.um("SELECT count(*) FROM d6b.conclusoes_sociais") == 0


def test_um_total_que_nao_cabe_em_contagem_nenhuma_e_descartado(sorteada: Rede) -> None:
    """O jsonb aceita números sem tamanho."""
    payload = """{"demanda_id": "00000000-0000-0000-0000-000000000001", "conclusao_id": "c", "total_conclusoes": 1e400,
                  "data_conclusao": "2026-11-30", "ratificacao_necessaria": true}"""
    sorteada.bd.execute("SELECT core.publicar('demanda.conclusao_confirmada', %s, 'D-12')", [payload])
    sorteada.despachar()
    assert [o["mensagem"] for o in sorteada.ocorrencias()] == ["Conclusão coletiva inválida"]
    assert sorteada.acompanhamento(DEMANDA)["pendencia_conclusao"] is None
    assert sorteada.um("SELECT count(*) FROM core.dlq") == 0


def test_um_total_inteiro_escrito_com_expoente_vale(sorteada: Rede) -> None:
    confirmar(sorteada, total=5e0)
    sorteada.despachar()
    assert sorteada.acompanhamento(DEMANDA)["pendencia_conclusao"]["total_conclusoes"] == 5


@pytest.mark.parametrize("segunda", ["conclusao-1", "CONCLUSAO-1"])
def test_a_mesma_conclusao_noutro_evento_nao_se_repete(sorteada: Rede, segunda: str) -> None:
    confirmar(sorteada)
    repetida = confirmar(sorteada, segunda, 8)
    sorteada.despachar()
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 1
    assert sorteada.acompanhamento(DEMANDA)["pendencia_conclusao"]["total_conclusoes"] == 5
    assert sorteada.processado(repetida)
    assert sorteada.ocorrencias(repetida) == []
    confirmar(sorteada, "conclusao-2")
    sorteada.despachar()
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 2


def test_a_mesma_conclusao_nao_se_repete_no_ciclo_seguinte(sorteada: Rede) -> None:
    confirmar(sorteada)
    sorteada.sortear(DEMANDA, BIA)
    confirmar(sorteada)
    sorteada.despachar()
    ciclos = {a["conselheiro_id"]: a for a in sorteada.acompanhamentos(DEMANDA)}
    assert (ciclos[ANA]["total_atualizacoes"], ciclos[BIA]["total_atualizacoes"]) == (1, 0)
    assert ciclos[BIA]["pendencia_conclusao"]["conclusao_id"] == "conclusao-1"


def test_a_mesma_conclusao_que_dispensa_a_ratificacao_ainda_guarda_do_sorteio_tardio(sorteada: Rede) -> None:
    confirmar(sorteada)
    confirmar(sorteada, ratificacao=False)
    sorteada.despachar()
    assert sorteada.um("SELECT count(*) FROM d6b.conclusoes_sociais") == 1
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 1


def test_a_conclusao_que_chegou_sem_acompanhamento_vale_quando_ha_um(rede: Rede) -> None:
    confirmar(rede)
    rede.sortear(DEMANDA, ANA)
    confirmar(rede)
    rede.despachar()
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 1
