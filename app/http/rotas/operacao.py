"""Saúde, prontidão e métricas: para o orquestrador e o Prometheus, sem sessão e sem limite."""

from collections.abc import Callable, Sequence
from typing import Annotated, Literal

import psycopg
from litestar import MediaType, Response, Router, get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import SkipValidation
from msgspec import Meta, Struct

from app.http.banco import Banco
from app.http.documentacao import Operacao, problemas
from app.http.metricas import Coletor, Metricas
from app.http.problema import SEM_BANCO, Recusa
from app.http.prontidao import EM_RECUPERACAO, Retrato, retratar

FORMATO = "text/plain; version=0.0.4"  # o Litestar acrescenta o charset

_PRONTO = {
    "status": "pronto",
    "retrato": {
        "migracoes_ausentes": [],
        "colonias": [
            {
                "colonia": "D-6b",
                "atraso_eventos": 0,
                "atraso_segundos": 0,
                "horizonte_retido_segundos": 0,
                "dlq_pendente": 0,
                "dlq_em_espera": 0,
            }
        ],
        "filas": [{"colonia": "D-6b", "pendentes": 0, "segundos": 0}],
        "em_recuperacao": False,
        "filas_crescentes": [],
    },
}

# Devolve o motivo de não estar pronto, ou None.
Verificacao = Callable[[], str | None]


class Saude(Struct, frozen=True):
    """O processo responde."""

    status: Literal["vivo"] = "vivo"


class Pronto(Struct, frozen=True):
    """O processo pode atender."""

    retrato: Annotated[Retrato, Meta(description="O que se viu no banco")]
    status: Literal["pronto"] = "pronto"


class AtrasoMaximo(Struct, frozen=True):
    """Quanto a leitura do barramento pode atrasar sem que o app deixe de estar pronto."""

    segundos: float


@get(
    "/healthz",
    operation_id="saude",
    summary="O processo está vivo",
    description="Não olha o banco: reiniciar o processo não o traria de volta.",
    tags=["Operação"],
    responses={
        200: ResponseSpec(
            Saude, description="Vivo", generate_examples=False, examples=[Example(value={"status": "vivo"})]
        )
    },
)
async def saude() -> Saude:
    """Sempre viva."""
    return Saude()


@get(
    "/readyz",
    operation_id="prontidao",
    summary="O processo pode atender",
    description="Banco alcançável e migrado, leitura do barramento e publicação de textos em dia.",
    tags=["Operação"],
    operation_class=Operacao,
    responses={
        200: ResponseSpec(Pronto, description="Pronto", generate_examples=False, examples=[Example(value=_PRONTO)]),
        **problemas(
            {
                503: (
                    "Falta a migração core_0005_limites_http: rode migrar.",
                    "A D-6b está 412 s atrasada na leitura do barramento.",
                    EM_RECUPERACAO,
                    SEM_BANCO,
                )
            }
        ),
    },
)
async def prontidao(
    banco: NamedDependency[Banco],
    atraso_maximo: NamedDependency[AtrasoMaximo],
    verificacoes: NamedDependency[SkipValidation[Sequence[Verificacao]]],
) -> Pronto:
    """503 com os motivos, se há algum."""
    try:
        retrato = await retratar(banco)
    except (psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedFunction):
        raise Recusa(503, "O banco não está migrado: rode migrar.") from None
    motivos = retrato.motivos(atraso_maximo.segundos)
    motivos += [motivo for verificar in verificacoes if (motivo := verificar())]
    if motivos:
        raise Recusa(503, " ".join(motivos))
    return Pronto(retrato)


@get(
    "/metrics",
    operation_id="metricas",
    summary="Métricas em formato Prometheus",
    description="Com o banco fora de alcance, só as do processo, as do HTTP e `formigueiro_banco_disponivel 0`.",
    tags=["Operação"],
    media_type=MediaType.TEXT,
    responses={
        200: ResponseSpec(
            str,
            description="As métricas",
            media_type=MediaType.TEXT,
            generate_examples=False,
            examples=[
                Example(
                    value="# HELP formigueiro_banco_disponivel 1 se o servidor do banco respondeu a esta coleta.\n"
                    "# TYPE formigueiro_banco_disponivel gauge\n"
                    "formigueiro_banco_disponivel 1.0\n"
                )
            ],
        )
    },
)
async def metricas(coletor: NamedDependency[Coletor], medidor: NamedDependency[Metricas]) -> Response[bytes]:
    """Uma coleta."""
    return Response(medidor.texto(await coletor.coletar()), media_type=FORMATO)


rotas_de_operacao = Router("/", route_handlers=[saude, prontidao, metricas])
