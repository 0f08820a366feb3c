"""O cursor que alguém recua fica recuado até ser lido, aconteça o que acontecer no meio (regra 4)."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import psycopg
import pytest

from tests.apoio.espera import ate_uma_sessao_esperar
from tests.apoio.falhas import vencer_tentativas
from tests.apoio.rede import Rede
from tests.core.test_dlq import curar, envenenar

DEMANDA, OUTRA, ANA, BIA = UUID(int=1), UUID(int=2), UUID(int=11), UUID(int=12)
SORTEADO = "conselheiro.sorteado"
ATUALIZACAO = "conselheiro.atualização_registrada"


@pytest.fixture
def curada(rede: Rede) -> Rede:
    """OUTRA foi sorteada e atualizada; o sorteio de DEMANDA está na DLQ, já sem a causa, com a tentativa vencida."""
    rede.sortear(OUTRA, BIA)
    rede.atualizar(OUTRA, BIA)
    envenenar(rede, DEMANDA)
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    curar(rede)
    vencer_tentativas(rede.bd)
    return rede


@pytest.mark.parametrize("tipo", [SORTEADO, ATUALIZACAO])
@pytest.mark.parametrize("encerrar", ["core.dlq_reprocessar(max(id))", "core.dlq_descartar(max(id), 'teste')"])
def test_encerrar_uma_entrada_da_dlq_nao_desfaz_um_recuo(curada: Rede, tipo: str, encerrar: str) -> None:
    assert curada.cursor(tipo) >= 2
    curada.bd.execute("SELECT core.reposicionar('D-6b', %s, 0)", [tipo])
    curada.bd.execute(f"SELECT {encerrar} FROM core.dlq")
    assert curada.cursor(tipo) == 0
    curada.despachar()
    assert curada.cursor(tipo) >= 3


def test_uma_saida_que_falha_nao_desfaz_um_recuo(curada: Rede) -> None:
    curada.bd.execute("SELECT core.reposicionar('D-6b', %s, 0)", [ATUALIZACAO])
    curada.bd.execute(
        """
        SELECT core._guardar_saida(e, 'D-6b', '{"tipo": "demanda.concluída"}', 'em_espera', NULL, NULL)
          FROM core.event_log AS e WHERE e.sequence_number = 2
        """
    )
    assert curada.cursor(ATUALIZACAO) == 0


def test_a_saida_que_falha_baixa_o_cursor_de_seu_evento(curada: Rede) -> None:
    assert curada.cursor(ATUALIZACAO) >= 2
    curada.bd.execute(
        """
        SELECT core._guardar_saida(e, 'D-6b', '{"tipo": "demanda.concluída"}', 'em_espera', NULL, NULL)
          FROM core.event_log AS e WHERE e.sequence_number = 2
        """
    )
    assert curada.cursor(ATUALIZACAO) == 1


def test_um_recuo_a_mao_no_meio_de_um_lote_fica(curada: Rede, dsn: str) -> None:
    curada.bd.execute("SELECT core.dlq_reprocessar(max(id)) FROM core.dlq")
    curada.sortear(UUID(int=3), UUID(int=13))
    with psycopg.connect(dsn) as operadora, ThreadPoolExecutor(1) as executor:
        operadora.execute("UPDATE d6b.consumer_offset SET last_sequence = 0 WHERE tipo_evento = %s", [ATUALIZACAO])
        lote = executor.submit(_processar, dsn)
        ate_uma_sessao_esperar(curada.bd, "o lote esperar")
        operadora.commit()
        assert lote.result() == 1
    assert curada.cursor(ATUALIZACAO) == 0
    curada.despachar()
    assert curada.cursor(ATUALIZACAO) >= 4


def _processar(dsn: str) -> int:
    with psycopg.connect(dsn) as bd:
        linha = bd.execute("SELECT d6b.processar_pendentes(30)").fetchone()
        assert linha is not None
        return int(linha[0])


def test_a_saida_que_falha_durante_um_lote_baixa_o_cursor_quando_ele_acaba(curada: Rede, dsn: str) -> None:
    curada.bd.execute("SELECT core.dlq_reprocessar(max(id)) FROM core.dlq")
    curada.sortear(UUID(int=3), UUID(int=13))
    with psycopg.connect(dsn) as lote, ThreadPoolExecutor(1) as executor:
        lote.execute("SELECT d6b.processar_pendentes(30)")
        saida = executor.submit(_guardar_saida_do_evento_2, dsn)
        ate_uma_sessao_esperar(curada.bd, "a saída esperar")
        lote.commit()
        saida.result()
    assert curada.cursor(ATUALIZACAO) == 1
    curada.despachar()
    assert curada.cursor(ATUALIZACAO) == 1


def _guardar_saida_do_evento_2(dsn: str) -> None:
    with psycopg.connect(dsn) as bd:
        bd.execute(
            """
            SELECT core._guardar_saida(e, 'D-6b', '{"tipo": "demanda.concluída"}', 'em_espera', NULL, NULL)
              FROM core.event_log AS e WHERE e.sequence_number = 2
            """
        )


@pytest.mark.parametrize("desde", [0, 1, 2, 3, 4])
def test_reposicionar_rele_tambem_com_a_dlq_em_aberto(rede: Rede, desde: int) -> None:
    """O sorteio 3 está em aberto: relê-se de onde se pediu, e o cursor não passa dele."""
    envenenar(rede, DEMANDA)
    sorteios = [rede.sortear(DEMANDA if n == 2 else UUID(int=10 + n), ANA) for n in range(6)]
    rede.despachar()
    assert rede.cursor(SORTEADO) == 2
    rede.bd.execute("DELETE FROM d6b.processed_events")
    rede.bd.execute("SELECT core.reposicionar('D-6b', %s, %s)", [SORTEADO, desde])
    assert rede.cursor(SORTEADO) == min(desde, 2)
    rede.despachar()
    relidos = {linha["event_id"] for linha in rede.linhas("SELECT event_id FROM d6b.processed_events")}
    assert relidos == set(sorteios[desde:]) - {sorteios[2]}
    assert rede.cursor(SORTEADO) == 2


def test_um_recuo_nao_se_esquece_se_antes_dele_algo_falha(curada: Rede) -> None:
    for n in range(4):
        curada.sortear(UUID(int=20 + n), UUID(int=30 + n))
    curada.despachar()
    curada.bd.execute("SELECT core.reposicionar('D-6b', %s, 4)", [SORTEADO])
    curada.bd.execute("DELETE FROM d6b.processed_events")
    curada.bd.execute(
        """
        SELECT core._guardar_saida(e, 'D-6b', '{"tipo": "demanda.concluída"}', 'em_espera', NULL, NULL)
          FROM core.event_log AS e WHERE e.sequence_number = 1
        """
    )
    curada.despachar()
    assert curada.cursor(SORTEADO) == 0
    relidos = "SELECT sequence_number FROM core.event_log JOIN d6b.processed_events USING (event_id) ORDER BY 1"
    assert {linha["sequence_number"] for linha in curada.linhas(relidos)} >= {5, 6, 7}


def test_evento_descartado_da_dlq_conta_como_processado_e_pode_ser_reprocessado(rede: Rede) -> None:
    envenenar(rede, DEMANDA)
    sorteio = rede.sortear(DEMANDA, ANA)
    rede.despachar()
    rede.bd.execute("SELECT core.dlq_descartar(max(id), 'teste') FROM core.dlq")
    curar(rede)
    rede.bd.execute("SELECT core.reposicionar('D-6b', %s, 0)", [SORTEADO])
    rede.despachar()
    assert rede.acompanhamentos(DEMANDA) == []
    assert rede.um("SELECT core.reprocessar(%s, 'D-6b')", sorteio) == "processado"


def test_o_que_falha_ao_ser_relido_vai_na_frente_do_que_ja_esperava_da_mesma_chave(rede: Rede) -> None:
    primeiro = rede.sortear(DEMANDA, ANA)
    rede.despachar()
    envenenar(rede, DEMANDA)
    rede.sortear(DEMANDA, BIA)
    rede.despachar()
    rede.bd.execute("DELETE FROM d6b.processed_events")
    rede.bd.execute("ALTER TABLE d6b.acompanhamentos DISABLE TRIGGER USER")
    rede.bd.execute("DELETE FROM d6b.acompanhamentos")
    rede.bd.execute("ALTER TABLE d6b.acompanhamentos ENABLE TRIGGER USER")
    rede.bd.execute("SELECT core.reposicionar('D-6b', %s, 0)", [SORTEADO])
    rede.despachar()
    abertas = rede.linhas("SELECT event_id, estado FROM core.dlq ORDER BY sequence_number")
    assert [linha["estado"] for linha in abertas] == ["pendente", "em_espera"]
    assert abertas[0]["event_id"] == primeiro
