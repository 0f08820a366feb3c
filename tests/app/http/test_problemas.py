"""Todo erro é um problema da RFC 9457, em português, venha de onde vier."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from litestar import Litestar, get
from litestar.exceptions import HTTPException
from litestar.testing import TestClient
from psycopg_pool import PoolTimeout
from structlog.testing import capture_logs

from app.ajustes import Ajustes
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt
from tests.apoio.espera import ate
from tests.app.http.apoio import SUGERIR, pedido, problema
from tests.app.http.conftest import AJUSTES


@pytest.mark.parametrize(
    "caminho", ["/", "/nada", "/d6b", "/d6b/", "/schema/nada", "/d6b/demandas//ratificar-conclusao"]
)
def test_endereco_desconhecido_e_404(cliente_comum: TestClient[Litestar], caminho: str) -> None:
    assert problema(cliente_comum.get(caminho), 404)["detail"] == "Não há nada neste endereço."


@pytest.mark.parametrize(
    ("metodo", "caminho", "aceitos"),
    [
        ("GET", SUGERIR, "OPTIONS, POST"),
        ("DELETE", "/d6b/conselheiros/me/acompanhamento", "GET, OPTIONS"),
        ("PUT", "/d6b/demandas/123/ratificar-conclusao", "OPTIONS, POST"),
        ("POST", "/healthz", "GET, OPTIONS"),
        ("FORMIGA", "/schema/openapi.json", "GET, OPTIONS"),
    ],
)
def test_metodo_errado_e_405_e_diz_quais_valem(
    cliente_comum: TestClient[Litestar], metodo: str, caminho: str, aceitos: str
) -> None:
    resposta = cliente_comum.request(metodo, caminho)
    assert problema(resposta, 405)["title"] == "Método não permitido"
    assert resposta.headers["allow"] == aceitos


def test_host_invalido_e_400(cliente_comum: TestClient[Litestar]) -> None:
    assert problema(cliente_comum.get("/healthz", headers={"Host": "a b"}), 400)["detail"] == (
        "A requisição está malformada."
    )


@pytest.fixture
def falhas(dsn_comum: str, chave: ChaveJwt) -> Iterator[tuple[TestClient[Litestar], list[BaseException | Any]]]:
    """Um app com a rota /falhar, que levanta o que se puser na lista."""
    por_levantar: list[Any] = []

    @get("/falhar", sync_to_thread=False)
    def falhar() -> None:
        raise por_levantar[0]

    app = criar_app(AJUSTES, dsn_comum, chave)
    app.register(falhar)
    with TestClient(app) as cliente:
        yield cliente, por_levantar


def test_defeito_nosso_e_500_sem_rastro_e_vai_para_o_log(
    falhas: tuple[TestClient[Litestar], list[Any]],
) -> None:
    cliente, por_levantar = falhas
    por_levantar.append(ZeroDivisionError("segredo interno"))
    with capture_logs() as linhas:
        resposta = cliente.get("/falhar")
    corpo = problema(resposta, 500)
    assert corpo["title"] == "Erro interno"
    assert "segredo" not in resposta.text
    assert "Traceback" not in resposta.text
    (erro,) = [linha for linha in linhas if linha["log_level"] == "error"]
    assert erro["event"] == "erro não tratado"
    assert erro["exc_info"] is por_levantar[0]
    assert corpo["instance"].endswith(erro["requisicao_id"])


@pytest.mark.parametrize(
    ("erro", "status"),
    [
        (psycopg.OperationalError("connection refused"), 503),
        (PoolTimeout("sem conexão"), 503),
        (TimeoutError(), 503),
        (psycopg.errors.AdminShutdown(), 503),
        (psycopg.errors.CrashShutdown(), 503),
        (psycopg.errors.CannotConnectNow(), 503),
        (psycopg.errors.TooManyConnections(), 503),
        (psycopg.errors.QueryCanceled(), 503),
        (psycopg.errors.ReadOnlySqlTransaction(), 503),
        (psycopg.errors.SerializationFailure(), 503),
        (psycopg.errors.DeadlockDetected(), 503),
        (psycopg.errors.LockNotAvailable(), 503),
        (psycopg.errors.ConnectionFailure(), 503),
        (psycopg.errors.UndefinedFunction(), 500),
        (psycopg.errors.InsufficientPrivilege(), 500),
        (psycopg.errors.UniqueViolation(), 500),
        (psycopg.InterfaceError("uso errado"), 500),
        (HTTPException(status_code=502), 500),
        (HTTPException(detail="in English, please", status_code=418), 418),
        (RuntimeError(), 500),
    ],
    ids=lambda valor: type(valor).__name__ if isinstance(valor, Exception) else str(valor),
)
def test_excecao_vira_status(falhas: tuple[TestClient[Litestar], list[Any]], erro: Exception, status: int) -> None:
    cliente, por_levantar = falhas
    por_levantar.append(erro)
    resposta = cliente.get("/falhar")
    corpo = problema(resposta, status)
    assert "English" not in corpo["detail"]
    assert ("retry-after" in resposta.headers) == (status == 503)


def test_sqlstate_do_banco_vira_status_com_a_mensagem_dele(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], bd: psycopg.Connection[Any]
) -> None:
    esperados = {"FM400": 400, "FM403": 403, "FM404": 404, "FM409": 409, "FM422": 422, "FM503": 503, "FM200": 500,
                 "FM500": 500, "P0001": 500}  # fmt: skip
    for sqlstate, status in esperados.items():
        bd.execute(
            f"""
            CREATE OR REPLACE FUNCTION d6b.acompanhamento_conselheiro(p_conselheiro_id uuid) RETURNS jsonb
            LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'Mensagem do banco' USING ERRCODE = '{sqlstate}', DETAIL = 'detalhe interno';
            END
            $$
            """
        )
        resposta = cliente.get("/d6b/conselheiros/me/acompanhamento", headers=cabecalhos)
        assert (problema(resposta, status)["detail"] == "Mensagem do banco") == (status != 500)
        assert "detalhe interno" not in resposta.text


def test_consulta_que_demora_e_503_cancelada_no_banco_e_o_app_segue(
    dsn_app: str, chave: ChaveJwt, cabecalhos: dict[str, str], bd: psycopg.Connection[Any]
) -> None:
    bd.execute(
        """
        CREATE OR REPLACE FUNCTION d6b.acompanhamento_conselheiro(p_conselheiro_id uuid) RETURNS jsonb
        LANGUAGE sql AS $$ SELECT to_jsonb(pg_sleep(60)::text) $$
        """
    )
    ajustes = Ajustes(formigueiro_espera_banco_s=2, formigueiro_conexoes_http=1)
    with TestClient(criar_app(ajustes, dsn_app, chave)) as cliente:
        for _ in range(3):  # mais vezes do que há conexões: nenhuma fica presa
            problema(cliente.get("/d6b/conselheiros/me/acompanhamento", headers=cabecalhos), 503)
        ativas = (
            "SELECT FROM pg_stat_activity WHERE query LIKE '%acompanhamento_c%' AND state = 'active'"
            " AND datname = current_database() AND pid <> pg_backend_pid()"
        )
        ate(lambda: bd.execute(ativas).rowcount == 0, o_que="as consultas serem canceladas")
        assert cliente.post(SUGERIR, json=pedido(), headers=cabecalhos).status_code == 201
