"""POST /d6b/sugerir-estruturacao (D-6b 1.5 e 4.7): não persiste e não publica nada."""

import asyncio
from collections.abc import Callable
from datetime import date
from uuid import UUID

from litestar import post
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import JSONBody, SkipValidation
from msgspec import Struct

from app.http.banco import Banco
from app.http.documentacao import SESSAO, Operacao, problemas_da_d6b
from app.http.guardas import exigir_json
from app.http.problema import CORPO_GRANDE, Falta, Recusa
from app.http.rotas.corpos import PedidoSugestao
from app.pecas.sugestao import ParametrosIa, SugestaoIa, TipoInvalido

# A maior sugestão leva centésimos de segundo: isto é o que se espera de uma máquina sem fôlego.
PRAZO_S = 5.0

Sugestor = Callable[[str, str, UUID, date, ParametrosIa], SugestaoIa]


class ContextoSugestao(Struct, frozen=True):
    """O que a sugestão precisa saber de fora."""

    hoje: date
    ia: ParametrosIa


async def contexto_da_sugestao(banco: NamedDependency[Banco]) -> ContextoSugestao:
    """O dia civil e os parâmetros de IA, lidos a cada pedido: o dia tem de vir do banco de todo modo (fuso e relógio
    são dele), e na mesma consulta os parâmetros vêm de graça, sem cache que envelheça."""
    hoje, habilitada, score = await banco.linha(
        """
        SELECT core.dia_civico(core.agora()),
               (core.parametro('ia_habilitada'))::boolean,
               (core.parametro('ia_score_fallback'))::float8
        """
    )
    return ContextoSugestao(hoje, ParametrosIa(ia_habilitada=habilitada, ia_score_fallback=score))


@post(
    "/sugerir-estruturacao",
    operation_id="sugerirEstruturacao",
    summary="Sugere como estruturar um relato",
    description=(
        "Título, texto e campos extraídos do relato por heurística, para o conselheiro rever. Não persiste nem publica "
        "nada. Até 10 pedidos por minuto."
    ),
    tags=["Conselheiro"],
    guards=[exigir_json],
    opt={"limite_por_minuto": 10},
    security=[{SESSAO: []}],
    operation_class=Operacao,
    responses={
        201: ResponseSpec(
            SugestaoIa,
            description="A sugestão",
            generate_examples=False,
            examples=[
                Example(
                    value={
                        "titulo_sugerido": "Protocolei o pedido na Sanasa, protocolo 2026/004512",
                        "texto_sugerido": "Protocolei o pedido na Sanasa, protocolo 2026/004512. Prometeram vistoria "
                        "até 30/11/2026.",
                        "campos_estruturados": {"protocolo_numero": "2026/004512"},
                        "score_confianca": 0.5,
                    }
                )
            ],
        ),
        **problemas_da_d6b(
            {
                400: (Falta("textoBruto", "não pode ser vazio"), Falta("corpo", "não é JSON válido")),
                413: CORPO_GRANDE,
                415: "O corpo deve ser application/json.",
                429: "O limite é de 10 pedidos por minuto. Volte em 42 s.",
            }
        ),
    },
)
async def sugerir_estruturacao(
    data: JSONBody[PedidoSugestao],
    contexto: NamedDependency[ContextoSugestao],
    sugestor: NamedDependency[SkipValidation[Sugestor]],
) -> SugestaoIa:
    """Pede a sugestão à peça, fora do laço de eventos."""
    try:
        async with asyncio.timeout(PRAZO_S):
            return await asyncio.to_thread(
                sugestor, data.texto_bruto, data.tipo_atualizacao, data.demanda_id, contexto.hoje, contexto.ia
            )
    except TimeoutError:
        raise Recusa(503, "A sugestão demorou demais. Tente de novo em instantes.", {"Retry-After": "5"}) from None
    except TipoInvalido as erro:
        raise Recusa(400, str(erro), faltas=[Falta("tipoAtualizacao", "não é um tipo de atualização")]) from None
