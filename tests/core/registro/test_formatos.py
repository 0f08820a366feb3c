"""Os formatos que o Registro confere: o que passa se converte sem erro, em qualquer sessão."""

from datetime import date, timedelta
from itertools import combinations, product
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.registro import referencia
from tests.core.registro.geradores import DATAS, DATAS_HORAS, UUIDS

Banco = psycopg.Connection[Any]

_CONFERIDORES = {
    "uuid_valido": referencia.uuid_valido,
    "data_valida": referencia.data_valida,
    "data_hora_valida": referencia.data_hora_valida,
}
_TEXTOS = st.text("0123456789abcdefABCDEF-:TtZz.+ \n٣", max_size=40)


@pytest.mark.parametrize("funcao", _CONFERIDORES)
def test_formato_concorda_com_a_referencia_nos_casos_de_fronteira(bd: Banco, funcao: str) -> None:
    _comparar(bd, funcao, [*UUIDS, *DATAS, *DATAS_HORAS, ""])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    textos=st.lists(
        _TEXTOS | st.builds(lambda base, corte, meio: base[:corte] + meio + base[corte + len(meio):],
                            st.sampled_from([*UUIDS, *DATAS, *DATAS_HORAS]), st.integers(0, 36), _TEXTOS),
        min_size=50, max_size=50,
    )
)  # fmt: skip
def test_formato_concorda_com_a_referencia_em_textos_quase_certos(bd: Banco, textos: list[str]) -> None:
    for funcao in _CONFERIDORES:
        _comparar(bd, funcao, textos)


def test_data_valida_acerta_todos_os_dias_de_quatro_seculos(bd: Banco) -> None:
    inicio = date(1999, 12, 31)
    dias = {(inicio + timedelta(n)).isoformat() for n in range(146_098)}
    possiveis = [f"{ano:04}-{mes:02}-{dia:02}" for ano in range(2000, 2400) for mes in range(14) for dia in range(33)]
    aceitas = bd.execute("SELECT d FROM unnest(%s::text[]) AS d WHERE core.data_valida(d)", [possiveis]).fetchall()
    assert {linha[0] for linha in aceitas} == {dia for dia in dias if "2000" <= dia < "2400"}


@pytest.mark.parametrize("fuso", ["UTC", "Pacific/Kiritimati", "America/Sao_Paulo"])
@pytest.mark.parametrize("estilo", ["ISO, MDY", "SQL, DMY", "German", "Postgres, YMD"])
def test_o_que_e_valido_se_converte_e_o_juizo_nao_depende_da_sessao(bd: Banco, fuso: str, estilo: str) -> None:
    bd.execute("SELECT set_config('TimeZone', %s, false), set_config('DateStyle', %s, false)", [fuso, estilo])
    fracoes = ["", ".1", ".123456", ".123456789", "." + "9" * 38]
    deslocamentos = ["Z", "z", "+00:00", "-00:00", "-03:00", "+15:59", "-15:59", "+05:45"]
    textos = [
        f"{dia}{t}{hora}{fracao}{deslocamento}"
        for dia in ["0001-01-01", "0001-01-02", "1582-10-10", "2024-02-29", "2026-11-30", "9999-12-30", "9999-12-31"]
        for t in "Tt"
        for hora in ["00:00:00", "12:34:56", "23:59:59"]
        for fracao in fracoes
        for deslocamento in deslocamentos
    ]
    # Com a fração que arredonda para o segundo seguinte, o último instante de 9999 cairia no ano 10000.
    fora = {t for t in textos if not referencia.data_hora_valida(t)} | {
        t for t in textos if t[:10] == "9999-12-31" and t[11:19] == "23:59:59" and "." + "9" * 38 in t
        and t.upper().endswith(("Z", "00:00"))
    }  # fmt: skip
    linhas = bd.execute(
        """
        SELECT t, CASE WHEN core.data_hora_valida(t) THEN extract(year FROM t::timestamptz AT TIME ZONE 'UTC') END
          FROM unnest(%s::text[]) AS t
        """,
        [textos],
    ).fetchall()
    assert {texto for texto, ano in linhas if ano is None} == fora
    assert all(1 <= ano <= 9999 for _, ano in linhas if ano is not None)
    assert bd.execute("SELECT bool_and(u::uuid IS NOT NULL) FROM unnest(%s::text[]) AS u WHERE core.uuid_valido(u)",
                      [UUIDS]).fetchone() == (True,)  # fmt: skip
    assert bd.execute("SELECT bool_and(d::date IS NOT NULL) FROM unnest(%s::text[]) AS d WHERE core.data_valida(d)",
                      [DATAS]).fetchone() == (True,)  # fmt: skip


def test_o_atalho_da_data_hora_concorda_com_o_caminho_lento(bd: Banco) -> None:
    """O atalho confia num jsonpath frouxo; as guardas que o fecham são postas à prova em cada posição do texto."""
    estragos = " \t\n\r+-.:,/0159TZte\u00a0"
    textos = {f"{ano}-{mes:02}-{dia:02}T{dia:02}:{mes:02}:{dia:02}.780Z"
              for ano in ["0000", "0001", "1900", "2024", "9999"] for mes in range(70) for dia in range(70)}
    for base in ["2026-02-28T12:34:56.780Z", "2024-02-29T00:00:00.000Z", "9999-12-31T23:59:59.999Z"]:
        for i, j in combinations(range(len(base)), 2):
            for a, b in product(estragos, estragos):
                textos.add(f"{base[:i]}{a}{base[i + 1 : j]}{b}{base[j + 1 :]}")
    discordes = bd.execute(
        """
        SELECT t FROM unnest(%s::text[]) AS t
         WHERE core.data_hora_valida(to_jsonb(t), t) IS DISTINCT FROM core.data_hora_valida(t)
        """,
        [list(textos)],
    ).fetchall()
    assert discordes == []


def _comparar(bd: Banco, funcao: str, textos: list[str]) -> None:
    linhas = bd.execute(f"SELECT t, core.{funcao}(t) FROM unnest(%s::text[]) AS t", [textos]).fetchall()
    assert dict(linhas) == {texto: _CONFERIDORES[funcao](texto) for texto in textos}
