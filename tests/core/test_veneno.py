"""Cem eventos, três venenos: um levanta, um passa do tempo, um derruba quem o trata (regra 4)."""

from contextlib import suppress
from uuid import UUID

import psycopg

from tests.apoio.rede import Rede

LEVANTA, DEMORA, DERRUBA = UUID(int=20), UUID(int=50), UUID(int=80)
ANA = UUID(int=11)


def test_cem_eventos_com_tres_venenos_noventa_e_sete_tratados_uma_vez(rede: Rede, dsn: str) -> None:
    rede.bd.execute(
        f"""
        CREATE FUNCTION d6b.veneno() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            CASE NEW.demanda_id
                WHEN '{LEVANTA}' THEN RAISE 'veneno';
                WHEN '{DEMORA}' THEN PERFORM pg_sleep(30);
                WHEN '{DERRUBA}' THEN PERFORM pg_terminate_backend(pg_backend_pid());
                ELSE NULL;
            END CASE;
            RETURN NEW;
        END $$;
        CREATE TRIGGER veneno BEFORE INSERT ON d6b.acompanhamentos FOR EACH ROW EXECUTE FUNCTION d6b.veneno()
        """
    )
    for numero in range(1, 101):
        rede.sortear(UUID(int=numero), ANA)
    atras = rede.atualizar(DEMORA, ANA)

    for _ in range(60):  # nove bastam a quem tem pressa; numa máquina lenta, o CALL acaba por si antes de esvaziar
        with psycopg.connect(dsn, autocommit=True) as despachante, suppress(psycopg.OperationalError):
            despachante.execute("SET statement_timeout = '1s'")
            despachante.execute("CALL core.despachar()")
        if rede.um("SELECT posicao = core.obter_maior_sequence() FROM core.consumidores WHERE colonia = 'D-6b'"):
            break

    tratados = rede.linhas("SELECT demanda_id FROM d6b.acompanhamentos")
    assert len(tratados) == len({linha["demanda_id"] for linha in tratados}) == 97
    dlq = {
        UUID(linha["chave"]): linha
        for linha in rede.linhas("SELECT * FROM core.dlq WHERE tipo = 'conselheiro.sorteado'")
    }
    assert set(dlq) == {LEVANTA, DEMORA, DERRUBA}
    (espera,) = rede.linhas("SELECT * FROM core.dlq WHERE estado = 'em_espera'")
    assert espera["event_id"] == atras

    # Descartado o primeiro, o que esperava segue; redimido, também.
    rede.bd.execute("DROP TRIGGER veneno ON d6b.acompanhamentos")
    rede.bd.execute("SELECT core.dlq_descartar(%s, 'não se resolve')", [dlq[LEVANTA]["id"]])
    for demanda in (DEMORA, DERRUBA):
        assert rede.um("SELECT core.dlq_reprocessar(%s)", dlq[demanda]["id"]) == "processado"
    rede.despachar()
    assert rede.acompanhamento(DEMORA)["total_atualizacoes"] == 1
    assert rede.um("SELECT count(*) FROM core.dlq WHERE estado IN ('pendente', 'em_espera')") == 0
