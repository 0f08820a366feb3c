"""Onde acaba uma frase, e onde se corta um texto."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.pecas.corte import cortar
from app.pecas.frases import fins_de_frase, primeira_frase
from app.pecas.sanitizador import sanitizar
from tests.app.pecas.estrategias import textos


@pytest.mark.parametrize(
    ("texto", "primeira"),
    [
        ("Falei com o Sr. João. Ele negou.", "Falei com o Sr. João."),
        ("Fui à Av. Brasil, nº 10. Nada feito.", "Fui à Av. Brasil, nº 10."),
        ("Custou R$ 1.200,50 na loja 10.3. Paguei.", "Custou R$ 1.200,50 na loja 10.3."),
        ("Vi em https://a.gov.br/x.html?y=1. Certo?", "Vi em https://a.gov.br/x.html?y=1."),
        ("fui lá. ninguém atendeu", "fui lá."),
        ("Esperei... e nada. Voltei.", "Esperei... e nada."),
        ("Moro na R. das Flores com a D. Ana. Fim.", "Moro na R. das Flores com a D. Ana."),
        ("Lixo, entulho etc. na calçada. Fotos.", "Lixo, entulho etc. na calçada."),
        ("Sério?! Sim.", "Sério?!"),
        ("Título\nResto", "Título"),
        ("\n\n ... \n Agora sim. Depois.", "Agora sim."),
        ("A Profa. Lia (da EMEF.) saiu.", "A Profa. Lia (da EMEF.) saiu."),
        ("", ""),
    ],
)
def test_a_frase_nao_se_parte_em_abreviatura_numero_ou_endereco(texto: str, primeira: str) -> None:
    assert primeira_frase(texto) == primeira


@settings(max_examples=300, deadline=None)
@given(textos)
def test_os_fins_de_frase_vao_em_ordem_ate_o_fim(texto: str) -> None:
    fins = list(fins_de_frase(texto))

    assert fins == sorted(fins)
    assert fins[-1] == len(texto)


class TestCorte:
    def test_o_que_cabe_fica_inteiro(self) -> None:
        assert cortar("curto", 5) == "curto"

    def test_prefere_a_frase_inteira(self) -> None:
        assert (
            cortar("Primeira frase aqui. Segunda frase, mais comprida, que não cabe.", 32) == "Primeira frase aqui. …"
        )

    def test_sem_frase_que_ocupe_metade_corta_na_palavra(self) -> None:
        assert (
            cortar("Oi. Uma frase muito comprida que não cabe no espaço dado.", 30) == "Oi. Uma frase muito comprida…"
        )

    def test_nao_parte_uma_marca(self) -> None:
        assert cortar("Falei hoje cedo com o dono, CPF [CPF removido], e ele concordou.", 40) == (
            "Falei hoje cedo com o dono, CPF…"
        )

    def test_nao_parte_um_numero(self) -> None:
        assert cortar("O protocolo registrado é 2027 000123 456789 na central", 36) == "O protocolo registrado é…"

    @settings(max_examples=500, deadline=None)
    @given(textos, st.integers(min_value=4, max_value=200))
    def test_o_corte_de_um_texto_sanitizado_cabe_e_segue_sanitizado(self, texto: str, limite: int) -> None:
        cortado = cortar(sanitizar(texto), limite)

        assert len(cortado) <= limite
        assert sanitizar(cortado) == cortado.strip()
