"""POST /d6b/sugerir-estruturacao: cenários T6, T18 e T19 da D-6b, e as recusas do corpo."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from litestar import Litestar
from litestar.testing import TestClient

from app.ajustes import Ajustes
from app.http.aplicacao import criar_app
from app.http.limites import CORPO_MAXIMO
from app.http.seguranca import ChaveJwt
from app.pecas.sugestao import ParametrosIa, SugestaoIa, sugerir
from tests.app.http.apoio import SUGERIR, pedido, problema
from tests.app.http.conftest import AJUSTES

CAMPOS = {"titulo_sugerido", "texto_sugerido", "campos_estruturados", "score_confianca"}


def _retrato(bd: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    """Quantas linhas tem cada tabela, fora a dos limites."""
    tabelas = bd.execute(
        """
        SELECT schemaname, tablename
          FROM pg_tables
         WHERE schemaname IN ('core', 'd6b', 'd8')
           AND tablename <> 'limites'
         ORDER BY 1, 2
        """
    ).fetchall()
    return [
        (*tabela, *(bd.execute(f'SELECT count(*) FROM "{tabela[0]}"."{tabela[1]}"').fetchone() or ()))
        for tabela in tabelas
    ]


def test_t6_texto_e_tipo_validos_dao_a_sugestao_sem_persistir_nem_publicar(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], bd: psycopg.Connection[Any]
) -> None:
    antes = _retrato(bd)
    resposta = cliente.post(SUGERIR, json=pedido(), headers=cabecalhos)
    assert resposta.status_code == 201
    sugestao = resposta.json()
    assert sugestao.keys() == CAMPOS
    assert sugestao["texto_sugerido"] == pedido()["textoBruto"]
    assert sugestao["campos_estruturados"] == {"protocolo_numero": "2026/004512"}
    assert _retrato(bd) == antes


def test_t18_tipo_invalido_e_400(cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str]) -> None:
    corpo = problema(cliente_comum.post(SUGERIR, json=pedido(tipoAtualizacao="fofoca"), headers=cabecalhos), 400)
    assert corpo["detail"].startswith("Tipo de atualização inválido")
    assert [falta["campo"] for falta in corpo["erros"]] == ["tipoAtualizacao"]


def test_t19_com_a_ia_desabilitada_o_score_e_o_do_fallback(
    cliente: TestClient[Litestar], cabecalhos: dict[str, str], bd: psycopg.Connection[Any]
) -> None:
    assert cliente.post(SUGERIR, json=pedido(), headers=cabecalhos).json()["score_confianca"] == 0.5
    # Habilitada, o MVP ainda devolve o fallback (4.1); e o parâmetro vale sem reiniciar.
    bd.execute("UPDATE core.parametros SET valor = 'true' WHERE nome = 'ia_habilitada'")
    bd.execute("UPDATE core.parametros SET valor = '0.4' WHERE nome = 'ia_score_fallback'")
    assert cliente.post(SUGERIR, json=pedido(), headers=cabecalhos).json()["score_confianca"] == 0.4


@pytest.fixture
def dias(dsn_app: str, chave: ChaveJwt) -> Iterator[tuple[TestClient[Litestar], list[date]]]:
    """Um app cuja peça anota o `hoje` que recebe."""
    vistos: list[date] = []

    def anotar(texto: str, tipo: str, demanda: UUID, hoje: date, ia: ParametrosIa) -> SugestaoIa:
        vistos.append(hoje)
        return SugestaoIa(titulo_sugerido="", texto_sugerido=texto, campos_estruturados={}, score_confianca=0.5)

    with TestClient(criar_app(Ajustes(), dsn_app, chave, sugestor=anotar)) as cliente:
        yield cliente, vistos


def test_hoje_e_o_dia_no_fuso_civil_do_relogio_da_rede(
    dias: tuple[TestClient[Litestar], list[date]], cabecalhos: dict[str, str], bd: psycopg.Connection[Any]
) -> None:
    cliente, vistos = dias
    bd.execute("SELECT core.definir_relogio('2026-03-01T02:30:00Z')")  # ainda 28 de fevereiro em São Paulo
    cliente.post(SUGERIR, json=pedido(), headers=cabecalhos)
    assert vistos == [date(2026, 2, 28)]


@pytest.mark.parametrize(
    ("corpo", "campo", "mensagem"),
    [
        ({"tipoAtualizacao": "x", "demandaId": str(uuid4())}, "textoBruto", "é obrigatório"),
        ({"textoBruto": "x", "demandaId": str(uuid4())}, "tipoAtualizacao", "é obrigatório"),
        ({"textoBruto": "x", "tipoAtualizacao": "protocolo_aberto"}, "demandaId", "é obrigatório"),
        (pedido(textoBruto=7), "textoBruto", "deve ser um texto"),
        (pedido(textoBruto=None), "textoBruto", "deve ser um texto"),
        (pedido(textoBruto="a\x00b"), "textoBruto", "não pode ter o caractere nulo"),
        (pedido(textoBruto="a\n\x00"), "textoBruto", "não pode ter o caractere nulo"),
        (pedido(tipoAtualizacao="protocolo_aberto\x00"), "tipoAtualizacao", "não é um tipo de atualização"),
        (pedido(demandaId="\x00" * 36), "demandaId", "deve ser um UUID"),
        (pedido(textoBruto=""), "textoBruto", "não pode ser vazio"),
        (pedido(textoBruto="á" * 10_001), "textoBruto", "deve ter 10000 caracteres ou menos"),
        (pedido(tipoAtualizacao=["protocolo_aberto"]), "tipoAtualizacao", "deve ser um texto"),
        (pedido(demandaId="não-uuid"), "demandaId", "deve ser um UUID"),
        (pedido(demandaId=12), "demandaId", "deve ser um UUID"),
        ([], "corpo", "deve ser um objeto"),
        ("texto", "corpo", "deve ser um objeto"),
    ],
)
def test_corpo_com_falta_e_400_com_o_nome_do_campo(
    cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str], corpo: object, campo: str, mensagem: str
) -> None:
    recebido = problema(cliente_comum.post(SUGERIR, json=corpo, headers=cabecalhos), 400)
    assert recebido["erros"] == [{"campo": campo, "mensagem": mensagem}]


@pytest.mark.parametrize(
    ("corpo", "mensagem"),
    [
        (b"", "é obrigatório"),
        (b"null", "deve ser um objeto"),
        (b"{", "não é JSON válido"),
        (b"{'a': 1}", "não é JSON válido"),
        (b"\xff\xfe", "não é JSON válido"),
        (b'{"textoBruto": "\\ud83d"}', "não é JSON válido"),
        (b'{"textoBruto": "a\\ud800b"}', "não é JSON válido"),
        (b'{"demandaId": "\xed\xa0\x80"}', "não é JSON válido"),
        (b'{"textoBruto": NaN}', "não é JSON válido"),
        (b"[" * 100_000, "tem níveis demais"),
        (b'{"x":' * 20_000, "tem níveis demais"),
    ],
)
def test_corpo_ilegivel_e_400(
    cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str], corpo: bytes, mensagem: str
) -> None:
    resposta = cliente_comum.post(SUGERIR, content=corpo, headers=cabecalhos | {"Content-Type": "application/json"})
    assert problema(resposta, 400)["erros"] == [{"campo": "corpo", "mensagem": mensagem}]


@pytest.mark.parametrize("texto", ["á" * 10_000, "🐜" * 10_000, "\x01 e \x1b", " "])
def test_texto_no_limite_passa_mesmo_todo_escapado(
    cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str], texto: str
) -> None:
    # O cliente_comum de teste escreve JSON em ASCII se mandado: cada formiga vira \ud83d\udc1c, 12 bytes.
    corpo = json.dumps(pedido(textoBruto=texto), ensure_ascii=True).encode()
    resposta = cliente_comum.post(SUGERIR, content=corpo, headers=cabecalhos | {"Content-Type": "application/json"})
    assert resposta.status_code == 201
    assert resposta.json()["texto_sugerido"] == texto.strip()


def test_corpo_grande_demais_e_413(cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str]) -> None:
    grande = b'{"textoBruto": "' + b"a" * CORPO_MAXIMO + b'"}'
    tipo = {"Content-Type": "application/json"}
    assert (
        str(CORPO_MAXIMO)
        in problema(cliente_comum.post(SUGERIR, content=grande, headers=cabecalhos | tipo), 413)["detail"]
    )
    # Em pedaços, sem Content-Length que o anuncie.
    pedacos = (grande[i : i + 4096] for i in range(0, len(grande), 4096))
    problema(cliente_comum.post(SUGERIR, content=pedacos, headers=cabecalhos | tipo), 413)


@pytest.mark.parametrize("tipo", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx"])
def test_outro_tipo_de_conteudo_e_415(
    cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str], tipo: str | None
) -> None:
    tipos = {} if tipo is None else {"Content-Type": tipo}
    assert problema(cliente_comum.post(SUGERIR, content=b"{}", headers=cabecalhos | tipos), 415)


def test_tipo_de_conteudo_com_parametros_passa(cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str]) -> None:
    tipo = {"Content-Type": "Application/JSON; charset=utf-8"}
    assert cliente_comum.post(SUGERIR, json=pedido(), headers=cabecalhos | tipo).status_code == 201


def test_campos_a_mais_sao_ignorados(cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str]) -> None:
    assert cliente_comum.post(SUGERIR, json=pedido(outro={"a": [1]}), headers=cabecalhos).status_code == 201


@pytest.fixture
def presa(dsn_app: str, chave: ChaveJwt) -> Iterator[tuple[TestClient[Litestar], threading.Event]]:
    """Um app cuja sugestão só acaba quando o teste deixa."""
    solta = threading.Event()

    def sugestor(*argumentos: Any) -> SugestaoIa:
        solta.wait(30)
        return sugerir(*argumentos)

    with TestClient(criar_app(AJUSTES, dsn_app, chave, sugestor=sugestor)) as cliente:
        yield cliente, solta
        solta.set()


def test_enquanto_uma_sugestao_se_compoe_o_processo_responde(
    presa: tuple[TestClient[Litestar], threading.Event], cabecalhos: dict[str, str]
) -> None:
    cliente, solta = presa
    with ThreadPoolExecutor(1) as fio:
        sugestao = fio.submit(cliente.post, SUGERIR, json=pedido(), headers=cabecalhos)
        for _ in range(20):
            assert cliente.get("/healthz").status_code == 200
        assert not sugestao.done()
        solta.set()
        assert sugestao.result().status_code == 201


def test_sugestao_que_nao_acaba_no_prazo_e_503(
    presa: tuple[TestClient[Litestar], threading.Event], cabecalhos: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.http.rotas.sugestao.PRAZO_S", 0.1)
    resposta = presa[0].post(SUGERIR, json=pedido(), headers=cabecalhos)
    assert problema(resposta, 503)["detail"] == "A sugestão demorou demais. Tente de novo em instantes."
    assert resposta.headers["retry-after"] == "5"


@pytest.mark.parametrize("campo", ["tipoAtualizacao", "demandaId", "x" * 60_000])
def test_o_problema_nao_devolve_o_que_veio(
    cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str], campo: str
) -> None:
    corpo = pedido(textoBruto="", **{campo: "y" * 60_000})
    resposta = cliente_comum.post(SUGERIR, json=corpo, headers=cabecalhos)
    problema(resposta, 400)
    assert len(resposta.content) < 2000
