"""Esvazia a fila de publicações (E02): reserva, compõe e devolve ao banco, que publica."""

import asyncio
from typing import Any, NamedTuple

import msgspec
import structlog
from psycopg import AsyncConnection
from psycopg.types.json import Jsonb, set_json_loads

from app.logs.privacidade import descrever
from app.pecas.denylist import Denylist
from app.pecas.resumo import Resumo
from app.trabalhador.composicao import Publicacao, Reservada, compor_fecho, compor_publicacao

LOTE = 10
PRAZO_DA_COMPOSICAO_S = 20.0

_log = structlog.get_logger(__name__)


async def publicar_pendentes(conexao: AsyncConnection[Any], denylist: Denylist, fatia_s: float) -> int:
    """Compõe e publica o que a fila tem na vez, em lotes, até que ela ou a fatia se acabe; devolve quantos textos.

    Um texto com que uma peça falha volta à fila com recuo, e não detém os de outros acompanhamentos.
    """
    relogio = asyncio.get_running_loop().time
    fim = relogio() + fatia_s
    total = 0
    while tratados := await _publicar_lote(conexao, denylist):
        total += tratados
        if relogio() >= fim:
            break
    return total


async def _publicar_lote(conexao: AsyncConnection[Any], denylist: Denylist) -> int:
    cursor = conexao.cursor()
    # O banco entrega JSON; decodificá-lo já com o tipo dispensa um dicionário intermediário.
    set_json_loads(_como_bytes, cursor)
    await cursor.execute(
        "SELECT r, r ->> 'atualizacao_id', r ->> 'acompanhamento_id', r ->> 'demanda_id', r ->> 'reserva'"
        "  FROM d6b.reservar_publicacoes(%s) AS r",
        [LOTE],
    )
    linhas = await cursor.fetchall()
    for linha in linhas:
        await _publicar(conexao, _Linha(*linha), denylist)
    return len(linhas)


class _Linha(NamedTuple):
    """O que foi reservado, ainda por ler, e de quem é: o que não se lê também volta à fila."""

    json: bytes
    atualizacao_id: str
    acompanhamento_id: str
    demanda_id: str
    reserva: str


async def _publicar(conexao: AsyncConnection[Any], linha: _Linha, denylist: Denylist) -> None:
    try:
        # Fora do laço de eventos, que é também o do HTTP.
        async with asyncio.timeout(PRAZO_DA_COMPOSICAO_S):
            reservada, pronta = await asyncio.to_thread(_compor, linha.json, denylist)
        if isinstance(pronta, Resumo):
            await conexao.execute(
                "SELECT d6b.publicar_resumo(%s, %s, %s, %s)",
                [reservada.atualizacao_id, reservada.reserva, pronta.texto, pronta.fontes],
            )
        else:
            await conexao.execute(
                "SELECT d6b.publicar_atualizacao(%s, %s, %s, %s, %s, %s, %s)",
                [
                    reservada.atualizacao_id,
                    reservada.reserva,
                    pronta.termos,
                    pronta.descricao,
                    None if pronta.caminho is None else Jsonb(pronta.caminho),
                    pronta.resumo.texto,
                    pronta.resumo.fontes,
                ],
            )
    except Exception as erro:  # qualquer falha de um texto é dele só: fica à vista e é tentada de novo
        if conexao.broken:
            raise
        _log.error(
            "texto não pôde ser publicado",
            demanda_id=linha.demanda_id,
            atualizacao_id=linha.atualizacao_id,
            acompanhamento_id=linha.acompanhamento_id,
            erro=descrever(erro),
        )
        await conexao.execute(
            "SELECT d6b.adiar_publicacao(%s, %s, %s)",
            [linha.atualizacao_id, linha.reserva, f"{type(erro).__name__}: {erro}"],
        )


def _compor(json: bytes, denylist: Denylist) -> tuple[Reservada, Publicacao | Resumo]:
    reservada = msgspec.json.decode(json, type=Reservada)
    compor = compor_fecho if reservada.especie == "fecho" else compor_publicacao
    return reservada, compor(reservada, denylist)


def _como_bytes(valor: str | bytes) -> str | bytes:
    return valor
