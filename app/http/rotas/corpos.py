"""Corpos de pedido e de resposta das rotas da D-6b."""

from datetime import date
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta, Struct

from app.http.limites import TEXTO_MAXIMO

SEM_NULO = r"^[^\u0000]*$"  # o barramento não o leva: o jsonb o recusa


class PedidoSugestao(Struct, frozen=True, rename="camel"):
    """O relato a estruturar (D-6b 4.7)."""

    texto_bruto: Annotated[
        str,
        Meta(
            min_length=1,
            max_length=TEXTO_MAXIMO,
            pattern=SEM_NULO,
            description="O relato, como o conselheiro o escreveu",
            examples=["Protocolei o pedido na Sanasa, protocolo 2026/004512. Prometeram vistoria até 30/11/2026."],
        ),
    ]
    tipo_atualizacao: Annotated[
        str,
        Meta(
            description="contato_realizado, protocolo_aberto, documento_anexado, entrave_registrado, "
            "status_atualizado ou prazo_registrado",
            examples=["protocolo_aberto"],
        ),
    ]
    demanda_id: Annotated[
        UUID, Meta(description="A demanda relatada", examples=["5f0c7c0e-6a3e-4f3b-9a44-5f6f2f1a9b10"])
    ]


class Acompanhamento(Struct, frozen=True):
    """O ciclo ativo do conselheiro."""

    id: UUID
    demanda_id: UUID
    conselheiro_id: UUID
    unidade_civica_id: UUID
    status: Literal["aguardando_inicio", "em_andamento"]
    data_sorteio: str
    data_inicio: Annotated[str | None, Meta(description="Da primeira atualização; nulo antes dela")]
    total_atualizacoes: int
    texto_resumo_ciclo: Annotated[str | None, Meta(description="Resumo público do ciclo, resumo_v1")]
    pendencia_conclusao: Annotated[
        dict[str, Any] | None, Meta(description="{conclusao_id, total_conclusoes, data} se há conclusão a ratificar")
    ]
    criado_em: str
    atualizado_em: str


class Prazo(Struct, frozen=True):
    """Um prazo do ciclo."""

    id: UUID
    data_estimada: date
    descricao: str | None
    status: Literal["vigente", "vencido", "cumprido", "substituido"]
    alerta_enviado: bool
    data_alerta: str | None
    criado_em: str


class Atualizacao(Struct, frozen=True):
    """Uma atualização do ciclo."""

    id: UUID
    tipo: str
    status: Literal["publicada", "aguardando_transcricao", "falha_transcricao"]
    texto_estruturado: str
    conteudo_estruturado: Annotated[
        dict[str, Any], Meta(description="Campos do tipo; de áudio, também a marca e a confiança da transcrição")
    ]
    sequencia: int
    texto_bruto: str
    origem_estruturacao: str
    criado_em: str


class AcompanhamentoConselheiro(Struct, frozen=True):
    """O acompanhamento ativo, como o banco o monta: o app o repassa sem ler."""

    acompanhamento: Annotated[Acompanhamento | None, Meta(description="Nulo se não há ciclo ativo")]
    prazos: Annotated[list[Prazo], Meta(description="Todos os do ciclo")]
    atualizacoes: Annotated[list[Atualizacao], Meta(description="As 50 últimas, da mais nova à mais antiga")]


class Ratificacao(Struct, frozen=True):
    """A demanda que a ratificação concluiu."""

    demanda_id: UUID
    status: Literal["concluida"]
