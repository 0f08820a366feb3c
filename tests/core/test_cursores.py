"""O cursor que alguém recua fica recuado até ser lido, aconteça o que acontecer no meio (regra 4)."""

from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import psycopg
import pytest

from tests.apoio.espera import ate
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
        ate(lambda: curada.um("SELECT count(*) FROM pg_locks WHERE NOT granted") > 0 or None, o_que="o lote esperar")
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
