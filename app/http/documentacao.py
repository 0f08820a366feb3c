"""O documento OpenAPI: apresentação, sessão, e os problemas que cada rota pode responder."""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from litestar import Response, Router
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.datastructures import ResponseSpec
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import (
    Components,
    Example,
    OpenAPIHeader,
    OpenAPIResponse,
    OpenAPIType,
    Operation,
    Schema,
    SecurityScheme,
    Tag,
)

from app.banco.recursos import RAIZ
from app.http.pagina import ESTILO_PERMITIDO, Pagina
from app.http.problema import (
    CAMPOS_INVALIDOS,
    CORPO_ILEGIVEL,
    DEFEITO,
    NADA_AQUI,
    SEM_BANCO,
    TIPO_DE_MIDIA,
    TITULOS,
    Falta,
    Problema,
    Recusa,
)

SESSAO = "sessaoGoogle"
SESSAO_RECUSADA = (
    "É preciso um token de sessão Google no cabeçalho Authorization.",
    "O token expirou.",
    "O token não é válido.",
    "A sessão não é do Google.",
)
_REQUISICAO = "0b8f6a52-3a1e-4f0a-9a53-1f6f0e2f7c11"
_CABECALHOS = {
    "401": ("WWW-Authenticate", OpenAPIType.STRING, 'Bearer; com error="invalid_token" se o token veio e não vale'),
    "429": ("Retry-After", OpenAPIType.INTEGER, "Segundos até caber outro pedido"),
    "503": ("Retry-After", OpenAPIType.INTEGER, "Segundos até valer a pena tentar de novo"),
}
_SITUACOES = {
    400: "Algum campo falta ou está errado; `erros` os nomeia",
    401: "Sem sessão Google válida",
    403: "O cidadão não pode fazer isto",
    404: "Não existe",
    409: "O estado atual não permite",
    413: "O corpo é grande demais",
    415: "O corpo não é application/json",
    429: "O limite por minuto da rota acabou; `Retry-After` diz quando volta",
    500: "Defeito nosso, registrado sob `instance`",
    503: "O banco de dados está fora de alcance",
}


Exemplo = str | Falta
"""O `detail` de um problema, ou a falta que ele nomeia."""


@dataclass
class Operacao(Operation):
    """Operação cujos erros trazem também os cabeçalhos, que ResponseSpec não sabe descrever."""

    def __post_init__(self) -> None:
        for status, (nome, tipo, descricao) in _CABECALHOS.items():
            resposta = (self.responses or {}).get(status)
            if isinstance(resposta, OpenAPIResponse):
                resposta.headers = {nome: OpenAPIHeader(description=descricao, schema=Schema(type=tipo))}


def problemas_da_d6b(exemplos: Mapping[int, Exemplo | tuple[Exemplo, ...]]) -> dict[int, ResponseSpec]:
    """As respostas de erro de uma rota da D-6b: as suas e as que toda rota com banco pode dar."""
    return problemas({**exemplos, 401: SESSAO_RECUSADA, 500: DEFEITO, 503: SEM_BANCO})


def problemas(exemplos: Mapping[int, Exemplo | tuple[Exemplo, ...]]) -> dict[int, ResponseSpec]:
    """Respostas de erro: por status, um exemplo ou vários."""
    return {
        status: ResponseSpec(
            Problema,
            description=_SITUACOES[status],
            media_type=TIPO_DE_MIDIA,
            examples=[Example(value=corpo) for corpo in _corpos(status, varios)],
            generate_examples=False,
        )
        for status, varios in exemplos.items()
    }


def _corpos(status: int, exemplos: Exemplo | tuple[Exemplo, ...]) -> Iterator[dict[str, object]]:
    for exemplo in exemplos if isinstance(exemplos, tuple) else (exemplos,):
        corpo: dict[str, object] = {"type": "about:blank", "title": TITULOS[status], "status": status}
        if isinstance(exemplo, str):
            corpo["detail"] = exemplo
        else:
            corpo["detail"] = CORPO_ILEGIVEL if exemplo.campo == "corpo" else CAMPOS_INVALIDOS
            corpo["erros"] = [{"campo": exemplo.campo, "mensagem": exemplo.mensagem}]
        yield {**corpo, "instance": f"urn:uuid:{_REQUISICAO}"}


def configuracao_openapi() -> OpenAPIConfig:
    """OpenAPI em /schema/openapi.json e a página, que não busca nada fora, em /schema."""
    return OpenAPIConfig(
        title="Formigueiro: D-6b, Relatoria e Acompanhamento",
        version=_versao(),
        summary="A API do conselheiro",
        description=(
            "O que o app do conselheiro chama diretamente: a sugestão de estruturação de um relato, o acompanhamento "
            "ativo e a ratificação de uma conclusão coletiva. Todo erro é um problema da RFC 9457, em português. Os "
            "limites são por cidadão e por rota."
        ),
        components=Components(
            security_schemes={
                SESSAO: SecurityScheme(
                    type="http",
                    scheme="bearer",
                    bearer_format="JWT",
                    description='JWT com `exp`, `auth_provider` igual a "google" e `cidadao_id` (UUID).',
                )
            }
        ),
        tags=[
            Tag("Conselheiro", "As três rotas da D-6b"),
            Tag("Operação", "Saúde e métricas do processo"),
        ],
        path="/schema",
        render_plugins=[Pagina(path="/"), JsonRenderPlugin()],
        openapi_router=Router(
            "/schema",
            route_handlers=[],
            include_in_schema=False,
            after_request=_recusar_desconhecido,
            response_headers={
                "Content-Security-Policy": (
                    f"default-src 'none'; style-src {ESTILO_PERMITIDO}; base-uri 'none'; form-action 'none'; "
                    "frame-ancestors 'none'"
                )
            },
        ),
        use_handler_docstrings=False,
    )


def _recusar_desconhecido(resposta: Response[object]) -> Response[object]:
    """O Litestar responde em HTML, por conta própria, a um endereço desconhecido abaixo de /schema."""
    if resposta.status_code == 404:
        raise Recusa(404, NADA_AQUI)
    return resposta


def _versao() -> str:
    try:
        return version("formigueiro")
    except PackageNotFoundError:  # no clone ou na imagem, sem instalar
        arquivo = RAIZ / "pyproject.toml"
        if not arquivo.exists():
            return "0"
        return str(tomllib.loads(arquivo.read_text(encoding="utf-8"))["project"]["version"])
