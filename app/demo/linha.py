"""A linha do tempo da demonstração: evento, quando, quem, o quê."""

from typing import Any
from zoneinfo import ZoneInfo

import psycopg
from psycopg.rows import dict_row

from app.demo.roteiro import Cidade

LARGURA_DO_QUE = 90


def imprimir(admin: psycopg.Connection[Any], cidade: Cidade) -> None:
    """Imprime todos os eventos do log, em ordem, com nomes no lugar dos identificadores."""
    nomes = {pessoa.id: pessoa.nome for pessoa in cidade.pessoas.values()}
    demandas = {demanda.id: demanda.titulo for demanda in cidade.demandas.values()}
    with admin.cursor(row_factory=dict_row) as cursor:
        cursor.execute(
            "SELECT publicado_em, tipo, versao_schema, origem, payload FROM core.event_log ORDER BY sequence_number"
        )
        print(f"\n{'quando':<16}  {'evento':<38}  {'quem':<14}  o quê")
        for evento in cursor:
            payload = evento["payload"]
            quando = evento["publicado_em"].astimezone(ZoneInfo("America/Sao_Paulo")).strftime("%d/%m/%Y %H:%M")
            quem = nomes.get(payload.get("conselheiro_id", ""), evento["origem"])
            if "dossie" in payload:
                demandas[payload["demanda_id"]] = f"{payload['dossie']['projeto_original']['titulo']} (manutenção)"
            demanda = demandas[payload.get("demanda_id") or payload["demanda_original_id"]]
            print(f"{quando}  {evento['tipo']:<38}  {quem:<14}  {_abreviar(f'{demanda}: {_o_que(payload)}')}")


def _o_que(payload: dict[str, Any]) -> str:
    """A frase que diz do que o evento trata: o que há de mais legível no payload."""
    for campo in ("descricao_sanitizada", "resumo_final", "texto_bruto", "motivo", "tipo_primeira_acao"):
        if payload.get(campo):
            return str(payload[campo])
    if "data_estimada" in payload:
        return f"prazo em {payload['dias_restantes']} dia(s), {payload['descricao_prazo']}"
    if "ciclo_numero" in payload:
        return f"ciclo {payload['ciclo_numero']}, {payload['tipo_manutencao']}"
    if "resumo" in payload:
        return f"resumo com {payload['total_atualizacoes']} atualização(ões)"
    if "status_execucao" in payload:
        return f"{payload['status_execucao']}; {payload.get('observacoes', '')}"
    return "sorteio público" if "seed_publico" in payload else ""


def _abreviar(texto: str) -> str:
    texto = " ".join(texto.split())
    return texto if len(texto) <= LARGURA_DO_QUE else texto[: LARGURA_DO_QUE - 1] + "…"
