"""O sanitizador: o que sai, o que fica, e o placar sobre o corpus rotulado."""

import pytest
from hypothesis import HealthCheck, given, settings

from app.pecas.identificadores.localizar import localizar
from app.pecas.neutralizar import neutralizar
from app.pecas.sanitizador import sanitizar
from tests.app.pecas.adversos import adversos
from tests.app.pecas.estrategias import textos
from tests.corpus.leitura import frases
from tests.corpus.placar import TODOS, medir, nosso, phonenumbers_e_stdnum, so_tarja


class TestCorpus:
    def test_tem_pelo_menos_trezentas_frases_com_o_que_sai_e_o_que_fica(self) -> None:
        corpus = frases(*TODOS)

        assert len(corpus) >= 300
        assert len({frase.id for frase in corpus}) == len(corpus)
        assert sum(len(frase.sai) for frase in corpus) >= 250
        assert sum(len(frase.fica) for frase in corpus) >= 200

    def test_recall_e_precisao_alcancam_noventa_e_nove_por_cento_no_todo_e_em_cada_especie(self) -> None:
        placar = medir(nosso, frases(*TODOS))

        assert placar.recall >= 0.99, placar.erros
        assert placar.precisao >= 0.99, placar.erros
        assert min(map(placar.recall_de, placar.havia)) >= 0.99, placar.erros
        assert min(map(placar.precisao_de, placar.achou)) >= 0.99, placar.erros

    def test_nada_que_tem_de_ficar_se_perde(self) -> None:
        perdidos = [
            (frase.id, frase.texto[t.inicio : t.fim])
            for frase in frases(*TODOS)
            for t in frase.fica
            if neutralizar(frase.texto[t.inicio : t.fim]) not in sanitizar(frase.texto)
        ]

        assert perdidos == []

    def test_nada_que_tem_de_sair_fica(self) -> None:
        ficaram = [
            (frase.id, frase.texto[t.inicio : t.fim])
            for frase in frases(*TODOS)
            for t in frase.sai
            if neutralizar(frase.texto[t.inicio : t.fim]) in sanitizar(frase.texto)
        ]

        assert ficaram == []

    def test_a_marca_diz_a_especie_certa(self) -> None:
        placar = medir(nosso, frases(*TODOS))

        assert placar.especie_trocada <= placar.achou.total() * 0.02

    def test_as_bibliotecas_sozinhas_ficam_abaixo(self) -> None:
        corpus = frases(*TODOS)
        placar = medir(nosso, corpus)

        for outro in (medir(so_tarja, corpus), medir(phonenumbers_e_stdnum, corpus)):
            assert outro.recall < placar.recall
            assert outro.precisao < placar.precisao

    def test_cada_frase_sanitizada_ja_nao_muda(self) -> None:
        mudaram = [f.id for f in frases(*TODOS) if sanitizar(sanitizar(f.texto)) != sanitizar(f.texto)]

        assert mudaram == []


class TestMarcas:
    @pytest.mark.parametrize(
        ("texto", "esperado"),
        [
            ("CPF 529.982.247-25.", "CPF [CPF removido]."),
            ("empresa 11.444.777/0001-61", "empresa [CNPJ removido]"),
            ("CNPJ 12.ABC.345/01DE-35", "CNPJ [CNPJ removido]"),
            ("ligue (11) 90123-4567!", "ligue [telefone removido]!"),
            ("escreva a ana@exemplo.com, por favor", "escreva a [e-mail removido], por favor"),
            ("cartão SUS 898 0000 0004 3208", "cartão SUS [cartão SUS removido]"),
            ("NIS 120.12345.67-9", "NIS [PIS removido]"),
            ("título de eleitor 1234 5678 0123", "título de eleitor [título de eleitor removido]"),
            ("CNH 12345678900", "CNH [CNH removida]"),
            ("RG 12.345.678-9", "RG [RG removido]"),
            ("placa ABC1D23", "placa [placa removida]"),
            ("4111 1111 1111 1111", "[cartão removido]"),
            ("pix 123e4567-e89b-42d3-a456-426614174000", "pix [chave Pix removida]"),
        ],
    )
    def test_o_que_sai_deixa_uma_marca_curta_em_portugues(self, texto: str, esperado: str) -> None:
        assert sanitizar(texto) == esperado


class TestContexto:
    @pytest.mark.parametrize(
        "texto",
        [
            "protocolo 52998224725",
            "O CPF consta no protocolo 52998224725",
            "Protocolos: 52998224725 / 12345678909 e 11144477735",
            "protocolo da moradora 52998224725",
            "nº 52998224725 do protocolo",
            "OS 12012345679 emitida",
            "Lei 13.146/2015 e Decreto 58.756/2019",
            "-23.55051999,-46.63330911",
            "De 01/01/2026 a 31/12/2026, biênio 2027-2028",
            "R$ 529.982.247,25 ou R$ 52998224725",
            "0800 055 0195, 4004-1234, 156, 190 e 192",
            "CEP 01310-100",
            "Foram 11987654321 grãos",
            "id 123e4567-e89b-42d3-a456-426614174000",
            "https://sei.exemplo.gov.br/52998224725",
            "A norma ABNT NBR-9050 vale para a rampa do ônibus",
        ],
    )
    def test_numero_publico_fica(self, texto: str) -> None:
        assert sanitizar(texto) == texto

    @pytest.mark.parametrize(
        "texto",
        [
            "protocolo do CPF 52998224725",
            "Protocolo 529.982.247-25",  # a pontuação do CPF, com o dígito certo, vence a palavra
            "protocolo aberto em nome de 52998224725",
            "CPF 5 2 9 9 8 2 2 4 7 2 5",
            "CPF: 529.982.247-26",  # dígito errado, mas o rótulo diz o que é
            "CPF ５２９．９８２．２４７－２５",
            "CPF 529\u200b.982.247-25",
            "CPF 529&#46;982&#x2e;247&#45;25",
            "CPF 529<b>.982</b>.247-25",
            "https://exemplo.gov.br/?cpf=52998224725",
        ],
    )
    def test_disfarce_ou_vizinhanca_nao_salvam_um_cpf(self, texto: str) -> None:
        assert [a.especie for a in localizar(sanitizar(texto))] == []
        assert "247" not in sanitizar(texto)

    @pytest.mark.parametrize("texto", ["3555-0101", "de 3555-0101 a 4555-0102", "código 3555-0101"])
    def test_fixo_sem_ddd_so_sai_quando_o_contexto_diz_telefone(self, texto: str) -> None:
        assert sanitizar(texto) == texto
        assert "3555" not in sanitizar(f"telefone {texto}".replace("código ", "").replace("de ", ""))

    def test_lista_de_numeros_herda_o_rotulo_do_primeiro(self) -> None:
        assert sanitizar("CPFs 52998224726, 11144477736 e 12345678900") == (
            "CPFs [CPF removido], [CPF removido] e [CPF removido]"
        )


class TestQualquerTexto:
    @settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(textos)
    def test_sanitizar_duas_vezes_e_sanitizar_uma(self, texto: str) -> None:
        uma = sanitizar(texto)

        assert sanitizar(uma) == uma

    @settings(max_examples=300, deadline=None)
    @given(textos)
    def test_o_resultado_nao_tem_marcacao_nem_controle(self, texto: str) -> None:
        limpo = sanitizar(texto)

        assert "<" not in limpo
        assert ">" not in limpo
        assert not any(ord(c) < 32 and c != "\n" for c in limpo)

    def test_dez_mil_caracteres_adversos_nao_o_derrubam_nem_o_desestabilizam(self) -> None:
        for nome, texto in adversos(10_000).items():
            uma = sanitizar(texto)
            assert sanitizar(uma) == uma, nome
