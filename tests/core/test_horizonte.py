"""Nenhum evento é pulado: o horizonte seguro de leitura (regra 3)."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.apoio.rede import Rede


@pytest.fixture
def outra(dsn: str) -> Iterator[Rede]:
    """Uma segunda sessão, que publica dentro de uma transação aberta."""
    with psycopg.connect(dsn) as conexao:
        yield Rede(conexao)


def sortear(rede: Rede, numero: int) -> UUID:
    return rede.sortear(UUID(int=numero), UUID(int=1000 + numero))


def tratados(rede: Rede) -> list[Any]:
    return [linha["event_id_sorteio"] for linha in rede.linhas("SELECT event_id_sorteio FROM d6b.acompanhamentos")]


def test_o_numero_menor_confirma_depois_e_os_dois_sao_tratados_em_ordem(rede: Rede, outra: Rede) -> None:
    menor = outra.sortear(UUID(int=1), UUID(int=11))
    maior = rede.sortear(UUID(int=1), UUID(int=12))
    rede.despachar()
    assert tratados(rede) == []
    outra.bd.commit()
    rede.despachar()
    assert set(tratados(rede)) == {menor, maior}
    # Em ordem: o de número menor foi sorteado antes, e o maior o encerrou.
    ativos = [a["event_id_sorteio"] for a in rede.acompanhamentos(UUID(int=1)) if a["status"] == "aguardando_inicio"]
    assert ativos == [maior]


def test_numero_que_nunca_existira_nao_detem_ninguem(rede: Rede, outra: Rede) -> None:
    sortear(outra, 1)
    outra.bd.rollback()
    depois = sortear(rede, 2)
    rede.despachar()
    assert tratados(rede) == [depois]


def test_transacao_longa_que_nao_publica_nao_segura_o_horizonte(rede: Rede, outra: Rede) -> None:
    outra.bd.execute("UPDATE core.parametros SET descricao = descricao WHERE nome = 'ia_habilitada'")
    sortear(rede, 1)
    # Uma lacuna de verdade, para obrigar a olhar quem segura o log.
    rede.bd.execute("SELECT nextval(pg_get_serial_sequence('core.event_log', 'sequence_number'))")
    sortear(rede, 2)
    rede.despachar()
    assert len(tratados(rede)) == 2


def test_ponto_de_salvamento_desfeito_deixa_lacuna_que_passa(rede: Rede, outra: Rede) -> None:
    with outra.bd.transaction():
        sortear(outra, 1)
        with outra.bd.transaction(force_rollback=True):
            sortear(outra, 2)
        sortear(outra, 3)
    sortear(rede, 4)
    rede.despachar()
    assert len(tratados(rede)) == 3


def test_transacao_preparada_segura_ate_ser_confirmada(rede: Rede, outra: Rede) -> None:
    outra.bd.execute("SELECT 1")
    menor = sortear(outra, 1)
    outra.bd.execute("PREPARE TRANSACTION 'teste_horizonte'")
    outra.bd.commit()
    sortear(rede, 2)
    rede.despachar()
    assert tratados(rede) == []
    rede.bd.execute("COMMIT PREPARED 'teste_horizonte'")
    rede.despachar()
    assert len(tratados(rede)) == 2
    assert menor in tratados(rede)


def test_quem_publica_em_duas_fases_dispensa_o_aviso_com_o_trabalhador_dormindo(
    rede: Rede, outra: Rede, dsn: str
) -> None:
    with psycopg.connect(dsn, autocommit=True) as dorminhoco:
        dorminhoco.execute("SELECT pg_advisory_lock(core.trava_do_sono())")
        outra.bd.execute("SET LOCAL formigueiro.sem_aviso = 'on'")
        sortear(outra, 1)
        outra.bd.execute("PREPARE TRANSACTION 'teste_sem_aviso'")
        outra.bd.commit()
        rede.bd.execute("COMMIT PREPARED 'teste_sem_aviso'")
    rede.despachar()
    assert len(tratados(rede)) == 1


def test_so_um_lado_da_lacuna_espera(rede: Rede, outra: Rede) -> None:
    antes = sortear(rede, 1)
    sortear(outra, 2)
    sortear(rede, 3)
    rede.despachar()
    assert tratados(rede) == [antes]
    assert rede.um("SELECT lacuna_ate FROM core.consumidores WHERE colonia = 'D-6b'") == 3


def test_um_lote_recusa_isolamento_que_nao_le_o_confirmado(rede: Rede) -> None:
    rede.bd.execute("SET default_transaction_isolation = 'repeatable read'")
    with pytest.raises(psycopg.Error, match="READ COMMITTED") as recusa:
        rede.bd.execute("SELECT d6b.processar_pendentes()")
    assert recusa.value.sqlstate == "FM422"


def test_cursores_nascem_no_fim_e_migrar_nao_os_mexe(rede: Rede) -> None:
    sortear(rede, 1)
    rede.despachar()
    fim = rede.um("SELECT core.obter_maior_sequence()")
    rede.bd.execute("DELETE FROM d6b.consumer_offset WHERE tipo_evento = 'demanda.recebida'")
    rede.bd.execute("UPDATE d6b.consumer_offset SET last_sequence = 0 WHERE tipo_evento = 'conselheiro.sorteado'")
    rede.bd.execute("SELECT d6b.semear_cursores()")
    assert rede.cursor("demanda.recebida") == fim
    assert rede.cursor("conselheiro.sorteado") == 0


def test_semear_espera_quem_esta_publicando(rede: Rede, outra: Rede, dsn: str) -> None:
    sortear(outra, 1)
    rede.bd.execute("DELETE FROM d6b.consumer_offset")
    with psycopg.connect(dsn, autocommit=True) as semeador:
        semeador.execute("SET statement_timeout = '300ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            semeador.execute("SELECT d6b.semear_cursores()")
    outra.bd.commit()
    rede.bd.execute("SELECT d6b.semear_cursores()")
    assert rede.cursor("conselheiro.sorteado") == 0 or rede.um("SELECT count(*) FROM core.event_log") == 1
