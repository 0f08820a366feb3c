"""O resumo público é o do ciclo mais novo da demanda, e um texto atrasado de outro diz de que ciclo é (3.7.1, N47)."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao, vencer_tentativas
from tests.apoio.rede import Rede
from tests.apoio.textos import publicar_textos

DEMANDA, ANA, BIA, CAIO = UUID(int=1), UUID(int=11), UUID(int=12), UUID(int=13)
PUBLICADA, RESUMO = "conselheiro.atualização_publicada", "demanda.resumo_ciclo_atualizado"


def relatar_por_audio(rede: Rede, conselheiro: UUID) -> UUID:
    return rede.atualizar(DEMANDA, conselheiro, texto="", audio_object_key="cidadaos/a.ogg")


def transcrever(rede: Rede, audio: UUID, sucesso: bool = True) -> UUID:
    payload: dict[str, object] = {
        "atualizacao_event_id": str(audio),
        "sucesso": sucesso,
        "texto_transcrito": "A equipe esteve na rua." if sucesso else "",
    }
    return rede.publicar("conselheiro.atualização_transcrita", payload, "D-1b")


def ciclo(rede: Rede, conselheiro: UUID) -> dict[str, Any]:
    (unico,) = [a for a in rede.acompanhamentos(DEMANDA) if a["conselheiro_id"] == conselheiro]
    return unico


def publicar(rede: Rede, descricao: str) -> None:
    rede.despachar()
    publicar_textos(rede.bd, descricao)


def de_quem(rede: Rede, tipo: str) -> list[UUID]:
    """Os conselheiros dos ciclos de que os eventos dizem ser, em ordem."""
    quem = {str(a["id"]): a["conselheiro_id"] for a in rede.acompanhamentos(DEMANDA)}
    return [quem[evento["payload"]["acompanhamento_id"]] for evento in rede.eventos(tipo, DEMANDA)]


def publica(rede: Rede) -> tuple[Any, ...]:
    (linha,) = rede.linhas("SELECT status, resumo FROM d6b.demandas_publicas WHERE demanda_id = %s", DEMANDA)
    return linha["status"], linha["resumo"]


def test_a_transcricao_atrasada_de_um_ciclo_reatribuido_nao_fala_pela_demanda(rede: Rede) -> None:
    rede.sortear(DEMANDA, BIA)
    rede.atualizar(DEMANDA, BIA)
    audio = relatar_por_audio(rede, BIA)
    publicar(rede, "de Bia")
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    publicar(rede, "de Ana")
    transcrever(rede, audio)
    publicar(rede, "de Bia, atrasado")
    assert de_quem(rede, PUBLICADA) == [BIA, ANA, BIA]
    assert de_quem(rede, RESUMO) == [BIA, ANA]
    assert publica(rede) == ("em_andamento", "de Ana")
    assert ciclo(rede, BIA)["texto_resumo_ciclo"] == "de Bia, atrasado"


def test_os_textos_que_esperavam_o_python_quando_a_demanda_mudou_de_maos_saem_sem_resumo(rede: Rede) -> None:
    rede.sortear(DEMANDA, BIA)
    rede.atualizar(DEMANDA, BIA)
    rede.atualizar(DEMANDA, BIA, "protocolo_aberto")
    rede.sortear(DEMANDA, ANA)
    publicar(rede, "de Bia, atrasado")
    assert de_quem(rede, PUBLICADA) == [BIA, BIA]
    assert rede.eventos(RESUMO) == []
    assert publica(rede) == ("aguardando_inicio", None)


def test_um_ciclo_que_ainda_nao_publicou_nao_mostra_o_resumo_do_anterior(rede: Rede) -> None:
    rede.sortear(DEMANDA, BIA)
    rede.atualizar(DEMANDA, BIA)
    publicar(rede, "de Bia")
    assert publica(rede) == ("em_andamento", "de Bia")
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    assert publica(rede) == ("aguardando_inicio", None)


def test_o_ciclo_mais_novo_e_o_ultimo_sorteado_diga_o_que_disser_o_relogio_de_quem_sorteou(rede: Rede) -> None:
    rede.sortear(DEMANDA, BIA, "2027-06-01T00:00:00Z")
    rede.atualizar(DEMANDA, BIA)
    rede.despachar()
    rede.sortear(DEMANDA, ANA, "2026-01-01T00:00:00Z")
    rede.concluir(DEMANDA, ANA)
    publicar(rede, "o fecho")
    assert publica(rede) == ("concluido", "o fecho")
    assert de_quem(rede, RESUMO) == [ANA]


@pytest.mark.parametrize("sucesso", [True, False])
def test_o_fecho_de_um_ciclo_que_ja_nao_e_o_mais_novo_so_se_guarda(rede: Rede, sucesso: bool) -> None:
    """Nada se abre depois de uma conclusão (E09): abre-o um DBA, à mão."""
    rede.sortear(DEMANDA, BIA)
    conteudo: dict[str, object] = {"novo_status": "concluido"}
    audio = rede.atualizar(DEMANDA, BIA, "status_atualizado", conteudo, texto="", audio_object_key="a.ogg")
    rede.despachar()
    rede.bd.execute(
        """
        INSERT INTO d6b.acompanhamentos (demanda_id, conselheiro_id, unidade_civica_id, status, event_id_sorteio,
                                         event_id_ultima_alteracao)
        VALUES (%s, %s, %s, 'aguardando_inicio', %s, %s)
        """,
        [DEMANDA, CAIO, uuid4(), uuid4(), uuid4()],
    )
    rede.atualizar(DEMANDA, CAIO)
    publicar(rede, "de Caio")
    transcrever(rede, audio, sucesso)
    publicar(rede, "o fecho")
    assert de_quem(rede, RESUMO) == [CAIO]
    assert publica(rede) == ("em_andamento", "de Caio")
    antigo = ciclo(rede, BIA)
    assert antigo["texto_resumo_ciclo"] == "o fecho"
    assert (len(antigo["saidas_conclusao"]), antigo["saidas_conclusao_pendentes"]) == (2, False)
    assert rede.um("SELECT count(*) FROM d6b.publicacoes_pendentes") == 0


def test_reprocessar_um_relato_do_ciclo_antigo_nao_o_traz_de_volta(rede: Rede) -> None:
    rede.sortear(DEMANDA, BIA)
    rede.sortear(DEMANDA, ANA)
    tardio = rede.atualizar(DEMANDA, BIA)
    rede.atualizar(DEMANDA, ANA)
    publicar(rede, "de Ana")
    assert str(rede.um("SELECT core.reprocessar(%s, 'D-6b')", tardio)).startswith("descartado: ")
    publicar(rede, "outro")
    assert de_quem(rede, PUBLICADA) == [ANA]
    assert publica(rede) == ("em_andamento", "de Ana")


def test_o_resumo_detido_na_dlq_sai_antes_do_ciclo_seguinte(rede: Rede) -> None:
    rede.sortear(DEMANDA, BIA)
    rede.atualizar(DEMANDA, BIA)
    rede.despachar()
    recusar_publicacao(rede.bd, RESUMO)
    publicar_textos(rede.bd, "de Bia")
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    aceitar_publicacao(rede.bd)
    vencer_tentativas(rede.bd)
    publicar(rede, "de Ana")
    assert de_quem(rede, RESUMO) == [BIA, ANA]
    assert publica(rede) == ("em_andamento", "de Ana")


def test_o_resumo_publicado_antes_de_dizer_o_ciclo_conhece_se_pelo_inicio(rede: Rede) -> None:
    rede.sortear(DEMANDA, BIA)
    rede.atualizar(DEMANDA, BIA)
    publicar(rede, "de Bia")
    rede.relogio("2026-12-01 12:00+00")
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    publicar(rede, "de Ana")
    rede.bd.execute("ALTER TABLE core.event_log DISABLE TRIGGER ALL")
    rede.bd.execute("UPDATE core.event_log SET payload = payload - 'acompanhamento_id' WHERE tipo = %s", [RESUMO])
    assert publica(rede) == ("em_andamento", "de Ana")
    rede.bd.execute("DELETE FROM core.event_log WHERE tipo = %s AND payload ->> 'resumo' = 'de Ana'", [RESUMO])
    assert publica(rede) == ("em_andamento", None)


def test_a_visao_das_atualizacoes_diz_o_ciclo_de_cada_uma(rede: Rede) -> None:
    rede.sortear(DEMANDA, BIA)
    rede.atualizar(DEMANDA, BIA)
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    publicar(rede, "descrição")
    linhas = rede.linhas("SELECT acompanhamento_id, sequencia FROM d6b.atualizacoes_publicas")
    assert {(linha["acompanhamento_id"], linha["sequencia"]) for linha in linhas} == {
        (ciclo(rede, BIA)["id"], 1),
        (ciclo(rede, ANA)["id"], 1),
    }
