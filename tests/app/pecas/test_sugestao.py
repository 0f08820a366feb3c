"""A sugestão de estruturação: título, texto e campos que a validação aceita, sem inventar nada."""

import re
from datetime import date, timedelta
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.pecas.sugestao import ParametrosIa, SugestaoIa, TipoInvalido, construir_prompt, sugerir
from app.pecas.tipos import SITUACOES, TIPOS_ATUALIZACAO
from tests.app.pecas.adversos import adversos
from tests.app.pecas.estrategias import textos

_HOJE = date(2027, 3, 12)  # sexta-feira
_DEMANDA = UUID("00000000-0000-4000-8000-000000000001")
_PARAMETROS = ParametrosIa(ia_habilitada=False, ia_score_fallback=0.5)


def _sugerir(texto: str, tipo: str = "contato_realizado", hoje: date = _HOJE) -> SugestaoIa:
    return sugerir(texto, tipo, _DEMANDA, hoje, _PARAMETROS)


def _protocolo(texto: str) -> str | None:
    return _sugerir(texto, "protocolo_aberto").campos_estruturados.get("protocolo_numero")


def _data(texto: str, hoje: date = _HOJE) -> str | None:
    return _sugerir(texto, "prazo_registrado", hoje).campos_estruturados.get("data_estimada")


def _situacao(texto: str) -> str | None:
    return _sugerir(texto, "status_atualizado").campos_estruturados.get("novo_status")


class TestContrato:
    def test_o_texto_vem_aparado_e_a_confianca_e_a_do_parametro(self) -> None:
        sugestao = _sugerir("  Fui lá.\nNada.  ")

        assert sugestao.texto_sugerido == "Fui lá.\nNada."
        assert sugestao.score_confianca == 0.5

    def test_tipo_invalido_diz_quais_valem(self) -> None:
        with pytest.raises(TipoInvalido, match=r"Tipo de atualização inválido\..*contato_realizado, protocolo_aberto"):
            _sugerir("x", "telefonema")

    @pytest.mark.parametrize("tipo", ["contato_realizado", "documento_anexado", "entrave_registrado"])
    def test_os_outros_tipos_nao_tem_campos(self, tipo: str) -> None:
        assert _sugerir("Protocolo 12345678 concluído até 30/04/2027", tipo).campos_estruturados == {}

    def test_com_a_ia_ligada_a_resposta_e_a_mesma(self) -> None:
        ligada = ParametrosIa(ia_habilitada=True, ia_score_fallback=0.5)

        assert sugerir("Fui lá.", "contato_realizado", _DEMANDA, _HOJE, ligada) == _sugerir("Fui lá.")

    def test_o_prompt_e_o_da_especificacao(self) -> None:
        assert construir_prompt("Fui lá.", "contato_realizado", _DEMANDA) == (
            "Você é um assistente de relatoria cívica. Seu papel é estruturar informações mantendo linguagem neutra "
            "e separando fatos de interpretações. Não invente dados que não estão no texto original.\n\n"
            "Demanda de referência: 00000000-0000-4000-8000-000000000001.\n"
            "Tipo de atualização: contato_realizado.\n\n"
            "Texto original: Fui lá."
        )


class TestTitulo:
    @pytest.mark.parametrize(
        ("texto", "titulo"),
        [
            ("O Sr. Jó, da Av. Um, nº 10.3, deu R$ 1.200,50. Saí.", "O Sr. Jó, da Av. Um, nº 10.3, deu R$ 1.200,50"),
            ("Vi em https://a.gov.br/x.html?y=1. Certo?", "Vi em https://a.gov.br/x.html?y=1"),
            ("Resolvido! Enfim.", "Resolvido!"),
            ("  \n ", ""),
            ("linha um\nlinha dois", "linha um"),
        ],
    )  # fmt: skip
    def test_e_a_primeira_frase(self, texto: str, titulo: str) -> None:
        assert _sugerir(texto).titulo_sugerido == titulo

    def test_longo_e_cortado_na_palavra_com_reticencias(self) -> None:
        titulo = _sugerir("palavra " * 40).titulo_sugerido

        assert len(titulo) <= 100
        assert titulo.endswith("palavra…")

    def test_cem_caracteres_exatos_nao_se_cortam(self) -> None:
        assert _sugerir("a" * 100).titulo_sugerido == "a" * 100
        assert _sugerir("a" * 101).titulo_sugerido == "a" * 99 + "…"


class TestProtocolo:
    @pytest.mark.parametrize(
        ("texto", "numero"),
        [
            ("Abri o protocolo nº 2027.0001234-5 na prefeitura.", "2027.0001234-5"),
            ("Protocolo aberto na Sabesp em 12/03/2027, número 12345678.", "12345678"),
            ("SEI 6017.2027/0001234-5", "6017.2027/0001234-5"),
            ("prot. 156-2027-0123456 do 156", "156-2027-0123456"),
            ("prot.12345678", "12345678"),
            ("Registrei no 156 o protocolo 12345678 em 10/03/2027", "12345678"),
            ("Abri no SEI o processo 6017.2027/0001234-5, protocolo 987654", "987654"),
            ("Ouvidoria: 2027/000123", "2027/000123"),
            ("Manifestação nº 02.303.2027.123456/7", "02.303.2027.123456/7"),
            ("NUP 00137.012345/2027–61 no Fala.BR", "00137.012345/2027-61"),
            ("Ficou o processo 0007654-32.2026.8.26.0053.", "0007654-32.2026.8.26.0053"),
            ("chamado #90876543", "90876543"),
            ("a OS 12345/2027 foi aberta", "12345/2027"),
            ("Foi gerado o número de protocolo ABC-2027-001.", "ABC-2027-001"),
            ("protocolo: A1B2C3D4", "A1B2C3D4"),
            ("protocolo 2027 000123", "2027 000123"),
            ("protocolo 52998224725", "52998224725"),
            ("Solicitação 156 nº 33445566", "33445566"),
            ("Nº 2027-0345 na subprefeitura", "2027-0345"),
            ("protocolo em nome de Ana, (11) 90123-4567, sob nº 445566", "445566"),
        ],
    )
    def test_sai_em_suas_muitas_formas(self, texto: str, numero: str) -> None:
        assert _protocolo(texto) == numero

    @pytest.mark.parametrize(
        "texto",
        [
            "Abri protocolo, mas não me deram número.",
            "Falei com o CPF 529.982.247-25, tel (11) 90123-4567",
            "protocolo na Sabesp, 0800 055 0195",
            "protocolo aberto em 12/03/2027 às 14h30",
            "Rua 7, número 1234",
            "Lei 14.133/2021",
            "multa de R$ 1.200,50 no protocolo",
            "protocolo 12",
            "protocolo com 1500 reais de taxa",
        ],
    )
    def test_o_que_nao_e_protocolo_nao_vira_um(self, texto: str) -> None:
        assert _protocolo(texto) is None


class TestPrazo:
    @pytest.mark.parametrize(
        ("texto", "data"),
        [
            ("Prazo: 30/04/2027", "2027-04-30"),
            ("até 30/04/27", "2027-04-30"),
            ("até 30.04.2027", "2027-04-30"),
            ("previsto para 2027-06-01", "2027-06-01"),
            ("resolvem até 15/04", "2027-04-15"),
            ("até 2/5", "2027-05-02"),
            ("até 10/01", "2028-01-10"),
            ("entrega em 15 de março de 2027", "2027-03-15"),
            ("em 1º de abril", "2027-04-01"),
            ("até amanhã", "2027-03-13"),
            ("depois de amanhã", "2027-03-14"),
            ("prometeram para hoje", "2027-03-12"),
            ("em 15 dias", "2027-03-27"),
            ("prazo de 30 (trinta) dias", "2027-04-11"),
            ("daqui a duas semanas", "2027-03-26"),
            ("em 3 meses", "2027-06-12"),
            ("sexta-feira", "2027-03-19"),
            ("até segunda", "2027-03-15"),
            ("terça que vem", "2027-03-16"),
            ("quarta-feira da semana que vem", "2027-03-17"),
            ("até dia 20", "2027-03-20"),
            ("até o dia 10", "2027-04-10"),
            ("até o fim do mês", "2027-03-31"),
            ("no final de abril", "2027-04-30"),
            ("até o fim do ano", "2027-12-31"),
            ("12/03/2027", "2027-03-12"),
            ("Em 10/03/2027 falei com eles; previsão de entrega 20/05/2027", "2027-05-20"),
            ("Reunião em 20/03/2027. Prazo prometido: 30/03/2027", "2027-03-30"),
        ],
    )
    def test_sai_em_suas_muitas_formas(self, texto: str, data: str) -> None:
        assert _data(texto) == data

    @pytest.mark.parametrize(
        "texto",
        [
            "31/02/2027", "31/04", "30 de fevereiro de 2028", "01/01/2020", "em 10/03 estive lá", "hoje falei com eles",
            "até hoje nada", "há 15 dias espero", "sexta-feira passada", "segunda via do boleto",
            "dentro de 10 dias úteis", "lei 14.133/2021", "processo 6017.2027/0001234-5", "R$ 10.3",
            "em 9999 anos", "sem previsão",
        ],
    )  # fmt: skip
    def test_data_impossivel_passada_ou_inexistente_nao_vira_campo(self, texto: str) -> None:
        assert _data(texto) is None

    @settings(max_examples=200, deadline=None)
    @given(st.dates(min_value=date(2020, 1, 1), max_value=date(9999, 12, 31)), textos)
    def test_em_qualquer_dia_a_data_e_de_hoje_em_diante(self, hoje: date, texto: str) -> None:
        data = _data(f"até sexta-feira, em 15 dias, 29/02, fim do mês, dia 31 ou {texto}", hoje)

        assert data is None or date.fromisoformat(data) >= hoje

    def test_o_dia_da_semana_e_sempre_um_dos_sete_dias_seguintes(self) -> None:
        for dias in range(7):
            hoje = _HOJE + timedelta(days=dias)
            data = date.fromisoformat(_data("até quinta-feira", hoje) or "")
            assert data.weekday() == 3
            assert 1 <= (data - hoje).days <= 7


class TestSituacao:
    @pytest.mark.parametrize(
        ("texto", "situacao"),
        [
            ("A obra foi concluída ontem.", "concluido"),
            ("Problema resolvido!", "concluido"),
            ("O buraco foi tapado", "concluido"),
            ("A obra, que estava parada, foi retomada e segue em andamento", "em_andamento"),
            ("Serviço executado parcialmente", "em_andamento"),
            ("Aguardando resposta da Enel", "aguardando"),
            ("A equipe iniciou o serviço, mas agora está aguardando material", "aguardando"),
            ("A obra foi embargada pela justiça", "bloqueado"),
            ("Nada foi feito até agora", "pendente"),
            ("A vistoria foi finalizada, mas a obra não começou", "pendente"),
        ],
    )
    def test_vale_a_ultima_que_o_texto_afirma(self, texto: str, situacao: str) -> None:
        assert _situacao(texto) == situacao

    @pytest.mark.parametrize(
        "texto",
        [
            "Ainda não foi concluída",
            "Será concluída em abril",
            "Quando for concluída aviso",
            "Pedi que fosse resolvido",
            "Prometeram resolver",
            "A rua está bloqueada por entulho",
            "Fui ao local.",
        ],
    )
    def test_negacao_promessa_ou_rua_bloqueada_nao_sao_situacao(self, texto: str) -> None:
        assert _situacao(texto) is None


class TestQualquerTexto:
    @settings(max_examples=400, deadline=None)
    @given(st.sampled_from(TIPOS_ATUALIZACAO), textos)
    def test_todo_campo_sugerido_passa_pela_validacao(self, tipo: str, texto: str) -> None:
        sugestao = _sugerir(texto, tipo)

        assert len(sugestao.titulo_sugerido) <= 100
        for campo, valor in sugestao.campos_estruturados.items():
            if campo == "protocolo_numero":
                assert re.fullmatch(r"[A-Za-z0-9./ -]{4,}", valor)
            elif campo == "data_estimada":
                assert date.fromisoformat(valor) >= _HOJE
                assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", valor)
            else:
                assert (campo, valor in SITUACOES) == ("novo_status", True)

    @pytest.mark.parametrize("tipo", ["protocolo_aberto", "prazo_registrado", "status_atualizado"])
    def test_dez_mil_caracteres_adversos_nao_a_derrubam(self, tipo: str) -> None:
        for texto in adversos(10_000).values():
            _sugerir(texto, tipo)
