"""A história de uma demanda, das duas colônias, em ordem, e sem ler o log inteiro."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao, vencer_tentativas
from tests.apoio.rede import Rede

DEMANDA, OUTRA, ANA, BIA = UUID(int=1), UUID(int=2), UUID(int=11), UUID(int=12)
PLANO = {"intervalo_dias": 30, "tipo": "poda", "prazo_tolerancia_dias": 5, "vida_util_dias": 300}
FALHA = "falhou: falha de teste em conselheiro.demanda_iniciada"
ONDE: dict[str, Any] = {"categoria": "3.9", "localizacao": {"lat": -23.5, "lng": -46.6}}


def linha(rede: Rede, demanda: UUID = DEMANDA) -> list[dict[str, Any]]:
    return rede.linhas("SELECT * FROM core.linha_do_tempo(%s)", demanda)


def o_que(rede: Rede, demanda: UUID = DEMANDA) -> list[str]:
    return [item["o_que"] for item in linha(rede, demanda)]


def sem_ocorrencias(itens: list[str]) -> list[str]:
    return [item for item in itens if not item.startswith("info: ")]


def test_a_vida_de_uma_obra_nas_duas_colonias_em_ordem(rede: Rede) -> None:
    rede.relogio("2026-03-01 12:00:00+00")
    rede.sortear(DEMANDA, ANA)
    rede.sortear(OUTRA, BIA)
    rede.despachar()
    rede.relogio("2026-03-02 12:00:00.123+00")
    rede.concluir(DEMANDA, ANA, plano_manutencao=PLANO, **ONDE)
    rede.despachar()
    rede.relogio("2026-04-02 12:00:00+00")
    rede.bd.execute("CALL d8.executar_varredura()")
    rede.despachar()
    assert sem_ocorrencias(o_que(rede)) == [
        "evento conselheiro.sorteado 1.0.0",
        "acompanhamento aberto",
        "evento conselheiro.atualização_registrada 1.1.0",
        "atualização 1 gravada: status_atualizado",
        "acompanhamento em andamento",
        "acompanhamento encerrado: concluido",
        "evento conselheiro.demanda_iniciada 1.0.0",
        "evento demanda.concluída 1.1.0",
        "projeto monitorado",
        "evento conselheiro.ciclo_concluído 1.0.0",
        "ciclo 1 gerado",
        "ciclo 1: em_andamento",
        "resumo de fecho na fila de publicação, atualização 1",
    ]
    (gerado,) = (item for item in linha(rede) if item["o_que"] == "ciclo 1 gerado")
    filha = UUID(gerado["detalhe"]["demanda_manutencao_id"])
    assert o_que(rede, filha) == [
        "evento demanda.recebida 2.0.0",
        "ciclo 1 gerado",
        "demanda de manutenção guardada",
        "ciclo 1: em_andamento",
        "evento demanda.manutenção_gerada 1.0.0",
    ]
    assert {str(OUTRA), str(BIA)}.isdisjoint(str(item) for item in linha(rede))
    projeto = rede.um("SELECT id FROM d8.projetos_monitorados")
    rede.bd.execute("SELECT d8.encerrar_monitoramento(%s, 'projeto_removido')", [projeto])
    assert [item for item in sem_ocorrencias(o_que(rede)) if "encerrado" in item] == [
        "acompanhamento encerrado: concluido",
        "evento manutenção.ciclo_encerrado 1.0.0",
        "projeto encerrado: projeto_removido",
    ]


def test_o_relato_em_audio_cuja_transcricao_nao_diz_a_demanda(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    relato = rede.atualizar(DEMANDA, ANA, texto="", audio_object_key="audios/1.ogg")
    rede.despachar()
    transcricao: dict[str, object] = {
        "atualizacao_event_id": str(relato).upper(),
        "sucesso": True,
        "texto_transcrito": "Falei com a zeladoria.",
    }
    rede.publicar("conselheiro.atualização_transcrita", transcricao, "D-1b")
    rede.despachar()
    assert "evento conselheiro.atualização_transcrita 1.0.0" in o_que(rede)
    assert "atualização 1 gravada: contato_realizado, transcrição concluida" in o_que(rede)
    assert "texto na fila de publicação, atualização 1" in o_que(rede)


def test_cada_tentativa_da_dlq_fica_com_quem_e_no_que_deu(rede: Rede, dsn: str) -> None:
    recusar_publicacao(rede.bd, "conselheiro.demanda_iniciada")
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    vencer_tentativas(rede.bd)
    rede.despachar()
    entrada = rede.um("SELECT id FROM core.dlq")
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_dba"), autocommit=True) as dba:
        dba.execute("SELECT core.dlq_reprocessar(%s)", [entrada])
    aceitar_publicacao(rede.bd)
    rede.bd.execute("SELECT core.dlq_reprocessar(%s)", [entrada])
    da_dlq = [(item["o_que"], item["quem"]) for item in linha(rede) if item["o_que"].startswith("DLQ")]
    assert da_dlq == [
        (f"DLQ {entrada}: entrou a saída conselheiro.demanda_iniciada", None),
        (f"DLQ {entrada}: tentativa 1, {FALHA}", "postgres"),
        (f"DLQ {entrada}: tentativa 2, {FALHA}", "formigueiro_dba"),
        (f"DLQ {entrada}: tentativa 3, publicada", "postgres"),
        (f"DLQ {entrada}: resolvida", None),
    ]
    assert rede.um("SELECT tentativas FROM core.dlq") == 3


def test_o_que_se_descartou_e_o_que_se_ignorou_aparece(rede: Rede) -> None:
    rede.atualizar(DEMANDA, ANA)  # ninguém foi sorteado
    rede.despachar()
    assert [item for item in o_que(rede) if item.startswith("aviso")] == [
        "aviso: Sem acompanhamento ativo para o conselheiro e a demanda"
    ]


def test_quem_registra_uma_ocorrencia_nao_assina_por_outro(rede: Rede, dsn: str) -> None:
    forjado = {"demanda_id": str(DEMANDA), "conselheiro_id": str(ANA), "por": "maria_da_silva"}
    for papel in ("formigueiro_dba", "formigueiro_app"):
        with psycopg.connect(make_conninfo(dsn, user=papel), autocommit=True) as sessao:
            sessao.execute("SELECT core.registrar('aviso', 'Entrada da DLQ descartada', %s)", [Jsonb(forjado)])
    assert [item["quem"] for item in linha(rede)] == ["formigueiro_dba", "formigueiro_app"]
    assert "maria_da_silva" not in str(linha(rede))


def test_uma_demanda_desconhecida_nao_tem_historia(rede: Rede) -> None:
    assert linha(rede, uuid4()) == []


def test_duas_leituras_dao_a_mesma_ordem(rede: Rede) -> None:
    rede.relogio("2026-03-01 12:00:00+00")
    rede.sortear(DEMANDA, ANA)
    for _ in range(20):
        rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    antes = linha(rede)
    rede.bd.execute("UPDATE d6b.acompanhamentos SET atualizado_em = atualizado_em")  # as linhas mudam de lugar
    rede.bd.execute("VACUUM FULL d6b.publicacoes_pendentes")
    assert linha(rede) == antes


def test_so_o_dba_a_ve(rede: Rede, dsn: str) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_dba"), autocommit=True) as dba:
        assert dba.execute("SELECT count(*) FROM core.linha_do_tempo(%s)", [DEMANDA]).fetchone() == (2,)
    with (
        psycopg.connect(make_conninfo(dsn, user="formigueiro_app"), autocommit=True) as app,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        app.execute("SELECT FROM core.linha_do_tempo(%s)", [DEMANDA])


def test_nao_le_o_log_inteiro(rede: Rede) -> None:
    """Sem estatística nenhuma (autovacuum desligado na suíte), e com milhares de eventos de outras demandas."""
    eventos = [
        {
            "tipo": "conselheiro.sorteado",
            "origem": "D-6a",
            "payload": {campo: str(uuid4()) for campo in ("demanda_id", "conselheiro_id", "unidade_civica_id")},
        }
        for _ in range(3000)
    ]
    rede.bd.execute("SELECT count(*) FROM core.publicar_lote(%s)", [Jsonb(eventos)])
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    lidas = "SELECT sum(seq_tup_read) FROM pg_stat_user_tables WHERE relname IN ('event_log', 'dlq', 'ocorrencias')"
    rede.bd.execute("SELECT pg_stat_force_next_flush()")
    antes = rede.um(lidas)
    assert len(linha(rede)) > 4
    rede.bd.execute("SELECT pg_stat_force_next_flush()")
    assert rede.um(lidas) == antes
