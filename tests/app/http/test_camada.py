"""O que acompanha toda resposta: cabeçalhos, identificador, CORS e a linha de log."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import httpx
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from structlog.testing import capture_logs

from app.ajustes import Ajustes, ErroAjuste, ler
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt
from tests.app.http.apoio import ACOMPANHAMENTO, SUGERIR, pedido
from tests.app.http.processos import no_ar

ORIGEM = "https://app.formigueiro.org"


@pytest.fixture
def com_cors(dsn_comum: str, chave: ChaveJwt) -> TestClient[Litestar]:
    return TestClient(criar_app(Ajustes(formigueiro_cors_origens=f"{ORIGEM}, http://localhost:5173"), dsn_comum, chave))


@pytest.mark.parametrize("caminho", ["/healthz", "/nada", "/schema", ACOMPANHAMENTO])
def test_toda_resposta_tem_os_cabecalhos_de_seguranca(cliente_comum: TestClient[Litestar], caminho: str) -> None:
    cabecalhos = cliente_comum.get(caminho).headers
    assert cabecalhos["x-content-type-options"] == "nosniff"
    assert cabecalhos["x-frame-options"] == "DENY"
    assert cabecalhos["referrer-policy"] == "no-referrer"
    assert cabecalhos["cache-control"] == "no-store"
    assert cabecalhos["content-security-policy"].startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in cabecalhos["content-security-policy"]
    assert UUID(cabecalhos["x-request-id"])


def test_sem_configuracao_nao_ha_cors(cliente_comum: TestClient[Litestar]) -> None:
    for resposta in (
        cliente_comum.get("/healthz", headers={"Origin": ORIGEM}),
        cliente_comum.options("/healthz", headers={"Origin": ORIGEM, "Access-Control-Request-Method": "GET"}),
    ):
        assert not [nome for nome in resposta.headers if nome.startswith("access-control")]


def test_origem_configurada_recebe_cors_ate_no_erro(com_cors: TestClient[Litestar]) -> None:
    resposta = com_cors.get(ACOMPANHAMENTO, headers={"Origin": ORIGEM})
    assert resposta.status_code == 401
    assert resposta.headers["access-control-allow-origin"] == ORIGEM
    assert "Retry-After" in resposta.headers["access-control-expose-headers"]
    assert resposta.headers["vary"] == "Origin"


def test_consulta_de_origem_configurada_dispensa_sessao(com_cors: TestClient[Litestar]) -> None:
    consulta = {
        "Origin": ORIGEM,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    resposta = com_cors.options(SUGERIR, headers=consulta)
    assert resposta.status_code == 204
    assert resposta.headers["access-control-allow-origin"] == ORIGEM
    assert resposta.headers["access-control-allow-headers"] == "Authorization, Content-Type"
    assert resposta.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("origem", ["https://outra.org", "null", f"{ORIGEM}.mal.org", ORIGEM.upper()])
def test_outra_origem_nao_recebe_cors(com_cors: TestClient[Litestar], origem: str) -> None:
    for resposta in (
        com_cors.get("/healthz", headers={"Origin": origem}),
        com_cors.options("/healthz", headers={"Origin": origem, "Access-Control-Request-Method": "GET"}),
    ):
        assert resposta.status_code < 300
        assert not [nome for nome in resposta.headers if nome.startswith("access-control")]
        assert resposta.headers["vary"] == "Origin"


@pytest.mark.parametrize("origens", ["*", "app.org", "https://app.org/", "https://ok.org,https://a b", "null"])
def test_origem_malformada_impede_de_subir(origens: str) -> None:
    with pytest.raises(ErroAjuste, match="FORMIGUEIRO_CORS_ORIGENS"):
        ler({"FORMIGUEIRO_CORS_ORIGENS": origens})


def test_a_linha_de_log_diz_quem_onde_e_quanto_e_nunca_o_corpo(
    cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str], cidadao: UUID
) -> None:
    with capture_logs() as linhas:
        resposta = cliente_comum.post(SUGERIR, json=pedido(textoBruto="segredo do relato"), headers=cabecalhos)
    (linha,) = linhas
    assert linha.pop("duracao_ms") > 0
    assert linha == {
        "event": "requisição",
        "log_level": "info",
        "metodo": "POST",
        "rota": SUGERIR,
        "status": 201,
        "conselheiro_id": str(cidadao),
        "requisicao_id": resposta.headers["x-request-id"],
    }


def test_o_endereco_pedido_nao_vai_para_o_log(cliente_comum: TestClient[Litestar]) -> None:
    with capture_logs() as linhas:
        cliente_comum.get("/nada/maria@exemplo.org?cpf=12345678901")
    assert [linha["rota"] for linha in linhas] == ["desconhecida"]
    assert "maria" not in str(linhas)


def test_o_processo_so_escreve_linhas_json_sem_corpos_nem_tokens(
    dsn_comum: str, cabecalhos: dict[str, str], tmp_path: Path
) -> None:
    with no_ar(dsn_comum, 1, tmp_path) as (cliente,):
        cliente.post(SUGERIR, json=pedido(textoBruto="segredo do relato"), headers=cabecalhos)
        resposta = cliente.get("/nada")
        assert "server" not in resposta.headers
        with pytest.raises(httpx.HTTPError):  # um corpo que se interrompe
            cliente.post(SUGERIR, content=_interrompido(), headers=cabecalhos | {"Content-Type": "application/json"})
    log = (tmp_path / "0.log").read_text()
    linhas = [json.loads(linha) for linha in log.splitlines()]
    assert {"quando", "level", "logger", "mensagem"} <= set.intersection(*(set(linha) for linha in linhas))
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+Z", linha["quando"]) for linha in linhas)
    assert "segredo do relato" not in log
    assert cabecalhos["Authorization"].split()[1] not in log
    assert not [linha for linha in linhas if linha["level"] == "error"]


def _interrompido() -> Iterator[bytes]:
    yield b'{"textoBruto": '
    raise httpx.WriteError("a rede caiu")
