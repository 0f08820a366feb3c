"""A rede em volta da D-6b, para os testes: publica como as outras colônias publicariam e despacha."""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

CONTEUDOS: dict[str, dict[str, object]] = {
    "contato_realizado": {"canal": "telefone", "contato_orgao": "Sabesp", "resultado": "vistoria marcada"},
    "protocolo_aberto": {"protocolo_numero": "2026/0012-3", "orgao": "Subprefeitura da Sé"},
    "documento_anexado": {"tipo_documento": "laudo", "descricao": "laudo da vistoria"},
    "entrave_registrado": {"orgao_envolvido": "Enel", "descricao_entrave": "falta de material", "gravidade": "media"},
    "status_atualizado": {"novo_status": "em_andamento"},
    "prazo_registrado": {"data_estimada": "2026-12-20", "descricao_prazo": "troca da tampa"},
}


class Rede:
    """Um banco recém-migrado, com o relógio parado onde o teste quer."""

    def __init__(self, conexao: psycopg.Connection[Any]) -> None:
        self.bd = conexao

    def relogio(self, quando: str) -> None:
        self.bd.execute("SELECT core.definir_relogio(%s)", [quando])

    def um(self, consulta: str, *valores: object) -> Any:
        """O único valor de uma consulta de uma linha."""
        linha = self.bd.execute(consulta, valores).fetchone()
        assert linha is not None
        return linha[0]

    def linhas(self, consulta: str, *valores: object) -> list[dict[str, Any]]:
        with self.bd.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(consulta, valores).fetchall()

    def publicar(
        self,
        tipo: str,
        payload: dict[str, object],
        origem: str,
        versao: str = "1.0.0",
        event_id: UUID | None = None,
        correlacao_id: UUID | None = None,
    ) -> UUID:
        """Publica por core.publicar e devolve o event_id."""
        event_id = event_id or uuid4()
        self.bd.execute(
            "SELECT core.publicar(%s, %s, %s, %s, %s, %s)",
            [tipo, Jsonb(payload), origem, versao, event_id, correlacao_id],
        )
        return event_id

    def despachar(self) -> None:
        self.bd.execute("CALL core.despachar()")

    def sortear(self, demanda: UUID, conselheiro: UUID, quando: str | None = None, **extra: object) -> UUID:
        payload: dict[str, object] = {
            "conselheiro_id": str(conselheiro),
            "demanda_id": str(demanda),
            "unidade_civica_id": str(UUID(int=7)),
            "metodo_sorteio": "fisher_yates",
            "seed_publico": "a" * 64,
            "posicao_sorteada": 0,
            "total_elegiveis": 3,
            "timestamp": quando or self.agora(),
        } | extra
        return self.publicar("conselheiro.sorteado", payload, "D-6a")

    def atualizar(
        self,
        demanda: UUID,
        conselheiro: UUID,
        tipo: str = "contato_realizado",
        conteudo: dict[str, object] | None = None,
        texto: str = "Liguei para o órgão e a vistoria ficou marcada.",
        event_id: UUID | None = None,
        **extra: object,
    ) -> UUID:
        payload: dict[str, object] = {
            "conselheiro_id": str(conselheiro),
            "demanda_id": str(demanda),
            "unidade_civica_id": str(UUID(int=7)),
            "tipo": tipo,
            "texto_bruto": texto,
            "texto_estruturado": texto,
            "conteudo_estruturado": CONTEUDOS.get(tipo, {}) if conteudo is None else conteudo,
            "timestamp": self.agora(),
        } | extra
        return self.publicar("conselheiro.atualização_registrada", payload, "D-1a", "1.1.0", event_id)

    def concluir(self, demanda: UUID, conselheiro: UUID, texto: str = "Serviço concluído.", **conteudo: object) -> UUID:
        return self.atualizar(demanda, conselheiro, "status_atualizado", {"novo_status": "concluido"} | conteudo, texto)

    def agora(self) -> str:
        return str(self.um("SELECT core.iso(core.agora())"))

    def eventos(self, tipo: str | None = None, demanda: UUID | None = None) -> list[dict[str, Any]]:
        """Eventos publicados, em ordem."""
        return self.linhas(
            "SELECT * FROM core.event_log WHERE coalesce(tipo = %s, true) AND coalesce(chave = %s::text, true)"
            " ORDER BY sequence_number",
            tipo,
            str(demanda) if demanda else None,
        )

    def tipos(self, demanda: UUID, origem: str = "D-6b") -> list[str]:
        """Tipos publicados pela colônia sobre a demanda, em ordem."""
        return [evento["tipo"] for evento in self.eventos(demanda=demanda) if evento["origem"] == origem]

    def acompanhamentos(self, demanda: UUID) -> list[dict[str, Any]]:
        return self.linhas("SELECT * FROM d6b.acompanhamentos WHERE demanda_id = %s ORDER BY criado_em, id", demanda)

    def acompanhamento(self, demanda: UUID) -> dict[str, Any]:
        """O único acompanhamento da demanda."""
        (unico,) = self.acompanhamentos(demanda)
        return unico

    def ocorrencias(self, event_id: UUID | None = None) -> list[dict[str, Any]]:
        return self.linhas("SELECT * FROM core.ocorrencias WHERE coalesce(event_id = %s, true) ORDER BY id", event_id)

    def processado(self, event_id: UUID) -> bool:
        return bool(self.um("SELECT EXISTS (SELECT FROM d6b.processed_events WHERE event_id = %s)", event_id))

    def cursor(self, tipo: str) -> int:
        return int(self.um("SELECT last_sequence FROM d6b.consumer_offset WHERE tipo_evento = %s", tipo))

    def chamar(self, handler: str, tipo: str, payload: dict[str, object], quando: datetime | None = None) -> str:
        """Chama um handler diretamente, com um evento que o Registro não viu."""
        return str(
            self.um(
                f"SELECT {handler}(ROW(9000000, gen_random_uuid(), %s, 'teste', '1.0.0', gen_random_uuid(), 'x',"
                " %s::jsonb, coalesce(%s, core.agora()), '')::core.event_log)",
                tipo,
                Jsonb(payload),
                quando,
            )
        )
