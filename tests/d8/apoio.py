"""A rede em volta da D-8, para os testes: publica o que a D-6b publicaria, despacha e varre."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

UC = UUID(int=0xAA)
CONSELHEIRO = UUID(int=0xBB)
PLANO: dict[str, object] = {
    "intervalo_dias": 180,
    "tipo": "inspecao",
    "prazo_tolerancia_dias": 30,
    "vida_util_dias": 1825,
    "profundidade": 0,
}
LOCALIZACAO: dict[str, object] = {"lat": -23.5505, "lng": -46.6333, "endereco": "Praça da Sé, São Paulo"}


class Manutencao:
    """Um banco recém-migrado, visto pela D-8. O relógio da rede começa em `INICIO`."""

    INICIO = datetime.fromisoformat("2026-01-10T12:00:00+00:00")

    def __init__(self, conexao: psycopg.Connection[Any]) -> None:
        self.bd = conexao
        self.agora = self.INICIO
        self.relogio(self.INICIO)

    def relogio(self, quando: datetime) -> None:
        self.agora = quando
        self.bd.execute("SELECT core.definir_relogio(%s)", [quando])

    def avancar(self, dias: float) -> datetime:
        self.relogio(self.agora + timedelta(days=dias))
        return self.agora

    def um(self, consulta: str, *valores: object) -> Any:
        """O único valor de uma consulta de uma linha."""
        linha = self.bd.execute(consulta, valores).fetchone()
        assert linha is not None
        return linha[0]

    def linhas(self, consulta: str, *valores: object) -> list[dict[str, Any]]:
        with self.bd.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(consulta, valores).fetchall()

    def publicar(
        self, tipo: str, payload: dict[str, object], versao: str, origem: str = "D-6b", event_id: UUID | None = None
    ) -> UUID:
        """Publica por core.publicar e devolve o event_id."""
        event_id = event_id or uuid4()
        self.bd.execute(
            "SELECT core.publicar(%s, %s, %s, %s, %s)", [tipo, Jsonb(payload, dumps=com_cru), origem, versao, event_id]
        )
        return event_id

    def despachar(self) -> None:
        self.bd.execute("CALL core.despachar()")

    def concluir(
        self, demanda: UUID | None = None, event_id: UUID | None = None, versao: str = "1.1.0", **campos: Any
    ) -> UUID:
        """Publica demanda.concluída com um plano que serve, salvo o que `campos` muda; devolve a demanda."""
        demanda = demanda or uuid4()
        self.publicar("demanda.concluída", conclusao(demanda, self.agora, **campos), versao, event_id=event_id)
        return demanda

    def monitorar(self, demanda: UUID | None = None, plano: Mapping[str, object] | None = None, **campos: Any) -> UUID:
        """Conclui e despacha: há um projeto. `plano` muda o plano padrão. Devolve o id do projeto."""
        demanda = self.concluir(demanda, plano_manutencao={**PLANO, **(plano or {})}, **campos)
        self.despachar()
        return UUID(str(self.projeto_da(demanda)["id"]))

    def executar(self, demanda: UUID, projeto: UUID, event_id: UUID | None = None, **campos: object) -> UUID:
        """Publica manutenção.executada e devolve o event_id."""
        payload: dict[str, object] = {
            "demanda_id": str(demanda),
            "projeto_original_id": str(projeto),
            "conselheiro_id": str(CONSELHEIRO),
            "data_conclusao": self.agora.isoformat(),
            "status_execucao": "concluida",
        } | campos
        return self.publicar("manutenção.executada", payload, "1.0.0", event_id=event_id)

    def varrer(self, agora: datetime | None = None, lote: int = 500) -> None:
        """Uma varredura na hora dada ou na do relógio."""
        self.bd.execute("CALL d8.executar_varredura(%s, %s)", [agora or self.agora, lote])

    def projeto(self, projeto_id: UUID) -> dict[str, Any]:
        (projeto,) = self.linhas("SELECT * FROM d8.projetos_monitorados WHERE id = %s", projeto_id)
        return projeto

    def projeto_da(self, demanda: UUID) -> dict[str, Any]:
        (projeto,) = self.linhas("SELECT * FROM d8.projetos_monitorados WHERE demanda_original_id = %s", demanda)
        return projeto

    def projetos(self) -> list[dict[str, Any]]:
        return self.linhas("SELECT * FROM d8.projetos_monitorados ORDER BY id")

    def ciclos(self, projeto_id: UUID | None = None) -> list[dict[str, Any]]:
        return self.linhas(
            "SELECT * FROM d8.historico_manutencoes WHERE projeto_id = coalesce(%s, projeto_id)"
            " ORDER BY projeto_id, ciclo_numero",
            projeto_id,
        )

    def ciclo(self, projeto_id: UUID) -> dict[str, Any]:
        """O ciclo mais novo do projeto."""
        return self.ciclos(projeto_id)[-1]

    def gerar(self, projeto_id: UUID) -> dict[str, Any]:
        """Leva o relógio ao vencimento do projeto, varre e devolve o ciclo gerado."""
        self.relogio(max(self.agora, self.projeto(projeto_id)["proximo_ciclo"]))
        self.varrer()
        return self.ciclo(projeto_id)

    def eventos(self, tipo: str | None = None) -> list[dict[str, Any]]:
        """Eventos que a D-8 publicou, em ordem."""
        return self.linhas(
            "SELECT * FROM core.event_log WHERE origem = 'D-8' AND tipo = coalesce(%s, tipo) ORDER BY sequence_number",
            tipo,
        )

    def ocorrencias(self, nivel: str | None = None) -> list[dict[str, Any]]:
        """Ocorrências, salvo as de nível info se nenhum é pedido."""
        return self.linhas(
            "SELECT * FROM core.ocorrencias WHERE CASE WHEN %s::text IS NULL THEN nivel <> 'info' ELSE nivel = %s END"
            " ORDER BY id",
            nivel,
            nivel,
        )

    def resultado(self, event_id: UUID) -> str:
        """O que processed_events diz do evento."""
        return str(self.um("SELECT resultado FROM d8.processed_events WHERE event_id = %s", event_id))

    def pendencias(self) -> int:
        """Entradas em aberto na DLQ."""
        return int(self.um("SELECT count(*) FROM core.dlq WHERE estado IN ('pendente', 'em_espera')"))

    def esvaziar(self) -> None:
        """Um banco sem eventos nem projetos, para o exemplo seguinte de um teste de propriedade."""
        self.bd.execute(
            """
            SET session_replication_role = replica;
            TRUNCATE core.event_log, core.ocorrencias, core.dlq, d8.projetos_monitorados, d8.historico_manutencoes,
                     d8.processed_events, d6b.processed_events, d6b.demandas_manutencao;
            SET session_replication_role = origin
            """
        )
        self.relogio(self.INICIO)

    def semear(self, quantos: int, vencidos_ha: timedelta = timedelta(hours=1)) -> None:
        """Insere direto, sem eventos, projetos já vencidos: para os testes que pedem milhares."""
        self.bd.execute(
            """
            INSERT INTO d8.projetos_monitorados (
                id, demanda_original_id, categoria, localizacao, uc_id, plano_manutencao, dossie_original,
                proximo_ciclo, event_id_origem, event_id_ultima_alteracao, criado_em, atualizado_em)
            SELECT gen_random_uuid(), gen_random_uuid(), '3.9_pracas_parques', %s, %s, %s,
                   jsonb_build_object('titulo', 'Praça ' || n, 'descricao', 'Reforma', 'responsavel_tecnico', NULL,
                                      'data_conclusao', '2025-01-15T10:00:00.000Z',
                                      'materiais_utilizados', '["areia"]'::jsonb),
                   %s, gen_random_uuid(), gen_random_uuid(), %s, %s
              FROM generate_series(1, %s) AS n
            """,
            [Jsonb(LOCALIZACAO), UC, Jsonb(PLANO), self.agora - vencidos_ha, self.agora, self.agora, quantos],
        )


def conclusao(demanda: UUID, quando: datetime, **campos: object) -> dict[str, object]:
    """Payload de demanda.concluída 1.1.0; um campo com None sai do payload."""
    payload: dict[str, object] = {
        "demanda_id": str(demanda),
        "conselheiro_id": str(CONSELHEIRO),
        "unidade_civica_id": str(UC),
        "data_conclusao": quando.isoformat(),
        "categoria": "3.9_pracas_parques",
        "subcategoria": "playground_quebrado",
        "localizacao": LOCALIZACAO,
        "resumo_final": "Playground reformado. Brinquedos de madeira trocados.",
        "responsavel_tecnico": "Secretaria Municipal de Obras",
        "materiais_utilizados": ["madeira tratada", "areia"],
        "plano_manutencao": PLANO,
    } | campos
    return {nome: valor for nome, valor in payload.items() if valor is not None}


class Cru(str):
    """JSON escrito à mão, para o que o Python não diz (1e400)."""


def com_cru(payload: dict[str, object]) -> str:
    """O payload em JSON, com cada `Cru` posto como está."""
    crus: list[str] = []

    def trocar(valor: object) -> object:
        if isinstance(valor, Cru):
            crus.append(str(valor))
            return f"\0{len(crus) - 1}\0"
        if isinstance(valor, dict):
            return {nome: trocar(dentro) for nome, dentro in valor.items()}
        return valor

    texto = json.dumps(trocar(payload))
    for n, cru in enumerate(crus):
        texto = texto.replace(json.dumps(f"\0{n}\0"), cru)
    return texto
