"""POST /d6b/demandas/{demanda_id}/ratificar-conclusao (D-6b 3.16)."""

from typing import Annotated
from uuid import UUID

from litestar import MediaType, Response, post
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example
from litestar.params import PathParameter

from app.http.banco import Banco
from app.http.documentacao import SESSAO, Operacao, problemas_da_d6b
from app.http.problema import CAMPOS_INVALIDOS, Falta, Recusa
from app.http.rotas.corpos import Ratificacao

_EXEMPLO = "5f0c7c0e-6a3e-4f3b-9a44-5f6f2f1a9b10"


def demanda_do_endereco(
    demanda_id: Annotated[
        str,
        PathParameter(
            description="A demanda, um UUID versão 4",
            examples=[Example(value=_EXEMPLO)],
            schema_extra={"format": "uuid", "examples": [_EXEMPLO]},
        ),
    ],
) -> UUID:
    """A especificação só aceita UUID versão 4 na forma canônica (ParseUUIDPipe)."""
    try:
        demanda = UUID(demanda_id)
    except ValueError:
        demanda = None
    if demanda is None or demanda.version != 4 or str(demanda) != demanda_id.lower():
        raise Recusa(400, CAMPOS_INVALIDOS, faltas=[Falta("demanda_id", "deve ser um UUID versão 4")])
    return demanda


@post(
    "/demandas/{demanda_id:str}/ratificar-conclusao",
    operation_id="ratificarConclusao",
    summary="Ratifica a conclusão confirmada pela comunidade",
    description=(
        "Conclui a demanda cuja conclusão coletiva aguarda o conselheiro, pelo mesmo fluxo de uma conclusão normal. "
        "Até 5 pedidos por minuto."
    ),
    tags=["Conselheiro"],
    opt={"limite_por_minuto": 5},
    security=[{SESSAO: []}],
    operation_class=Operacao,
    responses={
        201: ResponseSpec(
            Ratificacao,
            description="Ratificada, e a demanda concluída",
            generate_examples=False,
            examples=[Example(value={"demanda_id": _EXEMPLO, "status": "concluida"})],
        ),
        **problemas_da_d6b(
            {
                400: Falta("demanda_id", "deve ser um UUID versão 4"),
                403: "Apenas o conselheiro do acompanhamento pode ratificar",
                404: "Acompanhamento ativo não encontrado para a demanda",
                409: (
                    "Demanda sem pendência de conclusão",
                    "Há um relato desta demanda por processar; tente de novo mais tarde",
                ),
                429: "O limite é de 5 pedidos por minuto. Volte em 58 s.",
            }
        ),
    },
)
async def ratificar_conclusao(
    banco: NamedDependency[Banco], demanda: NamedDependency[UUID], conselheiro_id: NamedDependency[UUID]
) -> Response[bytes]:
    """Chama d6b.ratificar_conclusao, cujas recusas (FM403, FM404, FM409) viram os status."""
    (corpo,) = await banco.linha("SELECT d6b.ratificar_conclusao(%s, %s)", [demanda, conselheiro_id])
    return Response(corpo, media_type=MediaType.JSON)
