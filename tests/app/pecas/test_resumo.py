"""O resumo público do ciclo, `resumo_v1`."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.pecas.resumo import TETO_RESUMO, TETO_TRECHO, VERSAO_METODO, AtualizacaoDoCiclo, Ciclo, Desfecho, compor
from app.pecas.sanitizador import sanitizar
from tests.app.pecas.ciclos import PASTA, Exemplo, como_se_le, exemplos
from tests.app.pecas.estrategias import textos

_INICIO = datetime(2027, 3, 1, 12, tzinfo=UTC)


def _atualizacao(n: int, descricao: str = "Contato por telefone.", suspeita: bool = False) -> AtualizacaoDoCiclo:
    return AtualizacaoDoCiclo(UUID(int=n), n, "contato_realizado", _INICIO + timedelta(days=n - 1), descricao, suspeita)


def _desfecho(texto: str = "Tudo certo.", suspeita: bool = False) -> Desfecho:
    return Desfecho(UUID(int=900), 900, _INICIO + timedelta(days=90), texto, suspeita)


def _ciclo(atualizacoes: list[AtualizacaoDoCiclo], desfecho: Desfecho | None = None) -> Ciclo:
    return Ciclo(_INICIO, desfecho.criado_em if desfecho else None, "America/Sao_Paulo", atualizacoes, desfecho)


class TestDourados:
    @pytest.mark.parametrize("exemplo", exemplos(), ids=lambda e: str(e.nome))
    def test_descricoes_e_resumo_sao_os_que_foram_lidos_em_voz_alta(self, exemplo: Exemplo) -> None:
        dourado = (PASTA / f"{exemplo.nome}.txt").read_text("utf-8")

        assert como_se_le(exemplo.ciclo, compor(exemplo.ciclo)) == dourado

    def test_sao_dez(self) -> None:
        assert len(exemplos()) == len(list(Path(PASTA).glob("*.txt"))) == 10


class TestTexto:
    def test_diz_que_e_automatico_e_de_quando_e(self) -> None:
        texto = compor(_ciclo([_atualizacao(1)])).texto

        assert VERSAO_METODO == "resumo_v1"
        assert texto.startswith("Resumo automático")
        assert "O acompanhamento começou em 01/03/2027 e continua." in texto

    def test_as_datas_sao_as_do_fuso_civico(self) -> None:
        quase_meia_noite = datetime(2027, 3, 2, 2, 30, tzinfo=UTC)
        atualizacao = msgspec.structs.replace(_atualizacao(1), criado_em=quase_meia_noite)
        ciclo = Ciclo(quase_meia_noite, None, "America/Sao_Paulo", [atualizacao], None)

        assert "- 01/03/2027: " in compor(ciclo).texto
        assert "- 02/03/2027: " in compor(msgspec.structs.replace(ciclo, fuso="Europe/Lisbon")).texto

    def test_sem_atualizacoes_nao_ha_fontes(self) -> None:
        resumo = compor(Ciclo(None, None, "America/Sao_Paulo", [], None))

        assert resumo.fontes == []
        assert "Ainda não há atualizações publicadas." in resumo.texto

    def test_o_mesmo_ciclo_da_o_mesmo_resumo_em_qualquer_ordem_de_entrada(self) -> None:
        atualizacoes = [_atualizacao(n, f"Contato {n}.") for n in range(1, 6)]

        assert compor(_ciclo(atualizacoes)) == compor(_ciclo(atualizacoes[::-1]))

    def test_le_o_json_que_o_sql_monta(self) -> None:
        bruto = {
            "data_inicio": "2027-03-01T12:00:00.000Z",
            "data_fim": None,
            "fuso": "America/Sao_Paulo",
            "atualizacoes": [
                {
                    "atualizacao_id": str(UUID(int=1)),
                    "sequencia": 1,
                    "tipo": "contato_realizado",
                    "criado_em": "2027-03-01T12:00:00.120Z",
                    "descricao": "Contato por telefone.",
                    "suspeita": False,
                }
            ],
            "desfecho": None,
        }

        assert compor(msgspec.json.decode(json.dumps(bruto), type=Ciclo)).fontes == [UUID(int=1)]


class TestRetidos:
    def test_texto_retido_nao_entra_nem_como_fonte(self) -> None:
        resumo = compor(_ciclo([_atualizacao(1), _atualizacao(2, "Palavra feia.", suspeita=True), _atualizacao(3)]))

        assert "feia" not in resumo.texto
        assert resumo.fontes == [UUID(int=1), UUID(int=3)]

    def test_desfecho_retido_deixa_so_o_fato(self) -> None:
        resumo = compor(_ciclo([_atualizacao(1)], _desfecho("Palavra feia.", suspeita=True)))

        assert resumo.texto.endswith("Desfecho: demanda concluída em 30/05/2027.")
        assert resumo.fontes == [UUID(int=1)]


class TestTetos:
    def test_cada_trecho_tem_ate_quatrocentos_e_o_todo_ate_seis_mil(self) -> None:
        longa = "Uma frase que ocupa espaço. " * 70
        resumo = compor(_ciclo([_atualizacao(n, longa) for n in range(1, 501)], _desfecho(longa)))

        assert len(resumo.texto) <= TETO_RESUMO
        assert all(len(linha) <= TETO_TRECHO for linha in resumo.texto.split("\n"))

    def test_quando_nao_cabe_ficam_a_primeira_as_ultimas_e_a_conta_das_que_sairam(self) -> None:
        atualizacoes = [_atualizacao(n, f"Número {n}. " + "Mais uma frase qualquer. " * 30) for n in range(1, 101)]
        resumo = compor(_ciclo(atualizacoes))

        usadas = [f.int for f in resumo.fontes]
        assert usadas[0] == 1
        assert usadas[1:] == list(range(usadas[1], 101))
        assert f"- Mais {100 - len(usadas)} atualizações, de 02/03/2027 a " in resumo.texto
        assert all(f"Número {n}." in resumo.texto for n in usadas)
        assert "Número 2." not in resumo.texto

    def test_uma_so_de_fora_se_diz_no_singular(self) -> None:
        atualizacoes = [_atualizacao(n, "x" * 380) for n in range(1, 16)]
        resumo = compor(_ciclo(atualizacoes))

        assert "- Mais 1 atualização, de 02/03/2027, não coube neste resumo." in resumo.texto
        assert len(resumo.fontes) == 14

    def test_o_que_cabe_entra_todo(self) -> None:
        resumo = compor(_ciclo([_atualizacao(n) for n in range(1, 101)]))

        assert len(resumo.fontes) == 100
        assert "não couberam" not in resumo.texto

    @settings(max_examples=150, deadline=None)
    @given(st.lists(st.tuples(textos, st.booleans()), max_size=40), st.none() | st.tuples(textos, st.booleans()))
    def test_qualquer_ciclo_cabe_nao_muda_se_sanitizado_e_so_cita_o_que_usa(
        self, relatos: list[tuple[str, bool]], fim: tuple[str, bool] | None
    ) -> None:
        atualizacoes = [
            _atualizacao(n + 1, sanitizar(texto)[:2000], retida) for n, (texto, retida) in enumerate(relatos)
        ]
        resumo = compor(_ciclo(atualizacoes, _desfecho(*fim) if fim else None))

        assert len(resumo.texto) <= TETO_RESUMO
        assert sanitizar(resumo.texto) == resumo.texto
        retidas = {a.atualizacao_id for a in atualizacoes if a.suspeita}
        assert not retidas.intersection(resumo.fontes)
        assert len(set(resumo.fontes)) == len(resumo.fontes)
