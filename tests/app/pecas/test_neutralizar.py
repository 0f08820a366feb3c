"""O texto inerte."""

import html

import pytest
from hypothesis import given, settings

from app.pecas.neutralizar import neutralizar
from tests.app.pecas.estrategias import textos


@pytest.mark.parametrize(
    ("texto", "esperado"),
    [
        ("<script>alert(1)</script> oi", "alert(1) oi"),
        ("<<b>script>x", "‹script›x"),
        ("&lt;img src=x onerror=y&gt;fim", "fim"),
        ("&amp;amp;lt;b&amp;gt;", ""),
        ("largura < 3 m e > 2 m", "largura ‹ 3 m e › 2 m"),
        ("P&D e AT&T", "P&D e AT&T"),
        ("um<br>dois<p>três", "um\ndois\ntrês"),
        ("a\x00b\x07c\u200bd\u202ee", "abcde"),
        ("linha\r\noutra\u2028mais", "linha\noutra\nmais"),
        ("  muito \t espaço\u00a0 aqui \n\n\n\n fim ", "muito espaço aqui\n\nfim"),
        ("e\u0301", "é"),
    ],
)
def test_marcacao_e_controles_somem_e_o_resto_fica(texto: str, esperado: str) -> None:
    assert neutralizar(texto) == esperado


@settings(max_examples=800, deadline=None)
@given(textos)
def test_neutralizar_outra_vez_nao_muda_nada(texto: str) -> None:
    uma = neutralizar(texto)

    assert neutralizar(uma) == uma


@settings(max_examples=500, deadline=None)
@given(textos)
def test_um_navegador_nao_ve_marcacao_no_que_sobra(texto: str) -> None:
    assert "<" not in html.unescape(neutralizar(texto))
