"""O que um handler não pode apanhar: quem o trata morre, ou passa do tempo (regra 4)."""

from uuid import UUID

import psycopg
import pytest

from tests.apoio.rede import Rede

DEMANDA, ANA = UUID(int=1), UUID(int=11)


def armadilha(rede: Rede, demanda: UUID, golpe: str) -> None:
    """O sorteio dessa demanda executa `golpe` dentro do handler."""
    rede.bd.execute(
        "CREATE FUNCTION d6b.armadilha() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER"
        f" AS $$ BEGIN {golpe}; RETURN NEW; END $$"
    )
    rede.bd.execute(
        "CREATE TRIGGER armadilha BEFORE INSERT ON d6b.acompanhamentos FOR EACH ROW"
        f" WHEN (NEW.demanda_id = '{demanda}') EXECUTE FUNCTION d6b.armadilha()"
    )


GOLPES = {
    "passa do statement_timeout": "PERFORM pg_sleep(30)",
    "derruba o processo": "PERFORM pg_terminate_backend(pg_backend_pid())",
}


@pytest.mark.parametrize("golpe", GOLPES.values(), ids=GOLPES)
def test_evento_mortal_acaba_na_dlq_e_os_vizinhos_sao_tratados_uma_vez(rede: Rede, dsn: str, golpe: str) -> None:
    armadilha(rede, DEMANDA, golpe)
    for numero in range(2, 12):
        rede.sortear(UUID(int=numero), UUID(int=100 + numero))
    rede.sortear(DEMANDA, ANA)
    atras = rede.atualizar(DEMANDA, ANA)
    for numero in range(12, 20):
        rede.sortear(UUID(int=numero), UUID(int=100 + numero))

    mortes = 0
    for _ in range(10):
        with psycopg.connect(dsn, autocommit=True) as despachante:
            despachante.execute("SET statement_timeout = '400ms'")
            try:
                despachante.execute("CALL core.despachar()")
            except (psycopg.errors.QueryCanceled, psycopg.OperationalError):
                mortes += 1

    assert mortes == 4, "uma vez no lote, três sozinho, e não mais"
    assert rede.um("SELECT count(*) FROM d6b.acompanhamentos") == 18
    mortal, espera = rede.linhas("SELECT * FROM core.dlq ORDER BY sequence_number")
    assert (mortal["chave"], mortal["estado"]) == (str(DEMANDA), "pendente")
    assert rede.um("SELECT proxima_tentativa IS NULL FROM core.dlq WHERE id = %s", mortal["id"])
    assert (espera["event_id"], espera["estado"]) == (atras, "em_espera")

    rede.bd.execute("DROP TRIGGER armadilha ON d6b.acompanhamentos")
    assert rede.um("SELECT core.dlq_reprocessar(%s)", mortal["id"]) == "processado"
    rede.despachar()
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 1


def test_despacho_sem_eventos_nao_escreve(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    antes = rede.linhas("SELECT xmin::text, * FROM core.consumidores ORDER BY colonia")
    rede.despachar()
    assert rede.linhas("SELECT xmin::text, * FROM core.consumidores ORDER BY colonia") == antes


def test_reserva_de_despachante_vivo_nao_conta_como_morte(rede: Rede, dsn: str) -> None:
    """Outro despachante reservou e ainda não travou a linha: espera-se por ele, sem isolar o lote dele."""
    rede.sortear(DEMANDA, ANA)
    with psycopg.connect(dsn) as outro:
        vivo = outro.execute(
            "SELECT virtualtransaction FROM pg_locks WHERE locktype = 'virtualxid' AND pid = pg_backend_pid()"
        ).fetchone()
        assert vivo is not None
        rede.bd.execute(
            "UPDATE core.consumidores SET reserva_vxid = %s, reserva_limite = 30 WHERE colonia = 'D-6b'", [vivo[0]]
        )
        assert rede.um("SELECT d6b.reservar_lote()") == -1
        outro.rollback()
    assert rede.um("SELECT d6b.reservar_lote()") == 1
