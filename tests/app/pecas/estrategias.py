"""Textos para o hypothesis: qualquer Unicode, e colagens de pedaços que se atrapalham uns aos outros."""

from hypothesis import strategies as st

from app.pecas.identificadores.marcas import MARCAS
from tests.corpus.leitura import frases

_PALAVRAS = sorted({palavra for frase in frases("ajuste", "reserva", "frescas") for palavra in frase.texto.split()})
_PEDACOS = [
    *MARCAS.values(),
    *("529.982.247-25", "52998224725", "(11)", "90123-4567", "3555-0101", "cpf", "CPF:", "protocolo", "telefone", "e"),
    *("a@b.com", "@", "placa", "ABC1D23", "ABC-1234", "rg", "12.345.678-9", "X", "+", "+55", "0800", "4004", "SSP"),
    *("&", "<b>", "</b>", "&amp;", "lt;", "pix", "R$", "MG-", ",", "/", "-", ".", "(", ")"),
    *("4111 1111 1111 1111", "123 4567", "\n", "br.gov.bcb.pix", "000201", "\u200b", "\u0301", "&#46;", "１", "–"),
]

colagens = st.lists(
    st.tuples(
        st.one_of(
            st.sampled_from(_PALAVRAS), st.sampled_from(_PEDACOS), st.text("0123456789.-/ ()", min_size=1, max_size=14)
        ),
        st.sampled_from(["", " ", " "]),
    ),
    max_size=16,
).map(lambda partes: "".join(pedaco + espaco for pedaco, espaco in partes))

textos = st.one_of(st.text(max_size=400), st.text(st.characters(), max_size=200), colagens)
