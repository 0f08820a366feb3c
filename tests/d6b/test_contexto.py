"""De quem é cada evento, nas linhas de log e nas ocorrências (8.1)."""

import json
from typing import Any
from uuid import UUID

import pytest

from tests.apoio.rede import Rede

DEMANDA, ANA = UUID(int=1), UUID(int=11)
DO_CICLO = {
    "conselheiro.sorteado": True,
    "conselheiro.atualização_registrada": True,
    "conselheiro.atualização_transcrita": True,
    "demanda.conclusao_confirmada": True,
    "demanda.recebida": False,  # não é de acompanhamento nenhum
}


@pytest.mark.parametrize(("tipo", "do_ciclo"), DO_CICLO.items())
def test_a_linha_de_evento_ja_processado_diz_de_quem_e(rede: Rede, tipo: str, do_ciclo: bool) -> None:
    rede.publicar("demanda.recebida", {"demanda_id": str(DEMANDA)}, "D-1a", "1.1.0")
    rede.sortear(DEMANDA, ANA)
    audio = rede.atualizar(DEMANDA, ANA, texto="", audio_object_key="a.ogg")
    confirmada: dict[str, object] = {
        "demanda_id": str(DEMANDA),
        "conclusao_id": "c",
        "data_conclusao": "2026-11-30",
        "total_conclusoes": 3,
        "ratificacao_necessaria": True,
    }
    rede.publicar("demanda.conclusao_confirmada", confirmada, "D-12")
    # Só o identificador da atualização: a demanda e o conselheiro são os dela.
    rede.publicar("conselheiro.atualização_transcrita", {"atualizacao_event_id": str(audio), "sucesso": False}, "D-1b")
    rede.despachar()
    detalhes: list[dict[str, Any]] = []
    rede.bd.execute("SET client_min_messages = log")
    rede.bd.add_notice_handler(
        lambda aviso: (
            detalhes.append(json.loads(aviso.message_detail or "{}"))
            if aviso.message_primary == "Evento já processado pela D-6b"
            else None
        )
    )
    rede.bd.execute("SELECT core.reposicionar('D-6b', %s, 0)", [tipo])
    rede.despachar()
    (detalhe,) = detalhes
    ciclo = rede.acompanhamento(DEMANDA)
    esperado = {"demanda_id": str(DEMANDA), "tipo": tipo, "colonia": "D-6b"}
    if do_ciclo:
        esperado |= {"conselheiro_id": str(ANA), "acompanhamento_id": str(ciclo["id"])}
    assert esperado.items() <= detalhe.items()
    assert {"event_id", "correlacao_id"} <= detalhe.keys()


def test_a_transcricao_que_nao_diz_a_demanda_e_descartada_com_os_dados_dela(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    relato = rede.atualizar(DEMANDA, ANA)
    payload: dict[str, object] = {"atualizacao_event_id": str(relato).upper(), "sucesso": True, "texto_transcrito": "x"}
    evento = rede.publicar("conselheiro.atualização_transcrita", payload, "D-1b")
    rede.despachar()
    (ocorrencia,) = rede.ocorrencias(evento)
    contexto = ocorrencia["contexto"]
    assert (ocorrencia["demanda_id"], contexto["conselheiro_id"]) == (DEMANDA, str(ANA))
    assert contexto["acompanhamento_id"] == str(rede.acompanhamento(DEMANDA)["id"])
