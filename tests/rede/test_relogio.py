"""Um relógio que andou adiantado não faz ninguém esperar mais que a espera normal de cada coisa (N62).

A agenda do app está em tests/app/trabalhador/test_agenda.py; os limites das rotas, em tests/app/http/test_limites.py.
"""

from collections.abc import Iterator
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao
from tests.apoio.rede import Rede

DEMANDA, ANA = UUID(int=1), UUID(int=11)


@pytest.fixture
def app(dsn: str) -> Iterator[Rede]:
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_app"), autocommit=True) as conexao:
        yield Rede(conexao)


def test_a_dlq_tenta_o_que_um_relogio_adiantado_marcou(rede: Rede) -> None:
    recusar_publicacao(rede.bd, "conselheiro.demanda_iniciada")
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    aceitar_publicacao(rede.bd)
    for adiante, tenta in (("30 minutes", False), ("1 year", True)):
        rede.bd.execute(
            "UPDATE core.dlq SET proxima_tentativa = clock_timestamp() + %s::interval WHERE estado = 'pendente'",
            [adiante],
        )
        rede.despachar()
        assert bool(rede.tipos(DEMANDA)) == tenta
    assert rede.um("SELECT count(*) FROM core.dlq WHERE estado <> 'resolvida'") == 0


@pytest.mark.parametrize(
    ("coluna", "adiante", "tem"),
    [
        ("proxima_tentativa", "50 minutes", False),
        ("proxima_tentativa", "62 minutes", True),
        ("proxima_tentativa", "1 year", True),
        ("reservada_ate", "50 seconds", False),
        ("reservada_ate", "3 minutes", True),
        ("reservada_ate", "1 year", True),
    ],
)
def test_um_texto_nao_espera_mais_que_a_sua_espera(rede: Rede, app: Rede, coluna: str, adiante: str, tem: bool) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    rede.bd.execute(
        f"UPDATE d6b.publicacoes_pendentes SET {coluna} = clock_timestamp() + %s::interval", [adiante]
    )
    assert bool(app.linhas("SELECT * FROM d6b.reservar_publicacoes(10)")) == tem


def test_o_fecho_espera_a_transcricao_e_nao_mais_que_isso(rede: Rede, app: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    rede.bd.execute("UPDATE d6b.publicacoes_pendentes SET especie = 'fecho'")
    for adiante, tem in (("47 hours", False), ("50 hours", True)):
        rede.bd.execute(
            "UPDATE d6b.publicacoes_pendentes SET proxima_tentativa = clock_timestamp() + %s::interval", [adiante]
        )
        assert bool(app.linhas("SELECT * FROM d6b.reservar_publicacoes(10)")) == tem


def test_a_ponte_de_uma_reserva_feita_adiante_nao_detem_o_despacho(rede: Rede, dsn: str) -> None:
    """Quem reservou e não rodou o lote vale um minuto, e não o tempo que o relógio andou adiantado."""
    rede.sortear(DEMANDA, ANA)
    with psycopg.connect(dsn, autocommit=True) as reservou:
        reservou.execute("SELECT d6b.reservar_lote()")
        assert rede.um("SELECT d6b.reservar_lote()") == -1
        rede.bd.execute("UPDATE core.consumidores SET reserva_em = clock_timestamp() + interval '1 year'")
        rede.despachar()
        assert rede.acompanhamento(DEMANDA)["status"] == "aguardando_inicio"
