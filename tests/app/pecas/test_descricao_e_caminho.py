"""A descrição e o caminho de cada tipo de atualização."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.pecas.caminho import CAMPOS_DO_CAMINHO, extrair_caminho
from app.pecas.descricao import LIMITE_DESCRICAO, descrever
from app.pecas.sanitizador import sanitizar
from app.pecas.tipos import TIPOS_ATUALIZACAO
from tests.app.pecas.estrategias import textos

_CAMPOS = [
    "canal", "contato_nome", "contato_orgao", "resultado", "protocolo_numero", "orgao", "data_protocolo",
    "link_acompanhamento", "tipo_documento", "descricao", "anexo_id", "orgao_envolvido", "descricao_entrave",
    "gravidade", "novo_status", "fonte_informacao", "data_estimada", "descricao_prazo", "fonte_estimativa",
]  # fmt: skip
_conteudos = st.dictionaries(
    st.sampled_from(_CAMPOS), st.one_of(textos, st.none(), st.integers(), st.booleans(), st.lists(st.text(max_size=5)))
)


class TestDescricao:
    @pytest.mark.parametrize(
        ("tipo", "conteudo", "esperada"),
        [
            (
                "contato_realizado",
                {"canal": "telefone", "contato_orgao": "Secretaria de Obras", "resultado": "vistoria na sexta"},
                "Contato por telefone com Secretaria de Obras. Resultado: vistoria na sexta. Relato: Fui lá.",
            ),
            ("contato_realizado", {"canal": "presencial"}, "Contato presencial. Relato: Fui lá."),
            ("contato_realizado", {"canal": "oficio"}, "Contato por ofício. Relato: Fui lá."),
            (
                "protocolo_aberto",
                {"protocolo_numero": "2027/001-5", "orgao": "Sabesp", "data_protocolo": "2027-03-12"},
                "Protocolo nº 2027/001-5 aberto em 12/03/2027 no órgão Sabesp. Relato: Fui lá.",
            ),
            (
                "documento_anexado",
                {"tipo_documento": "ofício", "descricao": "Ofício da associação", "anexo_id": "x"},
                "Documento acrescentado: ofício. Ofício da associação. Relato: Fui lá.",
            ),
            (
                "entrave_registrado",
                {"orgao_envolvido": "Enel", "descricao_entrave": "falta desligar a rede", "gravidade": "media"},
                "Entrave com Enel: falta desligar a rede. Gravidade média. Relato: Fui lá.",
            ),
            (
                "status_atualizado",
                {"novo_status": "em_andamento", "fonte_informacao": "visita"},
                "Situação da demanda: em andamento. Fonte: visita. Relato: Fui lá.",
            ),
            (
                "prazo_registrado",
                {"data_estimada": "2027-04-30", "descricao_prazo": "início da obra", "fonte_estimativa": "regional"},
                "Prazo estimado: 30/04/2027, para início da obra. Fonte da estimativa: regional. Relato: Fui lá.",
            ),
        ],
    )
    def test_cada_tipo_vira_frases(self, tipo: str, conteudo: Mapping[str, object], esperada: str) -> None:
        assert descrever(tipo, conteudo, "Fui lá.") == esperada

    def test_o_protocolo_que_passa_pela_conta_do_cpf_fica_na_descricao_e_no_caminho(self) -> None:
        conteudo = {"protocolo_numero": "52998224725", "orgao": "Sabesp"}

        assert "nº 52998224725" in descrever("protocolo_aberto", conteudo, "Aberto.")
        assert extrair_caminho("protocolo_aberto", conteudo) == {"orgao": "Sabesp", "protocolo_numero": "52998224725"}

    def test_o_relato_que_os_campos_ja_dizem_nao_se_repete(self) -> None:
        descricao = descrever(
            "contato_realizado", {"canal": "email", "resultado": "Prometeram vistoria"}, "Prometeram vistoria."
        )

        assert descricao == "Contato por e-mail. Resultado: Prometeram vistoria."

    def test_tipo_desconhecido_ou_conteudo_vazio_ainda_dao_o_relato(self) -> None:
        assert descrever("outro", {}, "  Fui lá.  ") == "Fui lá."
        assert descrever("prazo_registrado", {}, "") == "Prazo registrado."

    def test_sanitiza_primeiro_e_corta_depois(self) -> None:
        # O CPF cairia bem em cima do corte; cortado antes, sobraria um pedaço dele.
        for enchimento in range(1_900, 2_010):
            descricao = descrever("contato_realizado", {}, "a " * (enchimento // 2) + "CPF 529.982.247-25 fim. " * 3)
            assert len(descricao) <= LIMITE_DESCRICAO
            assert "529" not in descricao

    def test_o_nome_da_pessoa_contatada_nao_aparece(self) -> None:
        conteudo = {"canal": "telefone", "contato_nome": "Marcos da Silva", "resultado": "o Marcos da Silva negou"}
        descricao = descrever(
            "contato_realizado", conteudo, "Falei com Marcos, e o Sr. Silva negou. Moro na Rua Marcos Silva."
        )

        assert descricao == (
            "Contato por telefone. Resultado: o [nome removido] negou. "
            "Relato: Falei com [nome removido], e o Sr. [nome removido] negou. Moro na Rua Marcos Silva."
        )

    def test_nome_de_setor_no_lugar_da_pessoa_fica(self) -> None:
        conteudo = {"contato_nome": "Setor de Obras", "contato_orgao": "Setor de Obras"}

        assert extrair_caminho("contato_realizado", conteudo) == {"contato_orgao": "Setor de Obras"}

    @settings(max_examples=400, deadline=None)
    @given(st.sampled_from([*TIPOS_ATUALIZACAO, "outro"]), _conteudos, textos)
    def test_qualquer_conteudo_da_uma_descricao_que_cabe_e_ja_nao_muda(
        self, tipo: str, conteudo: dict[str, object], texto: str
    ) -> None:
        descricao = descrever(tipo, conteudo, texto)

        assert len(descricao) <= LIMITE_DESCRICAO
        assert sanitizar(descricao) == descricao
        assert "\n" not in descricao


class TestCaminho:
    def test_tem_so_os_campos_do_tipo_e_nunca_a_pessoa(self) -> None:
        tudo = {campo: f"valor de {campo}" for campo in _CAMPOS}

        for tipo, campos in CAMPOS_DO_CAMINHO.items():
            caminho = extrair_caminho(tipo, tudo)
            assert caminho is not None
            assert tuple(caminho) == campos
            assert "contato_nome" not in caminho

    def test_cobre_os_seis_tipos(self) -> None:
        assert set(CAMPOS_DO_CAMINHO) == set(TIPOS_ATUALIZACAO)

    @pytest.mark.parametrize("conteudo", [{}, {"canal": ""}, {"canal": None}, {"canal": "  \n"}, {"canal": ["x"]}])
    def test_sem_campos_preenchidos_nao_ha_caminho(self, conteudo: Mapping[str, object]) -> None:
        assert extrair_caminho("contato_realizado", conteudo) is None

    def test_tipo_desconhecido_nao_tem_caminho(self) -> None:
        assert extrair_caminho("outro", {"canal": "telefone"}) is None

    def test_cada_campo_sai_sanitizado_e_no_tamanho(self) -> None:
        caminho = extrair_caminho(
            "entrave_registrado", {"orgao_envolvido": "Ana, CPF 529.982.247-25", "descricao_entrave": "palavra " * 400}
        )

        assert caminho is not None
        assert caminho["orgao_envolvido"] == "Ana, CPF [CPF removido]"
        assert len(caminho["descricao_entrave"]) <= 300

    @settings(max_examples=300, deadline=None)
    @given(st.sampled_from(TIPOS_ATUALIZACAO), _conteudos)
    def test_qualquer_conteudo_serve(self, tipo: str, conteudo: dict[str, object]) -> None:
        caminho = extrair_caminho(tipo, conteudo)

        assert caminho is None or all(0 < len(valor) <= 300 for valor in caminho.values())
