"""GET /d6b/conselheiros/me/acompanhamento: o JSON do banco chega como o banco o fez."""

from typing import Any
from uuid import UUID

import msgspec
import psycopg
from litestar import Litestar
from litestar.testing import TestClient

from app.http.rotas.corpos import AcompanhamentoConselheiro
from tests.app.http.apoio import ACOMPANHAMENTO, abrir_acompanhamento


def test_sem_ciclo_ativo_acompanhamento_e_nulo_e_as_listas_vazias(
    cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str]
) -> None:
    resposta = cliente_comum.get(ACOMPANHAMENTO, headers=cabecalhos)
    assert resposta.status_code == 200
    assert resposta.headers["content-type"] == "application/json"
    assert resposta.json() == {"acompanhamento": None, "prazos": [], "atualizacoes": []}


def test_o_ciclo_ativo_e_o_do_cidadao_do_token(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], cidadao: UUID, bd: psycopg.Connection[Any]
) -> None:
    abrir_acompanhamento(bd, UUID(int=7))
    demanda = abrir_acompanhamento(bd, cidadao)
    bd.execute(
        """
        WITH a AS (SELECT id, demanda_id, conselheiro_id FROM d6b.acompanhamentos WHERE demanda_id = %s),
             p AS (INSERT INTO d6b.prazos (acompanhamento_id, demanda_id, data_estimada, event_id_atualizacao)
                   SELECT id, demanda_id, '2026-11-30', gen_random_uuid() FROM a)
        INSERT INTO d6b.atualizacoes (acompanhamento_id, demanda_id, conselheiro_id, tipo, texto_bruto,
                                      texto_estruturado, sequencia, event_id_publicacao, correlacao_id)
        SELECT id, demanda_id, conselheiro_id, 'contato_realizado', 'Falei com a Sanasa', 'Contato com a Sanasa', 1,
               gen_random_uuid(), gen_random_uuid()
          FROM a
        """,
        [demanda],
    )
    resposta = cliente.get(ACOMPANHAMENTO, headers=cabecalhos)
    # A forma documentada é a servida: lê-se a resposta com os Structs que dão o OpenAPI.
    lido = msgspec.json.decode(resposta.content, type=AcompanhamentoConselheiro)
    assert lido.acompanhamento is not None
    assert lido.acompanhamento.demanda_id == demanda
    assert lido.acompanhamento.conselheiro_id == cidadao
    assert [str(prazo.data_estimada) for prazo in lido.prazos] == ["2026-11-30"]
    assert [(a.status, a.texto_estruturado) for a in lido.atualizacoes] == [("publicada", "Contato com a Sanasa")]


def test_o_json_do_banco_passa_byte_a_byte(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], bd: psycopg.Connection[Any]
) -> None:
    # Números que um JSON lido e reescrito em Python não devolveria iguais.
    esperado = '{"n": 1.10, "g": 123456789012345678901234567890, "t": "São Paulo \\u0001"}'
    bd.execute(f"CREATE OR REPLACE FUNCTION d6b.acompanhamento_conselheiro(p_conselheiro_id uuid) RETURNS jsonb "
               f"LANGUAGE sql AS $$ SELECT '{esperado}'::jsonb $$")  # fmt: skip
    (texto,) = bd.execute("SELECT %s::jsonb::text", [esperado]).fetchone() or ("",)
    assert cliente.get(ACOMPANHAMENTO, headers=cabecalhos).content == texto.encode()
