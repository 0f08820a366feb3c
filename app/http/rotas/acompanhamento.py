"""GET /d6b/conselheiros/me/acompanhamento (D-6b 1.5): o JSON que o banco monta, repassado sem ler."""

from uuid import UUID

from litestar import MediaType, Response, get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec

from app.http.banco import Banco
from app.http.documentacao import SESSAO, Operacao, problemas_da_d6b
from app.http.rotas.corpos import AcompanhamentoConselheiro


@get(
    "/conselheiros/me/acompanhamento",
    operation_id="obterAcompanhamento",
    summary="O acompanhamento ativo do conselheiro",
    description=(
        "O ciclo ativo de sorteio mais recente, todos os seus prazos e suas 50 últimas atualizações. Sem ciclo ativo, "
        "`acompanhamento` é nulo e as listas vêm vazias. Até 60 pedidos por minuto."
    ),
    tags=["Conselheiro"],
    opt={"limite_por_minuto": 60},
    security=[{SESSAO: []}],
    operation_class=Operacao,
    responses={
        200: ResponseSpec(AcompanhamentoConselheiro, description="O acompanhamento", generate_examples=False),
        **problemas_da_d6b(
            {
                401: "É preciso um token de sessão Google no cabeçalho Authorization.",
                429: "O limite é de 60 pedidos por minuto. Volte em 3 s.",
            }
        ),
    },
)
async def obter_acompanhamento(banco: NamedDependency[Banco], conselheiro_id: NamedDependency[UUID]) -> Response[bytes]:
    """Repassa d6b.acompanhamento_conselheiro."""
    (corpo,) = await banco.linha("SELECT d6b.acompanhamento_conselheiro(%s)", [conselheiro_id])
    return Response(corpo, media_type=MediaType.JSON)
