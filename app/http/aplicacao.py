"""A fábrica do app HTTP: liga as peças, e nada mais."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any
from uuid import UUID

from litestar import Litestar, Request, Router
from litestar.di import Provide
from litestar.enums import ScopeType
from litestar.types import HTTPScope, LifeSpanReceive, LifeSpanScope, LifeSpanSend, Receive, Scope, Send

from app.ajustes import Ajustes
from app.http.banco import Banco
from app.http.camada import com_registro
from app.http.caminhos import Caminhos, so_canonicos
from app.http.cors import com_cors
from app.http.documentacao import configuracao_openapi
from app.http.erros import tratar
from app.http.guardas import exigir_conselheiro, limitar
from app.http.limites import CORPO_MAXIMO
from app.http.metricas import Coletor, Metricas
from app.http.rotas.acompanhamento import obter_acompanhamento
from app.http.rotas.operacao import AtrasoMaximo, Verificacao, rotas_de_operacao
from app.http.rotas.ratificacao import demanda_do_endereco, ratificar_conclusao
from app.http.rotas.sugestao import Sugestor, contexto_da_sugestao, sugerir_estruturacao
from app.http.seguranca import ChaveJwt
from app.http.tipos import AppHttp
from app.pecas.sugestao import sugerir

Vida = Callable[[Litestar], AbstractAsyncContextManager[None]]


class _App(Litestar):
    """Litestar cuja entrada HTTP passa antes por `entrada`; ver app.http.camada."""

    entrada: AppHttp

    async def __call__(
        self, scope: Scope | LifeSpanScope, receive: Receive | LifeSpanReceive, send: Send | LifeSpanSend
    ) -> None:
        if scope["type"] == ScopeType.HTTP:
            await self.entrada(scope, receive, send)  # type: ignore[arg-type]
        else:
            await super().__call__(scope, receive, send)

    async def rotear(self, scope: HTTPScope, receive: Receive, send: Send) -> None:
        await super().__call__(scope, receive, send)


def criar_app(
    ajustes: Ajustes,
    dsn: str,
    chave: ChaveJwt,
    *,
    vidas: Sequence[Vida] = (),
    verificacoes: Sequence[Verificacao] = (),
    sugestor: Sugestor = sugerir,
) -> Litestar:
    """O app, por montar conexões até que suba.

    `dsn` conecta como formigueiro_app. `vidas` são gerenciadores de contexto que vivem com o app (o trabalhador, a
    agenda): entram depois das conexões e saem antes delas. `verificacoes` somam motivos ao /readyz.
    """
    banco = Banco(dsn, "http", ajustes.formigueiro_conexoes_http, ajustes.formigueiro_espera_banco_s)
    coletor = Coletor(dsn)
    medidor = Metricas()
    app = _App(
        route_handlers=[
            Router(
                "/d6b",
                route_handlers=[sugerir_estruturacao, obter_acompanhamento, ratificar_conclusao],
                guards=[exigir_conselheiro(chave, ajustes.formigueiro_jwt_tolerancia_s), limitar(banco)],
            ),
            rotas_de_operacao,
        ],
        dependencies={
            "banco": _constante(banco),
            "medidor": _constante(medidor),
            "coletor": _constante(coletor),
            "sugestor": _constante(sugestor),
            "verificacoes": _constante(verificacoes),
            "atraso_maximo": _constante(AtrasoMaximo(ajustes.formigueiro_atraso_maximo_s)),
            "contexto": Provide(contexto_da_sugestao),
            "demanda": Provide(demanda_do_endereco, sync_to_thread=False),
            "conselheiro_id": Provide(_conselheiro, sync_to_thread=False),
        },
        lifespan=[lambda _: banco.aberto(), lambda _: coletor.aberto(), *vidas],
        exception_handlers={Exception: tratar},
        openapi_config=configuracao_openapi(),
        request_max_body_size=CORPO_MAXIMO,
        logging_config=None,
        debug=False,
    )
    interior = so_canonicos(app.rotear)
    if ajustes.origens_cors:
        interior = com_cors(interior, ajustes.origens_cors)
    app.entrada = com_registro(interior, medidor, Caminhos(app.routes))
    return app


def _conselheiro(request: Request[UUID, Any, Any]) -> UUID:
    return request.user


def _constante(valor: object) -> Provide:
    return Provide(lambda: valor, sync_to_thread=False)
