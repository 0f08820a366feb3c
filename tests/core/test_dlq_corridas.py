"""Duas sessões sobre a mesma entrada da DLQ: uma faz, a outra fica sabendo (regra 4)."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.apoio.espera import ate, ate_uma_sessao_esperar
from tests.apoio.rede import Rede

DEMANDA, ANA = UUID(int=1), UUID(int=11)
PORTAO = 4242  # quem trata o sorteio espera por esta trava consultiva
REPROCESSAR = "SELECT core.dlq_reprocessar(%s)"
DESCARTAR = "SELECT core.dlq_descartar(%s, 'não vale a pena')"


@pytest.fixture
def entrada(rede: Rede) -> int:
    """Um sorteio que falhou e cuja causa se foi; tratá-lo de novo para no portão."""
    rede.bd.execute(
        f"""
        CREATE FUNCTION d6b.portao() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF (SELECT count(*) FROM core.dlq) = 0 OR to_regclass('public.veneno') IS NOT NULL THEN
                RAISE EXCEPTION 'veneno' USING ERRCODE = 'P0099';
            END IF;
            PERFORM pg_advisory_xact_lock({PORTAO});
            RETURN NEW;
        END $$;
        CREATE TRIGGER portao BEFORE INSERT ON d6b.acompanhamentos FOR EACH ROW EXECUTE FUNCTION d6b.portao();
        GRANT EXECUTE ON FUNCTION pg_advisory_xact_lock(bigint) TO d6b_dono
        """
    )
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    rede.bd.execute("UPDATE core.dlq SET proxima_tentativa = NULL")  # só à mão
    return int(rede.um("SELECT id FROM core.dlq"))


class Sessoes:
    """Operadores em sessões próprias, cada um em sua linha de execução."""

    def __init__(self, rede: Rede, dsn: str, linhas: ThreadPoolExecutor) -> None:
        self.rede, self.dsn, self.linhas = rede, dsn, linhas

    def pedir(self, comando: str, entrada: int) -> "Future[str]":
        """Manda o comando e volta quando ele espera por uma trava."""
        presas = self._presas()
        pedido = self.linhas.submit(self._rodar, comando, entrada)
        ate(lambda: self._presas() > presas, o_que="sessão à espera de uma trava")
        return pedido

    def _presas(self) -> int:
        return int(
            self.rede.um(
                "SELECT count(*) FROM pg_stat_activity"
                " WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE 'SELECT core.dlq_%%'"
            )
        )

    def _rodar(self, comando: str, entrada: int) -> str:
        with psycopg.connect(self.dsn, autocommit=True) as conexao:
            try:
                linha = conexao.execute(comando, [entrada]).fetchone()
            except psycopg.Error as erro:
                return f"{erro.sqlstate}: {erro.diag.message_primary}"
        return str(linha and linha[0])

    @contextmanager
    def portao_fechado(self) -> Iterator[None]:
        self.rede.bd.execute("SELECT pg_advisory_lock(%s)", [PORTAO])
        try:
            yield
        finally:
            self.rede.bd.execute("SELECT pg_advisory_unlock(%s)", [PORTAO])


@pytest.fixture
def sessoes(rede: Rede, dsn: str) -> Iterator[Sessoes]:
    with ThreadPoolExecutor() as linhas:
        yield Sessoes(rede, dsn, linhas)


def dlq(rede: Rede) -> dict[str, Any]:
    (linha,) = rede.linhas("SELECT * FROM core.dlq")
    return linha


def test_dois_reprocessam_um_faz_e_o_outro_fica_sabendo(rede: Rede, sessoes: Sessoes, entrada: int) -> None:
    with sessoes.portao_fechado():
        pedidos = [sessoes.pedir(REPROCESSAR, entrada) for _ in range(2)]
    assert [pedido.result() for pedido in pedidos] == [
        "processado",
        f"FM409: A entrada {entrada} da DLQ não está pendente, e sim resolvida.",
    ]
    assert rede.acompanhamento(DEMANDA)["status"] == "aguardando_inicio"
    assert rede.um("SELECT count(*) FROM d6b.processed_events") == 1


def test_descartar_durante_o_reprocessamento_perde(rede: Rede, sessoes: Sessoes, entrada: int) -> None:
    with sessoes.portao_fechado():
        primeiro, segundo = sessoes.pedir(REPROCESSAR, entrada), sessoes.pedir(DESCARTAR, entrada)
    assert primeiro.result() == "processado"
    assert segundo.result() == f"FM409: A entrada {entrada} da DLQ já está resolvida."
    assert (dlq(rede)["estado"], dlq(rede)["motivo"]) == ("resolvida", None)
    assert rede.acompanhamentos(DEMANDA)


def test_reprocessar_durante_o_descarte_perde(rede: Rede, sessoes: Sessoes, entrada: int, dsn: str) -> None:
    with psycopg.connect(dsn) as operador:
        operador.execute(DESCARTAR, [entrada])
        segundo = sessoes.pedir(REPROCESSAR, entrada)
    assert segundo.result() == f"FM409: A entrada {entrada} da DLQ não está pendente, e sim descartada."
    assert (dlq(rede)["estado"], dlq(rede)["motivo"]) == ("descartada", "não vale a pena")
    assert rede.acompanhamentos(DEMANDA) == []


def test_reprocessar_o_que_o_despacho_esta_tentando_perde(rede: Rede, sessoes: Sessoes, entrada: int) -> None:
    """O despacho na hora marcada e o operador, ao mesmo tempo."""
    rede.bd.execute("UPDATE core.dlq SET proxima_tentativa = clock_timestamp()")
    with sessoes.portao_fechado():
        despacho = sessoes.linhas.submit(sessoes._rodar, "CALL core.despachar() -- %s", entrada)
        ate_uma_sessao_esperar(rede.bd, "o despacho chegar ao portão")
        pedido = sessoes.pedir(REPROCESSAR, entrada)
    assert pedido.result().startswith("FM409")
    despacho.result()
    assert (dlq(rede)["estado"], dlq(rede)["tentativas"]) == ("resolvida", 1)
    assert rede.um("SELECT count(*) FROM d6b.acompanhamentos") == 1


def test_falhar_de_novo_volta_a_dlq_com_a_historia(rede: Rede, entrada: int) -> None:
    rede.bd.execute("UPDATE core.dlq SET proxima_tentativa = clock_timestamp(); CREATE TABLE public.veneno ()")
    rede.despachar()
    antes = dlq(rede)
    assert (antes["tentativas"], antes["ultimo_erro"]) == (1, "veneno")
    assert rede.um(REPROCESSAR, entrada) == "falhou: veneno"
    depois = dlq(rede)
    assert depois["atualizado_em"] > antes["atualizado_em"]
    iguais = ("id", "estado", "sqlstate", "ultimo_erro", "event_id", "criado_em")
    assert [depois[campo] for campo in iguais] == [antes[campo] for campo in iguais]
    assert depois["tentativas"] >= antes["tentativas"]
    rede.bd.execute("DROP TABLE public.veneno")
    assert rede.um(REPROCESSAR, entrada) == "processado"
    assert dlq(rede)["ultimo_erro"] == "veneno"
