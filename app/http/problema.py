"""A forma de todo erro que o app responde (RFC 9457)."""

from typing import Annotated

import msgspec
from litestar import Response
from msgspec import UNSET, Meta, Struct, UnsetType

from app.http.limites import CORPO_MAXIMO

TIPO_DE_MIDIA = "application/problem+json"

TITULOS = {
    400: "Requisição inválida",
    401: "Não autenticado",
    403: "Acesso negado",
    404: "Não encontrado",
    405: "Método não permitido",
    408: "Requisição incompleta",
    409: "Conflito",
    413: "Corpo grande demais",
    415: "Tipo de conteúdo não aceito",
    422: "Dados recusados",
    429: "Limite de requisições atingido",
    431: "Cabeçalhos grandes demais",
    500: "Erro interno",
    501: "Não implementado",
    503: "Serviço indisponível",
}

# Detalhes que mais de um lugar diz: o que responde e o que documenta.
NADA_AQUI = "Não há nada neste endereço."
MALFORMADA = "A requisição está malformada."
CAMPOS_INVALIDOS = "Há campos inválidos."
CORPO_ILEGIVEL = "O corpo não pôde ser lido."
CORPO_GRANDE = f"O corpo passa de {CORPO_MAXIMO} bytes."
DEFEITO = "Houve um erro interno. Ele foi registrado; tente de novo mais tarde."
SEM_BANCO = "O banco de dados está fora de alcance. Tente de novo em instantes."


class Falta(Struct, frozen=True):
    """Uma falta, num campo do corpo ou do endereço."""

    campo: Annotated[str, Meta(description="Nome do campo, ou “corpo” se a falta é do todo")]
    mensagem: Annotated[str, Meta(description="O que o campo deveria ser")]


class Problema(Struct, frozen=True, kw_only=True):
    """Por que a requisição não foi atendida (RFC 9457)."""

    type: Annotated[str, Meta(description="Sempre about:blank: o status basta para distinguir")] = "about:blank"
    title: Annotated[str, Meta(description="O status, por extenso")]
    status: Annotated[int, Meta(description="O status HTTP")]
    detail: Annotated[str, Meta(description="O que houve desta vez, para quem lê")]
    instance: Annotated[str, Meta(description="Identificador desta requisição, o mesmo de X-Request-Id e do log")]
    erros: Annotated[list[Falta] | UnsetType, Meta(description="As faltas, campo a campo, se o status é 400")] = UNSET


class Recusa(Exception):
    """Um erro que a aplicação responde de propósito, com a mensagem já em português."""

    def __init__(
        self, status: int, detalhe: str, cabecalhos: dict[str, str] | None = None, faltas: list[Falta] | None = None
    ) -> None:
        super().__init__(detalhe)
        self.status = status
        self.detalhe = detalhe
        self.cabecalhos = cabecalhos or {}
        self.faltas = faltas or []


def corpo(recusa: Recusa, requisicao_id: str) -> bytes:
    """O corpo da resposta a uma recusa. É montado aqui, e nada o sobrescreve."""
    return msgspec.json.encode(
        Problema(
            title=TITULOS.get(recusa.status, "Requisição recusada"),
            status=recusa.status,
            detail=recusa.detalhe,
            instance=f"urn:uuid:{requisicao_id}",
            erros=recusa.faltas or UNSET,
        )
    )


def responder(recusa: Recusa, requisicao_id: str) -> Response[bytes]:
    """A resposta do app a uma recusa."""
    return Response(
        corpo(recusa, requisicao_id),
        status_code=recusa.status,
        media_type=TIPO_DE_MIDIA,
        headers=recusa.cabecalhos,
    )
