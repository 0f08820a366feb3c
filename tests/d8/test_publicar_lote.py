"""core.publicar_lote: tudo ou nada, idempotente, e o elemento em falta pelo número."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tests.d8.apoio import Manutencao

Evento = dict[str, object]


def recebida(demanda: UUID | None = None, **campos: object) -> Evento:
    """Um elemento do lote; um campo com None sai dele."""
    evento: Evento = {
        "tipo": "demanda.recebida",
        "payload": {"demanda_id": str(demanda or uuid4())},
        "origem": "D-1a",
        "versao_schema": "1.1.0",
        "event_id": str(uuid4()),
    } | campos
    return {nome: valor for nome, valor in evento.items() if valor is not None}


def publicar(d8: Manutencao, *eventos: object) -> list[int]:
    return [linha["n"] for linha in d8.linhas("SELECT n FROM core.publicar_lote(%s) AS n", Jsonb(list(eventos)))]


def test_publica_na_ordem_do_vetor(d8: Manutencao) -> None:
    eventos = [recebida() for _ in range(50)]
    assert publicar(d8, *eventos) == list(range(1, 51))
    gravados = d8.linhas("SELECT * FROM core.event_log ORDER BY sequence_number")
    assert [str(evento["event_id"]) for evento in gravados] == [evento["event_id"] for evento in eventos]
    assert all(evento["chave"] == evento["payload"]["demanda_id"] for evento in gravados)
    assert all(evento["correlacao_id"] == evento["event_id"] for evento in gravados)
    assert publicar(d8) == []


def test_grava_o_mesmo_que_publicar(d8: Manutencao) -> None:
    evento = recebida(correlacao_id=str(uuid4()))
    publicar(d8, evento)
    (do_lote,) = d8.linhas("SELECT * FROM core.event_log")
    d8.esvaziar()
    d8.bd.execute(
        "SELECT core.publicar(%s, %s, %s, %s, %s, %s)",
        [evento["tipo"], Jsonb(evento["payload"]), evento["origem"], evento["versao_schema"], evento["event_id"],
         evento["correlacao_id"]],
    )  # fmt: skip
    (de_um,) = d8.linhas("SELECT * FROM core.event_log")
    assert do_lote | {"sequence_number": 0} == de_um | {"sequence_number": 0}


def test_padroes_dos_campos_opcionais(d8: Manutencao) -> None:
    payload = {"demanda_id": str(uuid4()), "projeto_original_id": str(uuid4())}
    publicar(d8, {"tipo": "manutenção.executada", "payload": payload, "origem": "D-6b", "event_id": None})
    (evento,) = d8.linhas("SELECT * FROM core.event_log")
    assert evento["versao_schema"] == "1.0.0"
    assert evento["correlacao_id"] == evento["event_id"]


def test_reentrega_devolve_os_primeiros_numeros(d8: Manutencao) -> None:
    eventos = [recebida() for _ in range(4)]
    primeiros = publicar(d8, *eventos[:2])
    todos = publicar(d8, eventos[2], eventos[1], eventos[3], eventos[0], eventos[3])
    assert (todos[3], todos[1]) == tuple(primeiros)
    assert todos[2] == todos[4]
    assert d8.um("SELECT count(*) FROM core.event_log") == 4
    assert publicar(d8, *eventos) == [todos[3], todos[1], todos[0], todos[2]]


@pytest.mark.parametrize(
    ("ruim", "codigo", "mensagem"),
    [
        (recebida(payload={}), "FM422", "Elemento 3 do lote: Payload de demanda.recebida 1.1.0 recusado: .*demanda_id"),
        (recebida(tipo="demanda.sumida"), "FM422", "Elemento 3 do lote: O Registro não conhece o tipo demanda.sumida"),
        (recebida(versao_schema="9.0.0"), "FM422", "Elemento 3 do lote: O Registro não conhece .* versão 9.0.0"),
        (recebida(tipo=None), "FM422", "Elemento 3 do lote: o campo tipo falta ou não serve"),
        (recebida(payload=None), "FM422", "Elemento 3 do lote: o campo payload"),
        (recebida(origem=7), "FM422", "Elemento 3 do lote: o campo origem"),
        (recebida(event_id="x"), "FM422", "Elemento 3 do lote: o campo event_id"),
        (recebida(correlacao_id=["a"]), "FM422", "Elemento 3 do lote: o campo correlacao_id"),
        ("demanda.recebida", "FM422", "Elemento 3 do lote: o campo tipo"),
    ],
)
def test_um_elemento_ruim_recusa_o_lote_e_e_nomeado(d8: Manutencao, ruim: object, codigo: str, mensagem: str) -> None:
    with pytest.raises(psycopg.Error, match=mensagem) as recusa:
        publicar(d8, recebida(), recebida(), ruim, recebida(payload={}))
    assert recusa.value.sqlstate == codigo
    assert d8.um("SELECT count(*) FROM core.event_log") == 0


def test_event_id_com_outro_conteudo_recusa_o_lote(d8: Manutencao) -> None:
    eventos = [recebida(), recebida()]
    publicar(d8, eventos[0])
    outro = {"payload": {"demanda_id": str(uuid4())}}
    for lote in ([recebida(), eventos[0] | outro], [eventos[1], eventos[1] | outro]):
        with pytest.raises(psycopg.Error, match=r"Elemento 2 do lote: O event_id .* já foi publicado") as recusa:
            publicar(d8, *lote)
        assert recusa.value.sqlstate == "FM409"
    assert d8.um("SELECT count(*) FROM core.event_log") == 1


def test_payload_ruim_junto_de_uma_reentrega_tambem_se_nomeia(d8: Manutencao) -> None:
    evento = recebida()
    publicar(d8, evento)
    with pytest.raises(psycopg.Error, match="Elemento 2 do lote: Payload") as recusa:
        publicar(d8, evento, recebida(payload={}))
    assert recusa.value.sqlstate == "FM422"


@pytest.mark.parametrize("lote", [{}, "x", 1, None])
def test_o_lote_e_um_vetor(d8: Manutencao, lote: object) -> None:
    with pytest.raises(psycopg.Error, match="deve ser um vetor") as recusa:
        d8.bd.execute("SELECT core.publicar_lote(%s)", [Jsonb(lote)])
    assert recusa.value.sqlstate == "FM422"


@pytest.fixture
def produtor(dsn: str, bd: psycopg.Connection[Any]) -> Iterator[psycopg.Connection[Any]]:
    bd.execute("INSERT INTO core.produtores VALUES ('formigueiro_produtor', 'D-1a')")
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_produtor"), autocommit=True) as sessao:
        yield sessao


def test_o_produtor_so_publica_o_que_e_de_sua_colonia(produtor: psycopg.Connection[Any]) -> None:
    produtor.execute("SELECT core.publicar_lote(%s)", [Jsonb([recebida()])])
    with pytest.raises(psycopg.Error, match="Elemento 2 do lote: O papel formigueiro_produtor não publica") as recusa:
        produtor.execute("SELECT core.publicar_lote(%s)", [Jsonb([recebida(), recebida(origem="D-8")])])
    assert recusa.value.sqlstate == "FM403"


def test_lotes_simultaneos_com_os_mesmos_eventos_gravam_uma_vez(dsn: str, d8: Manutencao) -> None:
    eventos = [recebida() for _ in range(200)]

    def enviar(_: int) -> list[int]:
        with psycopg.connect(dsn, autocommit=True) as sessao:
            return [n for (n,) in sessao.execute("SELECT core.publicar_lote(%s)", [Jsonb(eventos)])]

    with ThreadPoolExecutor(4) as sessoes:
        numeros = list(sessoes.map(enviar, range(4)))
    assert all(numero == numeros[0] for numero in numeros)
    assert d8.um("SELECT count(*) FROM core.event_log") == 200
