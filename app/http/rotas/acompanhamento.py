"""GET /d6b/conselheiros/me/acompanhamento (D-6b 1.5): o JSON que o banco monta, repassado sem ler."""

from uuid import UUID

from litestar import MediaType, Response, get
from litestar.di import NamedDependency
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.spec import Example

from app.http.banco import Banco
from app.http.documentacao import SESSAO, Operacao, problemas_da_d6b
from app.http.rotas.corpos import AcompanhamentoConselheiro

_EXEMPLO = {
    "acompanhamento": {
        "id": "0d5b7c1e-52a4-4c8e-9d0f-7b1a2c3d4e5f",
        "demanda_id": "3f0c9a52-5a55-4c1b-9d3e-0d1a2b3c4d5e",
        "conselheiro_id": "b8f7b0de-6a0b-4f0e-8c39-1f2e3d4c5b6a",
        "unidade_civica_id": "0c9a3f52-1b2c-4d5e-8f90-a1b2c3d4e5f6",
        "status": "em_andamento",
        "data_sorteio": "2026-03-02T12:00:00.000Z",
        "data_inicio": "2026-03-03T13:00:00.000Z",
        "total_atualizacoes": 1,
        "texto_resumo_ciclo": (
            "Resumo automático, montado a partir das atualizações publicadas deste acompanhamento. Ninguém o revisou: "
            "em caso de dúvida, vale o que está em cada atualização.\n\n"
            "O acompanhamento começou em 03/03/2026 e continua.\n\nAtualizações publicadas:\n"
            "- 03/03/2026: Prazo estimado: 12/03/2026, para visita da equipe. Relato: A equipe de manutenção vem até "
            "12 de março."
        ),
        "pendencia_conclusao": {
            "conclusao_id": "7d1f2a64-0b1c-4c3d-8e5f-6a7b8c9d0e1f",
            "total_conclusoes": 5,
            "data": "2026-03-11T18:00:00.000Z",
        },
        "criado_em": "2026-03-02T12:00:00.000Z",
        "atualizado_em": "2026-03-11T18:00:00.000Z",
    },
    "prazos": [
        {
            "id": "8e2f3a75-1c2d-4d4e-9f60-7b8c9d0e1f2a",
            "data_estimada": "2026-03-12",
            "descricao": "visita da equipe",
            "status": "vigente",
            "alerta_enviado": True,
            "data_alerta": "2026-03-09T13:00:00.000Z",
            "criado_em": "2026-03-03T13:00:00.000Z",
        }
    ],
    "atualizacoes": [
        {
            "id": "9f304b86-2d3e-4e5f-8071-8c9d0e1f2a3b",
            "tipo": "prazo_registrado",
            "status": "publicada",
            "texto_estruturado": "A equipe de manutenção vem até 12 de março.",
            "conteudo_estruturado": {"data_estimada": "2026-03-12", "descricao_prazo": "visita da equipe"},
            "sequencia": 1,
            "texto_bruto": "a equipe vem ate o dia 12",
            "origem_estruturacao": "conselheiro",
            "criado_em": "2026-03-03T13:00:00.000Z",
        }
    ],
}


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
        200: ResponseSpec(
            AcompanhamentoConselheiro,
            description="O acompanhamento",
            generate_examples=False,
            examples=[Example(value=_EXEMPLO)],
        ),
        **problemas_da_d6b({429: "O limite é de 60 pedidos por minuto. Volte em 3 s."}),
    },
)
async def obter_acompanhamento(banco: NamedDependency[Banco], conselheiro_id: NamedDependency[UUID]) -> Response[bytes]:
    """Repassa d6b.acompanhamento_conselheiro."""
    (corpo,) = await banco.linha("SELECT d6b.acompanhamento_conselheiro(%s)", [conselheiro_id])
    return Response(corpo, media_type=MediaType.JSON)
