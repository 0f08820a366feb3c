"""O que chega à conexão antes de ser um pedido: malformado, ambíguo, pela metade, ou a um endereço mal escrito."""

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from app.ajustes import ErroAjuste, ler
from app.http.protocolo import CONEXOES_MAXIMAS
from tests.apoio.espera import ate
from tests.app.http.apoio import SUGERIR
from tests.app.http.processos import um

ESPERA_S = 1.0
INTEIRO = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
POST = f"POST {SUGERIR} HTTP/1.1\r\nHost: x\r\n".encode()


@pytest.fixture(scope="module")
def servico(dsn_comum: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Um processo do app que espera um segundo por um pedido inteiro."""
    log = tmp_path_factory.mktemp("protocolo") / "log"
    with um("tests.app.http.processo", [dsn_comum, str(ESPERA_S)], log) as cliente:
        yield cliente


def conectar(cliente: httpx.Client) -> socket.socket:
    return socket.create_connection(("127.0.0.1", cliente.base_url.port or 0), timeout=20)


def mandar(cliente: httpx.Client, *pedacos: bytes) -> bytes:
    """Tudo o que o servidor responde até fechar a conexão."""
    with conectar(cliente) as soquete:
        for pedaco in pedacos:
            soquete.sendall(pedaco)
        return ate_fechar(soquete)


def ate_fechar(soquete: socket.socket) -> bytes:
    recebido = b""
    while dados := soquete.recv(65536):
        recebido += dados
    return recebido


def problema_unico(recebido: bytes, status: int) -> dict[str, Any]:
    """A única resposta recebida, que há de ser um problema em português, com a conexão fechada."""
    cabeca, _, corpo = recebido.partition(b"\r\n\r\n")
    primeira, *linhas = cabeca.decode().split("\r\n")
    assert primeira.startswith(f"HTTP/1.1 {status}"), primeira
    cabecalhos = {nome.lower(): valor for nome, valor in (linha.split(": ", 1) for linha in linhas)}
    assert cabecalhos["content-type"] == "application/problem+json"
    assert cabecalhos["connection"] == "close"
    assert cabecalhos["x-content-type-options"] == "nosniff"
    problema: dict[str, Any] = json.loads(corpo)
    assert (problema["status"], problema["type"]) == (status, "about:blank")
    assert UUID(problema["instance"].removeprefix("urn:uuid:")) == UUID(cabecalhos["x-request-id"])
    return problema


@pytest.mark.parametrize(
    "ambiguo",
    [
        POST + b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST + b"transfer-encoding: chunked\r\ncontent-length: 0\r\n\r\n0\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST.replace(b"HTTP/1.1", b"HTTP/1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
    ids=["CL e TE", "TE e CL", "GET", "HTTP/1.0"],
)
def test_pedido_com_dois_tamanhos_e_400_e_o_que_vem_atras_nao_e_lido(servico: httpx.Client, ambiguo: bytes) -> None:
    """RFC 9112, 6.1: um intermediário pode ter lido outro fim."""
    assert problema_unico(mandar(servico, ambiguo + INTEIRO), 400)["title"] == "Requisição inválida"


@pytest.mark.parametrize(
    ("malformado", "status"),
    [
        (b"isto nao e http\r\n\r\n", 400),
        (b"GET /healthz\r\n\r\n", 400),
        (b"GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 64 + b"\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nsem dois pontos\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: \x00\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\x00b\r\n\r\n", 400),
        (POST + b"Content-Length: -1\r\n\r\n", 400),
        (POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
        (POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (POST + b"Transfer-Encoding: gzip\r\n\r\n", 501),
        (b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 70_000, 431),
        (b"GET /" + b"a" * 70_000, 431),
    ],
)
def test_pedido_malformado_e_um_problema_em_portugues(servico: httpx.Client, malformado: bytes, status: int) -> None:
    detalhe = problema_unico(mandar(servico, malformado), status)["detail"]
    assert detalhe.endswith(".")
    assert "Invalid" not in detalhe


def test_pedaco_invalido_com_a_resposta_ja_dada_so_fecha(servico: httpx.Client) -> None:
    """A rota respondeu sem ler o corpo (401), e o resto dele não se lê."""
    with conectar(servico) as soquete:
        soquete.sendall(POST + b"Transfer-Encoding: chunked\r\n\r\n")
        assert soquete.recv(65536).startswith(b"HTTP/1.1 401")
        soquete.sendall(b"zz\r\n")
        assert b"HTTP/1.1" not in ate_fechar(soquete)


@pytest.mark.parametrize(
    "metade",
    [
        b"G",
        b"GET /healthz HTTP/1.1\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab",
        INTEIRO + b"GET /heal",
    ],
    ids=["um byte", "linha", "cabeçalhos", "corpo", "o segundo pedido"],
)
def test_pedido_pela_metade_e_cortado(servico: httpx.Client, metade: bytes) -> None:
    inicio = time.monotonic()
    recebido = mandar(servico, metade)
    assert ESPERA_S * 0.9 < time.monotonic() - inicio < ESPERA_S + 3
    if b"Content-Length: 3" not in metade:  # a esse, a rota já respondeu: não lê o corpo
        problema_unico(recebido[recebido.rindex(b"HTTP/1.1 ") :], 408)


def test_corpo_que_nao_acaba_e_cortado_ainda_que_pingue(servico: httpx.Client, cabecalhos: dict[str, str]) -> None:
    """O prazo é do pedido todo: um byte de vez em quando não o renova."""
    sessao = f"Authorization: {cabecalhos['Authorization']}\r\nContent-Type: application/json\r\n".encode()
    with conectar(servico) as soquete:
        soquete.sendall(POST + sessao + b"Content-Length: 100000\r\n\r\n")
        soquete.settimeout(ESPERA_S / 10)
        inicio, recebido = time.monotonic(), b""
        while time.monotonic() - inicio < ESPERA_S + 5:
            try:
                dados = soquete.recv(65536)
            except TimeoutError:
                soquete.sendall(b" ")
                continue
            if not dados:
                break
            recebido += dados
        assert time.monotonic() - inicio < ESPERA_S + 3
    problema_unico(recebido, 408)


def test_quem_nao_le_as_respostas_tambem_e_cortado(servico: httpx.Client) -> None:
    def abertos() -> float:
        metricas = servico.get("/metrics").text
        return float(re.findall(r"^process_open_fds (\S+)$", metricas, re.MULTILINE)[0])

    antes, pedidos = abertos(), 1000
    with socket.socket() as soquete:
        soquete.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        soquete.connect(("127.0.0.1", servico.base_url.port))
        soquete.sendall(b"GET /schema/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * pedidos)
        ate(lambda: abertos() > antes, 10, "a conexão ser aceita")
        ate(lambda: abertos() == antes, ESPERA_S + 10, "a conexão ser cortada")
        soquete.settimeout(20)
        with suppress(ConnectionResetError):
            assert ate_fechar(soquete).count(b"HTTP/1.1 200") < pedidos


def test_conexao_calada_fecha_sem_resposta(servico: httpx.Client) -> None:
    assert mandar(servico) == b""


def test_varios_pedidos_na_mesma_conexao_seguem_valendo(servico: httpx.Client) -> None:
    with conectar(servico) as soquete:
        for _ in range(3):
            soquete.sendall(INTEIRO * 2)
            respostas = b""
            while respostas.count(b'{"status":"vivo"}') < 2:
                respostas += soquete.recv(65536)
            assert respostas.count(b"HTTP/1.1 200") == 2


def test_quem_abre_conexoes_e_nao_acaba_de_pedir_nao_toma_o_lugar_dos_outros(dsn_comum: str, tmp_path: Path) -> None:
    with um("tests.app.http.processo", [dsn_comum, "60"], tmp_path / "log") as cliente, ExitStack() as abertas:
        soquetes = [abertas.enter_context(conectar(cliente)) for _ in range(CONEXOES_MAXIMAS + 20)]
        for soquete in soquetes[20:]:
            soquete.sendall(b"GET /healthz HTTP/1.1\r\nX: ")
        inicio = time.monotonic()
        assert httpx.get(f"{cliente.base_url}/healthz", timeout=10).status_code == 200
        assert time.monotonic() - inicio < 3
        # As mais antigas deram lugar.
        for soquete in soquetes[:15]:
            with suppress(ConnectionResetError):
                assert soquete.recv(1) == b""


@pytest.mark.parametrize("fora", ["0", "-1", "301", "x"])
def test_a_espera_pelo_pedido_e_um_ajuste(fora: str) -> None:
    assert ler({"FORMIGUEIRO_ESPERA_PEDIDO_S": "0.5"}).formigueiro_espera_pedido_s == 0.5
    with pytest.raises(ErroAjuste, match="FORMIGUEIRO_ESPERA_PEDIDO_S"):
        ler({"FORMIGUEIRO_ESPERA_PEDIDO_S": fora})


@pytest.mark.parametrize(
    "caminho",
    [
        "//metrics", "///metrics", "/./metrics", "/x/../metrics", "/metrics/", "/metrics//", "/%2fmetrics",
        "/%2Fmetrics", "/%6detrics", "/m%65trics", "/metrics%2f", "/METRICS", "/Metrics", "/metrics;a=1", "/metrics%00",
        "/metrics%20", "metrics", "/metrics#", "/\\metrics", "//readyz", "//schema/openapi.json", "/schema/",
        "/schema//openapi.json",
        "//d6b/conselheiros/me/acompanhamento", "/d6b//conselheiros/me/acompanhamento", "/metrics%ff",
        "/d6b/./conselheiros/me/acompanhamento", "/d%36b/conselheiros/me/acompanhamento", "/%ed%a0%80",
        "/D6B/conselheiros/me/acompanhamento", "/d6b/conselheiros/me/acompanhamento/",
    ],
)  # fmt: skip
def test_so_o_endereco_canonico_tem_rota(servico: httpx.Client, caminho: str) -> None:
    """N44. Pelo soquete, pois um cliente de HTTP acertaria o endereço antes de mandar."""
    recebido = mandar(servico, f"GET {caminho} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert problema_unico(recebido, 404)["detail"] == "Não há nada neste endereço."


@pytest.mark.parametrize("caminho", ["/metrics", "/metrics?a=%6d", "/healthz", "/schema", "/schema/openapi.json"])
def test_o_endereco_canonico_segue_valendo(servico: httpx.Client, caminho: str) -> None:
    recebido = mandar(servico, f"GET {caminho} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert recebido.startswith(b"HTTP/1.1 200")
