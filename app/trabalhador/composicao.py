"""Das linhas reservadas da fila aos textos prontos: aqui, e só aqui, as peças de Python encontram o banco."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from msgspec import Struct

from app.pecas import resumo
from app.pecas.caminho import extrair_caminho
from app.pecas.denylist import Denylist
from app.pecas.descricao import descrever

# Mais que o maior texto de uma atualização (10.000) com todos os de seu conteúdo (5.120 bytes): só passa o que entrou
# antes de haver limite na transcrição. O tempo de compor é o do que se lê, e o que não se leu não se dá por limpo.
LIMITE_DO_EXAME = 20_000
SEM_EXAME = "(texto longo demais para ser examinado)"


class DesfechoReservado(Struct, frozen=True):
    """O desfecho como o banco o conta: o texto da conclusão, ainda sem exame."""

    atualizacao_id: UUID
    sequencia: int
    criado_em: datetime
    texto: str


class CicloReservado(Struct, frozen=True):
    """O ciclo publicado até aqui (d6b.ciclo_publicado)."""

    data_inicio: datetime | None
    data_fim: datetime | None
    fuso: str
    atualizacoes: list[resumo.AtualizacaoDoCiclo]
    desfecho: DesfechoReservado | None


class Reservada(Struct, frozen=True):
    """Uma linha de d6b.reservar_publicacoes."""

    reserva: UUID
    especie: Literal["atualizacao", "fecho"]
    atualizacao_id: UUID
    demanda_id: UUID
    acompanhamento_id: UUID
    sequencia: int
    tipo: str
    texto: str
    conteudo: dict[str, str]
    textos: list[str]
    criado_em: datetime
    ciclo: CicloReservado


class Publicacao(Struct, frozen=True):
    """Os textos de uma atualização, prontos para d6b.publicar_atualizacao."""

    termos: list[str]
    descricao: str
    caminho: dict[str, str] | None
    resumo: resumo.Resumo


def compor_publicacao(reservada: Reservada, denylist: Denylist) -> Publicacao:
    """Termos da denylist, descrição, caminho e o resumo do ciclo já com esta atualização."""
    termos = _termos("\n".join([reservada.texto, *reservada.textos]), denylist)
    descricao = descrever(reservada.tipo, reservada.conteudo, reservada.texto[:LIMITE_DO_EXAME])
    esta = resumo.AtualizacaoDoCiclo(
        atualizacao_id=reservada.atualizacao_id,
        sequencia=reservada.sequencia,
        tipo=reservada.tipo,
        criado_em=reservada.criado_em,
        descricao=descricao,
        suspeita=bool(termos),
    )
    return Publicacao(
        termos=termos,
        descricao=descricao,
        caminho=extrair_caminho(reservada.tipo, reservada.conteudo),
        resumo=resumo.compor(_ciclo(reservada.ciclo, denylist, esta)),
    )


def compor_fecho(reservada: Reservada, denylist: Denylist) -> resumo.Resumo:
    """O resumo de fecho: o ciclo publicado e seu desfecho."""
    return resumo.compor(_ciclo(reservada.ciclo, denylist))


def _termos(texto: str, denylist: Denylist) -> list[str]:
    termos = denylist.verificar(texto[:LIMITE_DO_EXAME])
    return termos if len(texto) <= LIMITE_DO_EXAME else [*termos, SEM_EXAME]


def _ciclo(ciclo: CicloReservado, denylist: Denylist, *novas: resumo.AtualizacaoDoCiclo) -> resumo.Ciclo:
    desfecho = None
    if ciclo.desfecho is not None:
        desfecho = resumo.Desfecho(
            atualizacao_id=ciclo.desfecho.atualizacao_id,
            sequencia=ciclo.desfecho.sequencia,
            criado_em=ciclo.desfecho.criado_em,
            texto=ciclo.desfecho.texto[:LIMITE_DO_EXAME],
            suspeita=bool(_termos(ciclo.desfecho.texto, denylist)),
        )
    return resumo.Ciclo(
        data_inicio=ciclo.data_inicio,
        data_fim=ciclo.data_fim,
        fuso=ciclo.fuso,
        # Uma transcrição tardia entra em seu lugar, não no fim.
        atualizacoes=sorted([*ciclo.atualizacoes, *novas], key=lambda atualizacao: atualizacao.sequencia),
        desfecho=desfecho,
    )
