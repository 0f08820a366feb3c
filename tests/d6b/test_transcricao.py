"""Relato em áudio e sua transcrição (3.2, 3.2.1, 3.9.1; E15, E18)."""

from datetime import UTC, datetime
from itertools import pairwise
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.apoio.espera import ate
from tests.apoio.rede import Rede
from tests.apoio.textos import publicar_textos

DEMANDA, ANA, BIA = UUID(int=1), UUID(int=11), UUID(int=12)
TRANSCRITA = "conselheiro.atualização_transcrita"
AUDIO = {"audio_object_key": "cidadaos/11/audio.ogg", "texto_bruto": "", "texto_estruturado": ""}


@pytest.fixture
def sorteada(rede: Rede) -> Rede:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    return rede


def transcrever(rede: Rede, atualizacao: UUID, texto: str = "A equipe esteve na rua.", **extra: object) -> UUID:
    payload: dict[str, object] = {
        "atualizacao_event_id": str(atualizacao),
        "conselheiro_id": str(ANA),
        "demanda_id": str(DEMANDA),
        "unidade_civica_id": str(UUID(int=7)),
        "sucesso": True,
        "texto_transcrito": texto,
        "confianca": 0.87,
        "timestamp": rede.agora(),
    } | extra
    return rede.publicar(TRANSCRITA, payload, "D-1b")


def falhar(rede: Rede, atualizacao: UUID) -> UUID:
    return transcrever(rede, atualizacao, "", sucesso=False, motivo_falha="áudio ininteligível")


def linha(rede: Rede) -> dict[str, Any]:
    (unica,) = rede.linhas("SELECT * FROM d6b.atualizacoes")
    return unica


def fila(rede: Rede) -> list[str]:
    return [str(p["especie"]) for p in rede.linhas("SELECT especie FROM d6b.publicacoes_pendentes ORDER BY sequencia")]


def test_audio_nasce_pendente_inicia_a_demanda_e_nada_publica(sorteada: Rede) -> None:
    sorteada.atualizar(DEMANDA, ANA, **AUDIO)  # type: ignore[arg-type]
    sorteada.despachar()
    assert linha(sorteada)["texto_estruturado"] == ""
    assert linha(sorteada)["conteudo_estruturado"]["transcricao_status"] == "aguardando"
    assert linha(sorteada)["conteudo_estruturado"]["audio_object_key"] == "cidadaos/11/audio.ogg"
    assert sorteada.tipos(DEMANDA) == ["conselheiro.demanda_iniciada"]
    assert fila(sorteada) == []


def test_transcricao_com_sucesso_preenche_a_linha_e_a_poe_na_fila(sorteada: Rede) -> None:
    audio = sorteada.atualizar(DEMANDA, ANA, **AUDIO)  # type: ignore[arg-type]
    transcrever(sorteada, audio, modelo_transcricao="whisper-pt")
    sorteada.despachar()
    assert linha(sorteada)["texto_estruturado"] == "A equipe esteve na rua."
    conteudo = linha(sorteada)["conteudo_estruturado"]
    assert (conteudo["transcricao_status"], conteudo["modelo_transcricao"]) == ("concluida", "whisper-pt")
    assert conteudo["confianca_transcricao"] == 0.87
    assert fila(sorteada) == ["atualizacao"]


def test_transcricao_sem_sucesso_marca_a_falha_e_nada_publica(sorteada: Rede) -> None:
    audio = sorteada.atualizar(DEMANDA, ANA, **AUDIO)  # type: ignore[arg-type]
    falhar(sorteada, audio)
    sorteada.despachar()
    assert linha(sorteada)["conteudo_estruturado"]["transcricao_status"] == "falha"
    assert linha(sorteada)["texto_estruturado"] == ""
    assert fila(sorteada) == []


def test_transcricao_tardia_publica_mesmo_com_o_ciclo_encerrado(sorteada: Rede) -> None:
    audio = sorteada.atualizar(DEMANDA, ANA, **AUDIO)  # type: ignore[arg-type]
    sorteada.sortear(DEMANDA, BIA)
    transcrever(sorteada, audio)
    sorteada.despachar()
    assert fila(sorteada) == ["atualizacao"]


def test_transcricao_de_evento_desconhecido_e_descartada(sorteada: Rede) -> None:
    evento = transcrever(sorteada, UUID(int=404))
    sorteada.despachar()
    assert sorteada.ocorrencias(evento)[0]["nivel"] == "aviso"
    assert sorteada.processado(evento)


@pytest.mark.parametrize("demanda", [str(DEMANDA), None], ids=["com a chave da demanda", "sem demanda"])
def test_a_transcricao_de_uma_atualizacao_que_esta_na_dlq_espera_por_ela(
    sorteada: Rede, dsn: str, demanda: str | None
) -> None:
    with psycopg.connect(dsn) as operador:
        operador.execute("SELECT FROM d6b.acompanhamentos FOR UPDATE")
        audio = sorteada.atualizar(DEMANDA, ANA, **AUDIO)  # type: ignore[arg-type]
        sorteada.despachar()
        transcrever(sorteada, audio, "A equipe esteve na rua.", demanda_id=demanda)
        sorteada.despachar()
        assert sorteada.um("SELECT count(*) FROM core.dlq WHERE estado IN ('pendente', 'em_espera')") == 2

    def tudo_tratado() -> bool:
        sorteada.despachar()
        return not sorteada.um("SELECT EXISTS (SELECT FROM core.dlq WHERE estado <> 'resolvida')")

    ate(tudo_tratado, o_que="a DLQ esvaziar")
    assert linha(sorteada)["texto_estruturado"] == "A equipe esteve na rua."
    assert fila(sorteada) == ["atualizacao"]
    assert sorteada.ocorrencias() == []


def test_a_transcricao_de_uma_atualizacao_descartada_na_dlq_tambem_se_descarta(sorteada: Rede, dsn: str) -> None:
    with psycopg.connect(dsn) as operador:
        operador.execute("SELECT FROM d6b.acompanhamentos FOR UPDATE")
        audio = sorteada.atualizar(DEMANDA, ANA, **AUDIO)  # type: ignore[arg-type]
        sorteada.despachar()
    sorteada.bd.execute("SELECT core.dlq_descartar(id, 'teste') FROM core.dlq")
    evento = transcrever(sorteada, audio, demanda_id=None)
    sorteada.despachar()
    assert sorteada.ocorrencias(evento)[0]["mensagem"] == "Transcrição sem atualização correspondente"


def test_dois_resultados_para_a_mesma_linha_so_o_primeiro_vale(sorteada: Rede) -> None:
    audio = sorteada.atualizar(DEMANDA, ANA, **AUDIO)  # type: ignore[arg-type]
    transcrever(sorteada, audio, "o primeiro")
    segundo = transcrever(sorteada, audio, "o segundo")
    sorteada.despachar()
    assert linha(sorteada)["texto_estruturado"] == "o primeiro"
    (ocorrencia,) = sorteada.ocorrencias(segundo)
    assert (ocorrencia["mensagem"], ocorrencia["demanda_id"]) == ("A atualização não aguarda transcrição", DEMANDA)


def test_prazo_por_audio_vale_desde_o_registro(sorteada: Rede) -> None:
    audio = sorteada.atualizar(DEMANDA, ANA, "prazo_registrado", **AUDIO)  # type: ignore[arg-type]
    sorteada.despachar()
    assert sorteada.um("SELECT count(*) FROM d6b.prazos WHERE status = 'vigente'") == 1
    transcrever(sorteada, audio)
    sorteada.despachar()
    assert sorteada.um("SELECT count(*) FROM d6b.prazos") == 1


def test_campos_do_servidor_que_vem_de_fora_sao_descartados(sorteada: Rede) -> None:
    """E18."""
    forjado = {
        "canal": "telefone",
        "transcricao_status": "aguardando",
        "audio_object_key": "x",
        "confianca_transcricao": 1,
    }
    sorteada.atualizar(DEMANDA, ANA, "contato_realizado", forjado)
    sorteada.despachar()
    assert linha(sorteada)["conteudo_estruturado"] == {"canal": "telefone"}
    assert fila(sorteada) == ["atualizacao"]


def concluir_por_audio(rede: Rede) -> UUID:
    return rede.atualizar(DEMANDA, ANA, "status_atualizado", {"novo_status": "concluido"}, **AUDIO)  # type: ignore[arg-type]


def test_conclusao_por_audio_encerra_logo_e_o_fecho_espera(sorteada: Rede) -> None:
    """E15."""
    concluir_por_audio(sorteada)
    sorteada.despachar()
    assert sorteada.acompanhamento(DEMANDA)["status"] == "concluido"
    resumo = "Conclusão relatada em áudio; transcrição em andamento."
    assert sorteada.eventos("demanda.concluída")[0]["payload"]["resumo_final"] == resumo
    assert fila(sorteada) == ["fecho"]
    espera = sorteada.um("SELECT proxima_tentativa - clock_timestamp() FROM d6b.publicacoes_pendentes")
    assert 47.9 < espera.total_seconds() / 3600 <= 48


@pytest.mark.parametrize("sucesso", [True, False])
def test_resultado_da_transcricao_solta_o_fecho_e_nunca_publica_a_conclusao(sorteada: Rede, sucesso: bool) -> None:
    audio = concluir_por_audio(sorteada)
    sorteada.despachar()
    transcrever(sorteada, audio, "Tudo pronto na praça.") if sucesso else falhar(sorteada, audio)
    sorteada.despachar()
    assert fila(sorteada) == ["fecho"]
    assert sorteada.um("SELECT proxima_tentativa <= clock_timestamp() FROM d6b.publicacoes_pendentes")
    final = sorteada.acompanhamento(DEMANDA)["texto_resumo_final"]
    assert final == (
        "Tudo pronto na praça." if sucesso else "Conclusão relatada em áudio; a transcrição não foi possível."
    )


@pytest.mark.parametrize("sucesso", [True, False])
def test_a_transcricao_da_conclusao_fica_como_ultima_alteracao_do_acompanhamento(sorteada: Rede, sucesso: bool) -> None:
    """2.2; e quem encerrou o ciclo continua a ser a conclusão."""
    audio = concluir_por_audio(sorteada)
    sorteada.despachar()
    encerrado = [item for item in linha_do_tempo(sorteada) if "encerrado" in item]
    sorteada.relogio("2026-12-01 09:30:00.129+00")
    evento = transcrever(sorteada, audio) if sucesso else falhar(sorteada, audio)
    sorteada.despachar()
    ciclo = sorteada.acompanhamento(DEMANDA)
    assert ciclo["event_id_ultima_alteracao"] == evento
    assert ciclo["atualizado_em"] == datetime(2026, 12, 1, 9, 30, 0, 120000, tzinfo=UTC)
    assert [item for item in linha_do_tempo(sorteada) if "encerrado" in item] == encerrado


def test_o_resumo_publicado_move_a_hora_da_ultima_alteracao_e_nao_o_evento(sorteada: Rede) -> None:
    evento = sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    sorteada.relogio("2026-12-01 09:30:00+00")
    publicar_textos(sorteada.bd)
    ciclo = sorteada.acompanhamento(DEMANDA)
    assert ciclo["event_id_ultima_alteracao"] == evento
    assert ciclo["atualizado_em"] == datetime(2026, 12, 1, 9, 30, tzinfo=UTC)


def linha_do_tempo(rede: Rede) -> list[str]:
    """Cada coisa com o que veio logo antes dela."""
    itens = [linha["o_que"] for linha in rede.linhas("SELECT o_que FROM core.linha_do_tempo(%s)", DEMANDA)]
    return [f"{antes} > {item}" for antes, item in pairwise(itens)]


@pytest.mark.parametrize(
    "comando",
    [
        "UPDATE d6b.atualizacoes SET texto_estruturado = 'outro'",
        "DELETE FROM d6b.atualizacoes",
        "TRUNCATE d6b.atualizacoes CASCADE",
    ],
)
def test_atualizacao_publicada_e_so_de_acrescimo(sorteada: Rede, comando: str) -> None:
    """E13."""
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    with pytest.raises(psycopg.Error) as recusa:
        sorteada.bd.execute(comando)
    assert recusa.value.sqlstate == "FM409"


PROIBIDAS = [("em_andamento", "aguardando_inicio")] + [
    (de, para)
    for de in ("concluido", "reatribuido", "fim_mandato", "desistencia")
    for para in ("aguardando_inicio", "em_andamento", "concluido", "reatribuido")
    if de != para
]


@pytest.mark.parametrize(("de", "para"), PROIBIDAS)
def test_transicao_proibida_e_recusada(sorteada: Rede, de: str, para: str) -> None:
    """4.8, E13."""
    sorteada.bd.execute("UPDATE d6b.acompanhamentos SET status = 'em_andamento'")
    if de != "em_andamento":
        sorteada.bd.execute("UPDATE d6b.acompanhamentos SET status = %s", [de])
    with pytest.raises(psycopg.Error, match="Transição proibida") as recusa:
        sorteada.bd.execute("UPDATE d6b.acompanhamentos SET status = %s", [para])
    assert recusa.value.sqlstate == "FM409"


LONGO = "Frase longa número 12345. " * 115_000


@pytest.mark.parametrize(
    ("extra", "campo"),
    [
        ({"texto_transcrito": "x" * 10_001}, "texto_transcrito"),
        ({"texto_transcrito": LONGO}, "texto_transcrito"),
        ({"modelo_transcricao": "m" * 201}, "modelo_transcricao"),
        ({"sucesso": False, "texto_transcrito": "", "motivo_falha": "m" * 2_001}, "motivo_falha"),
    ],
    ids=["10.001", "2,99 milhões", "modelo", "motivo"],
)
def test_transcricao_longa_demais_e_recusada_na_porta(sorteada: Rede, extra: dict[str, Any], campo: str) -> None:
    """E12."""
    atualizacao = sorteada.atualizar(DEMANDA, ANA, **AUDIO)  # type: ignore[arg-type]
    with pytest.raises(psycopg.Error, match=f"{campo}: |o limite é de") as recusa:
        transcrever(sorteada, atualizacao, **extra)
    assert recusa.value.sqlstate == "FM422"


@pytest.mark.parametrize("campo", ["texto_transcrito", "modelo_transcricao"])
def test_transcricao_longa_que_ja_estava_no_log_e_descartada_e_a_que_cabe_ainda_entra(
    sorteada: Rede, campo: str
) -> None:
    atualizacao = sorteada.atualizar(DEMANDA, ANA, **AUDIO)  # type: ignore[arg-type]
    sorteada.despachar()
    payload: dict[str, object] = {
        "atualizacao_event_id": str(atualizacao),
        "sucesso": True,
        "texto_transcrito": "curto",
        campo: LONGO,
    }
    assert sorteada.chamar("d6b.on_conselheiro_atualizacao_transcrita", TRANSCRITA, payload).startswith("descartado")
    ocorrencia = sorteada.ocorrencias()[-1]
    assert (ocorrencia["nivel"], ocorrencia["mensagem"]) == ("erro", "Transcrição inválida")
    assert [erro["campo"] for erro in ocorrencia["contexto"]["erros"]] == [campo]
    transcrever(sorteada, atualizacao, "ç" * 10_000)
    sorteada.despachar()
    assert sorteada.um("SELECT length(texto_estruturado) FROM d6b.atualizacoes") == 10_000
