"""Uma fila que cresce é um problema que se nomeia pelo tamanho e pelo crescimento, e não só pela idade (N70)."""

from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from tests.apoio.rede import Rede


@pytest.fixture
def pequena(rede: Rede) -> Rede:
    """Uma rede em que dez já são muitos."""
    rede.bd.execute("UPDATE core.parametros SET valor = '10' WHERE nome = 'fila_tamanho_atencao'")
    return rede


def passar_um_minuto(rede: Rede, eventos: int) -> None:
    """O que foi medido envelhece, chegam eventos, e o trabalho mede de novo."""
    rede.bd.execute("UPDATE core.medidas_das_filas SET quando = quando - interval '1 minute'")
    for _ in range(eventos):
        rede.publicar("demanda.recebida", {"demanda_id": str(uuid4())}, "D-1a", "1.1.0")
    rede.bd.execute("SELECT core.medir_filas()")


def crescentes(rede: Rede) -> list[tuple[str, str, int, int]]:
    return [
        (fila["colonia"], fila["fila"], fila["tamanho"], fila["crescimento"])
        for fila in rede.um("SELECT core.filas_crescentes()")
    ]


def problemas(rede: Rede) -> list[str]:
    return [p for p in rede.um("SELECT core.estado() -> 'problemas'") if "cresce" in p]


def test_a_fila_que_cresce_a_cada_minuto_e_um_problema_com_tamanho_e_crescimento(pequena: Rede) -> None:
    for eventos in (2, 4, 4, 3):
        assert problemas(pequena) == []
        passar_um_minuto(pequena, eventos)
    pequena.publicar("demanda.recebida", {"demanda_id": str(uuid4())}, "D-1a", "1.1.0")
    assert crescentes(pequena) == [("D-6b", "eventos", 14, 12), ("D-8", "eventos", 14, 12)]
    assert [p.rpartition(" há ")[0] for p in problemas(pequena)] == [
        f"{colonia}: a fila de eventos cresce: 14, 12 a mais que" for colonia in ("D-6b", "D-8")
    ]
    metricas = dict(
        pequena.bd.execute(
            'SELECT nome, valor FROM core.metricas() WHERE rotulos = \'{"colonia": "D-8", "fila": "eventos"}\''
        ).fetchall()
    )
    assert metricas == {"formigueiro_fila_crescimento": 12, "formigueiro_fila_crescente": 1}
    pequena.despachar()
    assert crescentes(pequena) == []


def test_os_textos_que_esperam_tambem_sao_uma_fila(pequena: Rede) -> None:
    pequena.sortear(UUID(int=1), UUID(int=11))
    for _ in range(4):
        for _ in range(3):
            pequena.atualizar(UUID(int=1), UUID(int=11))
        pequena.despachar()
        passar_um_minuto(pequena, 0)
    pequena.atualizar(UUID(int=1), UUID(int=11))
    pequena.despachar()
    assert crescentes(pequena) == [("D-6b", "textos", 13, 10)]


@pytest.mark.parametrize(
    "minutos",
    [
        pytest.param((40, 0, 0, 0), id="um pico que espera"),
        pytest.param((5, 5, 0, 5), id="um minuto sem crescer"),
        pytest.param((1, 2, 3, 2), id="poucos"),
        pytest.param((20, 20), id="dois minutos só"),
    ],
)
def test_o_que_nao_e_uma_fila_que_cresce(pequena: Rede, minutos: tuple[int, ...]) -> None:
    for eventos in minutos:
        passar_um_minuto(pequena, eventos)
    pequena.publicar("demanda.recebida", {"demanda_id": str(uuid4())}, "D-1a", "1.1.0")
    assert crescentes(pequena) == []


def test_medidas_velhas_ou_de_um_relogio_adiantado_nao_contam(pequena: Rede) -> None:
    for eventos in (3, 4, 5, 6):
        passar_um_minuto(pequena, eventos)
    pequena.publicar("demanda.recebida", {"demanda_id": str(uuid4())}, "D-1a", "1.1.0")
    assert len(crescentes(pequena)) == 2
    pequena.bd.execute("UPDATE core.medidas_das_filas SET quando = quando - interval '10 minutes'")
    assert crescentes(pequena) == []
    pequena.bd.execute("UPDATE core.medidas_das_filas SET quando = quando + interval '5 hours'")
    pequena.bd.execute("SELECT core.medir_filas()")
    assert pequena.um("SELECT max(quando) <= clock_timestamp() FROM core.medidas_das_filas")


def test_o_app_mede_mas_nao_inventa_filas(rede: Rede, dsn: str) -> None:
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_app"), autocommit=True) as app:
        assert app.execute("SELECT core.medir_filas()").fetchone() == (3,)
        app.execute("SELECT core._guardar_medida('D-99', 'eventos', 1)")
        for colonia, fila, tamanho in (("D-8", "outra", 1), ("D-8", "eventos", -1), (None, None, None)):
            with pytest.raises(psycopg.Error) as recusa:
                app.execute("SELECT core._guardar_medida(%s, %s, %s)", [colonia, fila, tamanho])
            assert recusa.value.sqlstate == "FM422"
    assert rede.um("SELECT count(*) FROM core.medidas_das_filas") == 3
