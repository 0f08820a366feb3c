"""Os limites por cidadão e rota (D-6b 6.1): na função do banco, numa rota e entre processos."""

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import psycopg
import pytest
from litestar import Litestar
from litestar.testing import TestClient
from psycopg.conninfo import make_conninfo

from tests.app.http.apoio import ACOMPANHAMENTO, SUGERIR, pedido, problema, ratificar
from tests.app.http.processos import no_ar

ROTAS: dict[str, tuple[int, Callable[[httpx.Client, dict[str, str]], httpx.Response]]] = {
    "sugestao": (10, lambda c, h: c.post(SUGERIR, json=pedido(), headers=h)),
    "acompanhamento": (60, lambda c, h: c.get(ACOMPANHAMENTO, headers=h)),
    "ratificacao": (5, lambda c, h: c.post(ratificar(uuid4()), headers=h)),
}


@pytest.fixture
def bd_comum(dsn_comum: str) -> Iterator[psycopg.Connection[Any]]:
    """Conexão de superusuário ao banco comum."""
    with psycopg.connect(make_conninfo(dsn_comum, user="postgres"), autocommit=True) as conexao:
        yield conexao


@pytest.fixture
def nova() -> str:
    """Uma chave de limite que ninguém usou."""
    return str(uuid4())


def _consumir(bd: psycopg.Connection[Any], chave: str, limite: int, janela: str = "1 minute") -> int:
    linha = bd.execute("SELECT core.consumir_limite(%s, %s, %s)", [chave, limite, janela]).fetchone()
    assert linha is not None
    return int(linha[0])


def _envelhecer(bd: psycopg.Connection[Any], intervalo: str, chave: str = "%") -> None:
    """Faz de conta que tudo foi consumido `intervalo` mais cedo."""
    bd.execute(
        """
        UPDATE core.limites
           SET marcas = (SELECT array_agg(m - %(i)s::interval ORDER BY m) FROM unnest(marcas) AS m),
               vence_em = vence_em - %(i)s::interval
         WHERE chave LIKE %(chave)s
        """,
        {"i": intervalo, "chave": chave},
    )


@pytest.mark.parametrize("rota", ROTAS)
def test_cada_rota_tem_o_limite_da_especificacao(
    cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str], rota: str
) -> None:
    limite, chamar = ROTAS[rota]
    for _ in range(limite):
        assert chamar(cliente_comum, cabecalhos).status_code in (200, 201, 404)
    resposta = chamar(cliente_comum, cabecalhos)
    corpo = problema(resposta, 429)
    espera = resposta.headers["retry-after"]
    assert 1 <= int(espera) <= 60
    assert corpo["detail"] == f"O limite é de {limite} pedidos por minuto. Volte em {espera} s."


def test_o_limite_e_de_cada_cidadao_e_de_cada_rota(
    cliente_comum: TestClient[Litestar], sessao: Callable[[UUID], dict[str, str]]
) -> None:
    um, outro = sessao(uuid4()), sessao(uuid4())
    for _ in range(5):
        cliente_comum.post(ratificar(uuid4()), headers=um)
    problema(cliente_comum.post(ratificar(uuid4()), headers=um), 429)
    problema(cliente_comum.post(ratificar(uuid4()), headers=outro), 404)
    assert cliente_comum.get(ACOMPANHAMENTO, headers=um).status_code == 200


def test_401_vem_antes_de_429_e_nao_consome(cliente_comum: TestClient[Litestar], cabecalhos: dict[str, str]) -> None:
    for _ in range(12):
        problema(cliente_comum.post(ratificar(uuid4())), 401)
    for _ in range(5):
        problema(cliente_comum.post(ratificar(uuid4()), headers=cabecalhos), 404)
    problema(cliente_comum.post(ratificar(uuid4())), 401)
    # E 429 antes de olhar o endereço ou o corpo.
    problema(cliente_comum.post(ratificar("nem-uuid"), headers=cabecalhos), 429)


def test_a_janela_desliza_e_a_espera_prometida_basta(bd_comum: psycopg.Connection[Any], nova: str) -> None:
    assert [_consumir(bd_comum, nova, 2) for _ in range(2)] == [0, 0]
    assert 50 <= _consumir(bd_comum, nova, 2) <= 60
    _envelhecer(bd_comum, "30 seconds", nova)
    assert 20 <= _consumir(bd_comum, nova, 2) <= 30
    _envelhecer(bd_comum, "30 seconds", nova)
    assert [_consumir(bd_comum, nova, 2) > 0 for _ in range(3)] == [False, False, True]


def test_nunca_passam_mais_que_o_limite_em_nenhuma_janela(bd_comum: psycopg.Connection[Any], nova: str) -> None:
    aceitos: list[int] = []
    for instante in range(0, 200, 7):  # um pedido a cada 7 s de faz de conta, limite de 5 por minuto
        if _consumir(bd_comum, nova, 5) == 0:
            aceitos.append(instante)
        _envelhecer(bd_comum, "7 seconds", nova)
    assert len(aceitos) > 10
    assert all(depois - antes >= 60 for antes, depois in zip(aceitos, aceitos[5:], strict=False))


def test_recusar_nao_consome(bd_comum: psycopg.Connection[Any], nova: str) -> None:
    assert [_consumir(bd_comum, nova, 1) > 0 for _ in range(5)] == [False, True, True, True, True]
    assert bd_comum.execute("SELECT cardinality(marcas) FROM core.limites WHERE chave = %s", [nova]).fetchone() == (1,)
    _envelhecer(bd_comum, "61 seconds", nova)
    assert _consumir(bd_comum, nova, 1) == 0


def test_o_relogio_do_servidor_que_recua_nao_trava_ninguem(bd_comum: psycopg.Connection[Any], nova: str) -> None:
    assert _consumir(bd_comum, nova, 1) == 0
    _envelhecer(bd_comum, "-3 hours", nova)
    assert _consumir(bd_comum, nova, 1) == 0


def test_o_relogio_simulado_da_rede_nao_conta(bd: psycopg.Connection[Any]) -> None:
    bd.execute("SELECT core.definir_relogio('2020-01-01Z')")
    assert [_consumir(bd, "a", 1) > 0 for _ in range(2)] == [False, True]
    bd.execute("SELECT core.definir_relogio('2020-01-01T01:00:00Z')")
    assert _consumir(bd, "a", 1) > 0
    _envelhecer(bd, "1 minute")
    assert _consumir(bd, "a", 1) == 0


def test_chaves_vencidas_saem_sozinhas(bd: psycopg.Connection[Any]) -> None:
    for n in range(40):
        _consumir(bd, f"velha {n}", 5)
    _envelhecer(bd, "2 minutes")
    for n in range(20):
        _consumir(bd, f"nova {n}", 5)
    assert bd.execute("SELECT count(*) FROM core.limites WHERE chave LIKE 'velha%'").fetchone() == (0,)
    assert bd.execute("SELECT count(*) FROM core.limites").fetchone() == (20,)


@pytest.mark.parametrize(("chave", "limite", "janela"), [(None, 1, "1 s"), ("a", 0, "1 s"), ("a", 1, "0 s")])
def test_limite_sem_sentido_e_fm422(bd_comum: psycopg.Connection[Any], chave: Any, limite: int, janela: str) -> None:
    with pytest.raises(psycopg.Error) as erro:
        _consumir(bd_comum, chave, limite, janela)
    assert erro.value.sqlstate == "FM422"


def test_sessoes_simultaneas_nao_passam_do_limite(dsn_comum: str, nova: str) -> None:
    def sessao(_: int) -> int:
        with psycopg.connect(dsn_comum, autocommit=True) as conexao:
            return sum(_consumir(conexao, f"{nova} {n % 3}", 7) == 0 for n in range(60))

    with ThreadPoolExecutor(8) as fios:
        assert sum(fios.map(sessao, range(8))) == 3 * 7


def test_so_o_app_consome_e_ninguem_le_a_tabela(dsn_comum: str, bd_comum: psycopg.Connection[Any]) -> None:
    with psycopg.connect(dsn_comum) as conexao, pytest.raises(psycopg.errors.InsufficientPrivilege):
        conexao.execute("SELECT * FROM core.limites")
    quem = bd_comum.execute(
        """
        SELECT r.rolname
          FROM pg_roles AS r
         WHERE has_function_privilege(r.oid, 'core.consumir_limite(text, int, interval)', 'EXECUTE')
           AND NOT r.rolsuper
         ORDER BY 1
        """
    ).fetchall()
    assert quem == [("core_dono",), ("formigueiro_app",)]


def test_o_limite_vale_entre_dois_processos(
    dsn_comum: str, sessao: Callable[[UUID], dict[str, str]], tmp_path: Path
) -> None:
    with no_ar(dsn_comum, 2, tmp_path) as processos, ThreadPoolExecutor(8) as fios:
        for limite, chamar in ROTAS.values():
            cabecalhos = sessao(uuid4())
            pedidos = [
                fios.submit(chamar, cliente, cabecalhos)
                for cliente in itertools.islice(itertools.cycle(processos), limite + 6)
            ]
            status = Counter(pedido.result().status_code == 429 for pedido in pedidos)
            assert status == {False: limite, True: 6}
            for cliente in processos:
                problema(chamar(cliente, cabecalhos), 429)
