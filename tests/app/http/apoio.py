"""O que os testes do HTTP partilham: um pedido válido e a conferência de um problema."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg

SUGERIR = "/d6b/sugerir-estruturacao"
ACOMPANHAMENTO = "/d6b/conselheiros/me/acompanhamento"
PENDENCIA = '{"conclusao_id": "c1", "total_conclusoes": 5, "data": "2026-11-01T00:00:00.000Z"}'


def ratificar(demanda: object) -> str:
    return f"/d6b/demandas/{demanda}/ratificar-conclusao"


def pedido(**mudancas: object) -> dict[str, object]:
    """Um corpo válido da sugestão, com `mudancas`."""
    return {
        "textoBruto": "Protocolei o pedido na Sanasa, protocolo 2026/004512. Aguardo a vistoria.",
        "tipoAtualizacao": "protocolo_aberto",
        "demandaId": str(uuid4()),
        **mudancas,
    }


def problema(resposta: httpx.Response, status: int) -> dict[str, Any]:
    """Confere que a resposta é um problema da RFC 9457 com `status`, e o devolve."""
    assert resposta.status_code == status, resposta.text
    assert resposta.headers["content-type"] == "application/problem+json"
    corpo: dict[str, Any] = resposta.json()
    assert corpo["status"] == status
    assert corpo["type"] == "about:blank"
    assert corpo["instance"] == f"urn:uuid:{resposta.headers['x-request-id']}"
    assert corpo["title"]
    assert corpo["detail"]
    return corpo


def abrir_acompanhamento(bd: psycopg.Connection[Any], conselheiro: UUID, pendencia: str | None = None) -> UUID:
    """Um ciclo ativo do conselheiro, direto na tabela; devolve a demanda."""
    demanda = uuid4()
    bd.execute(
        """
        INSERT INTO d6b.acompanhamentos (demanda_id, conselheiro_id, unidade_civica_id, event_id_sorteio,
                                         event_id_ultima_alteracao, pendencia_conclusao)
        VALUES (%s, %s, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), %s)
        """,
        [demanda, conselheiro, pendencia],
    )
    return demanda


def confirmar(bd: psycopg.Connection[Any], demanda: UUID) -> None:
    """A comunidade confirma a conclusão: pelo barramento, como a D-12 faria."""
    bd.execute(
        """
        SELECT core.publicar('demanda.conclusao_confirmada',
                             jsonb_build_object('demanda_id', %s::text, 'conclusao_id', gen_random_uuid(),
                                                'data_conclusao', core.iso(core.agora()), 'total_conclusoes', 5,
                                                'ratificacao_necessaria', true),
                             'D-12')
        """,
        [str(demanda)],
    )
    bd.execute("CALL core.despachar()")
