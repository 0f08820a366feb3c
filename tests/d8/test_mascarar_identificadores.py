"""core.mascarar_identificadores: uma guarda grosseira, mas que não estraga protocolo (E29)."""

import json
import re
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CORPUS = Path(__file__).parents[1] / "corpus" / "sanitizador_ajuste.jsonl"
_PII = re.compile(r"\[\[(\w+)\|(.*?)\]\]")
_LICITO = re.compile(r"\{\{(\w+)\|(.*?)\}\}")


def mascarar(bd: psycopg.Connection[Any], texto: str | None) -> str | None:
    linha = bd.execute("SELECT core.mascarar_identificadores(%s)", [texto]).fetchone()
    assert linha is not None
    return None if linha[0] is None else str(linha[0])


def test_mascara_o_que_tem_forma_de_identificador(bd: psycopg.Connection[Any]) -> None:
    casos = {
        "CPF 529.982.247-25.": "CPF [CPF removido].",
        "cpf nº 52998224725, ok": "cpf nº [CPF removido], ok",
        "529 982 247 25": "[CPF removido]",
        "Ligue (11) 98765-4321!": "Ligue [telefone removido]!",
        "+55 11 98765-4321": "[telefone removido]",
        "fixo 3555-0199": "fixo [telefone removido]",
        "tel. 1135550199": "tel. [telefone removido]",
        "rita.souza@exemplo.com.br": "[e-mail removido]",
        "rita (arroba) exemplo.com": "[e-mail removido]",
        "Rita:\u00a0(11)\u00a098765\u20114321": "Rita: [telefone removido]",
        "529\u202f982\u202f247\u202f25": "[CPF removido]",
    }
    assert {texto: mascarar(bd, texto) for texto in casos} == casos


@pytest.mark.parametrize(
    "texto",
    [
        "",
        "Praça da Sé, 1578, CEP 01310-100",
        "Processo SEI 6017.2027/0002345-6 e protocolo 156-2027-0098761",
        "Plano 2027-2028, lei 13.709/2018, R$ 1.250.000,00",
        "Coordenadas -23.5505199, -46.6333094",
        "Medidor 2027.0312.004567 e registro 55720968229",
        "arroba de capim e 10 @ de gado",
        "R$\u00a01.250,00 em 12\u00a0meses, porta\u2011a\u2011porta",
    ],
)
def test_poupa_o_que_se_parece(bd: psycopg.Connection[Any], texto: str) -> None:
    assert mascarar(bd, texto) == texto


def test_nulo_continua_nulo(bd: psycopg.Connection[Any]) -> None:
    assert mascarar(bd, None) is None


PEDACOS = st.sampled_from(
    ["529.982.247-25", "52998224725", "cpf", "CPF nº ", "(11) 98765-4321", "+55 11 98765-4321", "3555-0199",
     "1135550199", "98765 4321", "tel", "contato: ", "a@b.c", "rita arroba b ponto c", "@", "arroba", "(11) 6234-5678",
     "[telefone removido]", "[CPF removido]", "[e-mail removido]", " ", "\u00a0", "\u2011", "\n",
     ".", "-", "/", "(", "]", "x", "2"]
)  # fmt: skip


@given(pedacos=st.lists(st.one_of(PEDACOS, st.characters(exclude_characters="\0", codec="utf-8")), max_size=12))
@settings(deadline=None, max_examples=600, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_mascarar_de_novo_nao_muda_nada(bd: psycopg.Connection[Any], pedacos: list[str]) -> None:
    uma_vez = mascarar(bd, "".join(pedacos))
    assert mascarar(bd, uma_vez) == uma_vez


@pytest.mark.parametrize("texto", ["3555-0199 98765432 98765432", "3555-0199(11) 6234-5678"])
def test_mascarar_de_novo_nao_muda_nem_o_que_uma_troca_descobre(bd: psycopg.Connection[Any], texto: str) -> None:
    uma_vez = mascarar(bd, texto)
    assert uma_vez != texto
    assert mascarar(bd, uma_vez) == uma_vez


def test_corpus_apanha_a_maior_parte_perde_quase_nada_e_repetir_nao_muda(bd: psycopg.Connection[Any]) -> None:
    achados, total, licitos, perdidos = 0, 0, 0, 0
    for linha in CORPUS.read_text(encoding="utf-8").splitlines():
        marcado = json.loads(linha)["marcado"]
        limpo = mascarar(bd, _LICITO.sub(r"\2", _PII.sub(r"\2", marcado))) or ""
        assert mascarar(bd, limpo) == limpo
        visados = [valor for especie, valor in _PII.findall(marcado) if especie in ("cpf", "telefone", "email")]
        total += len(visados)
        achados += sum(valor not in limpo for valor in visados)
        licitos += len(_LICITO.findall(marcado))
        perdidos += sum(valor not in limpo for _, valor in _LICITO.findall(marcado))
    assert achados / total > 0.85
    assert perdidos / licitos < 0.02
