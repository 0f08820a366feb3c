"""O que um operador manda de errado é recusado pelo nome do campo, e nada muda."""

from uuid import UUID

import psycopg
import pytest

from tests.apoio.rede import Rede


@pytest.mark.parametrize("limite", ["-1", "0", "NULL"])
@pytest.mark.parametrize(
    "funcao",
    [
        "d6b.processar_pendentes({})",
        "d8.processar_pendentes({})",
        "d6b.reservar_publicacoes({})",
        "d6b.republicar_saidas_conclusao_pendentes({})",
        "core.replay_de_sequence(0, '{{demanda.recebida}}', {})",
    ],
)
def test_limite_menor_que_um_e_recusado(rede: Rede, funcao: str, limite: str) -> None:
    with pytest.raises(psycopg.Error, match="O campo limite deve ser de pelo menos 1") as recusa:
        rede.bd.execute(f"SELECT {funcao.format(limite)}")
    assert recusa.value.sqlstate == "FM422"


@pytest.mark.parametrize("argumentos", ["NULL, '{}'", "0, NULL"])
def test_replay_recusa_o_que_falta(rede: Rede, argumentos: str) -> None:
    with pytest.raises(psycopg.Error, match="apos e tipos") as recusa:
        rede.bd.execute(f"SELECT core.replay_de_sequence({argumentos})")
    assert recusa.value.sqlstate == "FM422"


@pytest.mark.parametrize(
    "argumentos", ["NULL, 'x'", "'grave', 'x'", "'erro', NULL", "'erro', 'x', NULL", "'erro', 'x', '[]'"]
)
def test_ocorrencia_malfeita_e_recusada(rede: Rede, argumentos: str) -> None:
    with pytest.raises(psycopg.Error, match="nivel") as recusa:
        rede.bd.execute(f"SELECT core.registrar({argumentos})")
    assert recusa.value.sqlstate == "FM422"
    assert rede.um("SELECT count(*) FROM core.ocorrencias") == 0


# A varredura de tests/catalogo/test_argumentos.py chama tudo com tudo; aqui, o que cada recusa há de dizer.
@pytest.mark.parametrize(
    ("chamada", "campo"),
    [
        *(
            (f"{handler}(NULL)", "evento")
            for handler in (
                "d6b.on_conselheiro_sorteado",
                "d6b.on_conselheiro_atualizacao_registrada",
                "d6b.on_conselheiro_atualizacao_transcrita",
                "d6b.on_demanda_conclusao_confirmada",
                "d6b.on_demanda_recebida",
                "d8.on_demanda_concluida",
                "d8.on_manutencao_executada",
                "d8.on_demanda_recebida",
            )
        ),
        ("core.definir_relogio('infinity')", "quando"),
        ("core.dia_civico('-infinity')", "quando"),
        ("core.linha_do_tempo(NULL)", "demanda_id"),
        ("d6b.acompanhamento_conselheiro(NULL)", "conselheiro_id"),
        ("d6b.validar_atualizacao('prazo_registrado', '{\"data_estimada\": \"2020-01-01\"}', NULL)", "hoje"),
        ("d6b.validar_atualizacao('prazo_registrado', '{\"data_estimada\": \"2020-01-01\"}', '-infinity')", "hoje"),
        ("d8.dias_de_atraso(now(), 'infinity')", "geracao"),
        ("d8.mais_dias(now(), 2147483647)", "dias"),
        ("d8.mais_dias('infinity', 1)", "quando"),
        ("d8.montar_dossie(NULL, 1, now(), now())", "projeto"),
        ("d8.gerar_texto_demanda(1, NULL)", "dossie"),
        ("d8.previsao(NULL)", "ate"),
        ("d8.proximos_vencidos(core.agora(), '-infinity', gen_random_uuid(), -1)", "lote"),
        (
            "d8.varrer_lote(core.agora(), '-infinity', gen_random_uuid(), core.agora(), gen_random_uuid(), -1)",
            "lote",
        ),
    ],
)
def test_o_argumento_sem_sentido_e_recusado_pelo_nome(rede: Rede, chamada: str, campo: str) -> None:
    with pytest.raises(psycopg.Error, match=campo) as recusa:
        rede.bd.execute(f"SELECT {chamada}")
    assert recusa.value.sqlstate == "FM422"


def test_de_dias_nulos_nao_se_tira_peso_nem_atraso(rede: Rede) -> None:
    assert rede.um("SELECT d8.calcular_peso_atraso(NULL)") is None
    assert rede.um("SELECT d8.dias_de_atraso(now(), NULL)") is None


def test_um_handler_recusa_o_evento_de_outro_tipo_ou_sem_um_campo(rede: Rede) -> None:
    rede.sortear(UUID(int=1), UUID(int=2))
    for mudanca in ('{"tipo": "demanda.recolhida"}', '{"correlacao_id": null}', '{"publicado_em": "infinity"}'):
        with pytest.raises(psycopg.Error, match="O campo evento") as recusa:
            rede.bd.execute(
                "SELECT d6b.on_conselheiro_sorteado(jsonb_populate_record(e, %s)) FROM core.event_log AS e", [mudanca]
            )
        assert recusa.value.sqlstate == "FM422"
    assert rede.um("SELECT count(*) FROM d6b.processed_events") == 0
