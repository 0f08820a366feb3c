"""Toda sugestão passa por d6b.validar_atualizacao, ou deixa o campo de fora (D-6b 4.1, 4.2)."""

from datetime import date
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from app.pecas.sugestao import ParametrosIa, sugerir
from app.pecas.tipos import TIPOS_ATUALIZACAO
from tests.corpus.leitura import frases

HOJE = date(2026, 11, 30)
PARAMETROS = ParametrosIa(ia_habilitada=False, ia_score_fallback=0.5)
EXTRAS = [
    "Protocolo nº 2026/0012-3 aberto; prazo até 15/12/2026. Está concluído.",
    "prot. SEI 6010.2026/0001234-5, vence em 31/02/2027",
    "Protocolo nº " + "2026/" * 1_900,
    "Ficou para sexta-feira, em 15 dias, amanhã, 01/01/2020.",
]


def recusas(bd: psycopg.Connection[Any], textos: list[str]) -> list[tuple[str, str, object]]:
    """Os erros que não são um campo que a sugestão deixou de fora."""
    encontradas = []
    for texto in textos:
        for tipo in TIPOS_ATUALIZACAO:
            campos = sugerir(texto, tipo, UUID(int=1), HOJE, PARAMETROS).campos_estruturados
            linha = bd.execute("SELECT d6b.validar_atualizacao(%s, %s, %s)", [tipo, Jsonb(campos), HOJE]).fetchone()
            assert linha is not None
            encontradas += [
                (texto, tipo, erro) for erro in linha[0]["erros"] if erro["mensagem"] != "Campo obrigatório."
            ]
            assert set(campos) <= {"protocolo_numero", "data_estimada", "novo_status"}
    return encontradas


def test_as_frases_do_corpus(bd: psycopg.Connection[Any]) -> None:
    textos = EXTRAS + [f.texto for f in frases("ajuste", "reserva", "frescas")]
    assert recusas(bd, textos) == []


@pytest.mark.parametrize("historias", [60, pytest.param(1000, marks=pytest.mark.longo)])
def test_textos_ao_acaso(bd: psycopg.Connection[Any], historias: int) -> None:
    pedaco = st.sampled_from(
        ["protocolo ", "nº ", "prazo ", "até ", "dia ", "31/12/", "2026", "-", "/", ".", " ", "concluído"]
    )
    texto = st.lists(st.one_of(pedaco, st.from_regex(r"[0-9]{1,6}", fullmatch=True), st.text(max_size=8)), max_size=15)

    @settings(max_examples=historias, deadline=None, suppress_health_check=list(HealthCheck))
    @given(texto.map("".join))
    def conferir(t: str) -> None:
        assert recusas(bd, [t.replace("\x00", "")]) == []

    conferir()


@pytest.mark.parametrize(
    ("tipo", "texto"),
    [
        ("prazo_registrado", "A vistoria ficou para 29/11/2026."),
        ("prazo_registrado", "Prazo até 2020-01-01, prorrogado até 15 de março de 2021."),
        ("prazo_registrado", "Prometeram para 31/02/2027."),
        ("protocolo_aberto", "Protocolo nº " + "1" * 9_900),
        ("status_atualizado", "Conclusão ratificada pela comunidade."),
    ],
)
def test_o_que_a_validacao_recusaria_nao_se_sugere(bd: psycopg.Connection[Any], tipo: str, texto: str) -> None:
    """N46. Uma data que já passou não vira a de hoje, nem vai como veio: o campo fica para o conselheiro."""
    assert recusas(bd, [texto]) == []
    assert sugerir(texto, tipo, UUID(int=1), HOJE, PARAMETROS).campos_estruturados == {}
