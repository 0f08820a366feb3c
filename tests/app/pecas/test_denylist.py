"""A denylist: palavras inteiras, por mais disfarçadas; nunca um pedaço de palavra inocente."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.pecas.denylist import Denylist
from tests.app.pecas.adversos import adversos
from tests.app.pecas.estrategias import textos
from tests.corpus.leitura import casos_denylist, lista_da_denylist
from tests.corpus.placar import TODOS

_LISTA = Denylist.de_texto(lista_da_denylist())


class TestCorpus:
    def test_tem_pelo_menos_cento_e_vinte_casos_metade_deles_inocente(self) -> None:
        casos = casos_denylist(*TODOS)

        assert len(casos) >= 120
        assert sum(not caso.termos for caso in casos) >= 60

    def test_nenhum_alarme_falso_e_nenhuma_falta(self) -> None:
        errados = [(c.id, c.texto, _LISTA.verificar(c.texto)) for c in casos_denylist(*TODOS)]
        esperados = [(c.id, c.texto, c.termos) for c in casos_denylist(*TODOS)]

        assert errados == esperados


class TestLista:
    def test_aceita_virgulas_linhas_e_frases(self) -> None:
        lista = Denylist.de_texto("um termo, outro\n\n , terceiro termo comprido,\nquarto")

        assert lista.verificar("quarto, terceiro  termo-comprido; outro e um TERMO") == [
            "um termo",
            "outro",
            "terceiro termo comprido",
            "quarto",
        ]

    def test_devolve_os_termos_como_estao_na_lista_na_ordem_dela_e_uma_vez_so(self) -> None:
        lista = Denylist.de_texto("Ladrão, BURRO, ladrao")

        assert lista.verificar("burro burro ladrões LADRÃO") == ["Ladrão", "BURRO"]

    @pytest.mark.parametrize("vazia", ["", " ,\n, ", "***, --"])
    def test_lista_vazia_nao_acha_nada(self, vazia: str) -> None:
        assert Denylist.de_texto(vazia).verificar("qualquer coisa, merda inclusive") == []

    @pytest.mark.parametrize(
        ("termo", "plural"),
        [
            ("ladrão", "ladrões"),
            ("imbecil", "imbecis"),
            ("animal", "animais"),
            ("trapaceiro", "trapaceiros"),
            ("impostor", "impostores"),
            ("jovem ruim", "jovens ruins"),
        ],
    )
    def test_plural_simples_tambem_conta(self, termo: str, plural: str) -> None:
        assert Denylist([termo]).verificar(f"são {plural}.") == [termo]

    def test_rr_e_ss_entre_vogais_distinguem_palavras(self) -> None:
        lista = Denylist(["caro", "cassar"])

        assert lista.verificar("o carro foi casar") == []
        assert lista.verificar("ficou caaaro, vão caçar ou cassar") == ["caro", "cassar"]


class TestQualquerTexto:
    @settings(max_examples=500, deadline=None)
    @given(textos)
    def test_verificar_nunca_falha_e_so_devolve_termos_da_lista(self, texto: str) -> None:
        achados = _LISTA.verificar(texto)

        assert len(set(achados)) == len(achados)

    @settings(max_examples=200, deadline=None)
    @given(st.lists(st.text(max_size=12), max_size=20), textos)
    def test_qualquer_lista_serve(self, termos: list[str], texto: str) -> None:
        achados = Denylist(termos).verificar(texto)

        assert set(achados) <= set(termos)

    def test_dez_mil_caracteres_adversos_com_cinco_mil_termos_nao_a_derrubam(self) -> None:
        lista = Denylist([f"termo{i} ruim" for i in range(5_000)])

        for texto in adversos(10_000).values():
            assert lista.verificar(texto) == []
