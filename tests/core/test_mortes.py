"""O que um handler não pode apanhar: quem o trata morre, ou passa do tempo (regra 4)."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from uuid import UUID, uuid4

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


# De cada golpe, o limite do comando: só quem passa dele o quer curto, e ainda assim com folga para os vizinhos.
GOLPES = {
    "passa do statement_timeout": ("PERFORM pg_sleep(60)", "2s"),
    "derruba o processo": ("PERFORM pg_terminate_backend(pg_backend_pid())", "60s"),
}


@pytest.mark.parametrize(("golpe", "limite"), GOLPES.values(), ids=GOLPES)
def test_evento_mortal_acaba_na_dlq_e_os_vizinhos_sao_tratados_uma_vez(
    rede: Rede, dsn: str, golpe: str, limite: str
) -> None:
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
            despachante.execute("SELECT set_config('statement_timeout', %s, false)", [limite])
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
            "UPDATE core.consumidores SET reserva_vxid = %s, reserva_pid = %s, reserva_limite = 30"
            " WHERE colonia = 'D-6b'",
            [vivo[0], outro.info.backend_pid],
        )
        assert rede.um("SELECT d6b.reservar_lote()") == -1
        outro.rollback()
    assert rede.um("SELECT d6b.reservar_lote()") == 1


def test_a_reserva_confirmada_vive_ate_o_lote_comecar(rede: Rede, dsn: str) -> None:
    """Entre as duas transações não há transação nenhuma em pg_locks, e o despachante está vivo."""
    rede.sortear(DEMANDA, ANA)
    with psycopg.connect(dsn, autocommit=True) as outro:
        outro.execute("SELECT d6b.reservar_lote()")
        assert rede.um("SELECT d6b.reservar_lote()") == -1
        outro.execute("SELECT d6b.processar_pendentes(30)")
        assert rede.um("SELECT d6b.reservar_lote()") == 0
    assert rede.acompanhamento(DEMANDA)["status"] == "aguardando_inicio"


def test_a_reserva_que_ninguem_roda_morre_com_a_sessao_ou_em_um_minuto(rede: Rede, dsn: str) -> None:
    rede.sortear(DEMANDA, ANA)
    with psycopg.connect(dsn, autocommit=True) as outro:
        outro.execute("SELECT d6b.reservar_lote()")
        rede.bd.execute("UPDATE core.consumidores SET reserva_em = reserva_em - interval '61 seconds'")
        assert rede.um("SELECT d6b.reservar_lote()") == 1


def test_despachantes_apressados_nao_se_dao_por_mortos(rede: Rede, dsn: str) -> None:
    rede.bd.execute(
        """
        CREATE TABLE public.mortes (quando timestamptz DEFAULT clock_timestamp());
        GRANT INSERT ON public.mortes TO PUBLIC;
        CREATE FUNCTION core.anotar_morte() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN INSERT INTO public.mortes DEFAULT VALUES; RETURN NEW; END $$;
        GRANT EXECUTE ON FUNCTION core.anotar_morte() TO PUBLIC;
        CREATE TRIGGER anotar_morte AFTER UPDATE ON core.consumidores FOR EACH ROW
            WHEN (NEW.isolado_ate IS NOT NULL OR NEW.mortes > 0) EXECUTE FUNCTION core.anotar_morte()
        """
    )
    fim = Event()

    def despachar_sem_parar() -> None:
        with psycopg.connect(dsn, autocommit=True) as bd:
            while not fim.is_set():
                bd.execute("CALL core.despachar()")

    with ThreadPoolExecutor(4) as executor:
        tarefas = [executor.submit(despachar_sem_parar) for _ in range(4)]
        try:
            for _ in range(400):
                rede.sortear(uuid4(), ANA)
        finally:
            fim.set()
        for tarefa in tarefas:
            tarefa.result()
    rede.despachar()
    assert rede.um("SELECT count(*) FROM public.mortes") == 0
    assert rede.um("SELECT count(*) FROM d6b.acompanhamentos") == 400


def morrer(rede: Rede, dsn: str) -> None:
    """Uma sessão reserva o lote e cai antes de rodá-lo."""
    with psycopg.connect(dsn, autocommit=True) as outro:
        outro.execute("SELECT d6b.reservar_lote()")


def test_morte_nao_se_atribui_a_evento_alem_do_horizonte(rede: Rede, dsn: str) -> None:
    """Um número menor ainda pode aparecer: nada se pula por causa de quem morreu."""
    with psycopg.connect(dsn) as lento:
        Rede(lento).sortear(DEMANDA, ANA)
        rede.sortear(UUID(int=2), UUID(int=12))
        for _ in range(5):
            morrer(rede, dsn)
        rede.despachar()
        assert rede.um("SELECT max(posicao) FROM core.consumidores") == 0
        lento.commit()
    rede.despachar()
    assert rede.um("SELECT count(*) FROM d6b.acompanhamentos") == 2
    assert rede.um("SELECT count(*) FROM core.dlq") == 0


def test_cursor_adiantado_alem_de_quem_morria_nao_para_a_rede(rede: Rede, dsn: str) -> None:
    for n in range(3):
        rede.sortear(UUID(int=n + 1), ANA)
    for _ in range(3):
        morrer(rede, dsn)
    rede.bd.execute("UPDATE d6b.consumer_offset SET last_sequence = 3 WHERE tipo_evento = 'conselheiro.sorteado'")
    rede.sortear(UUID(int=9), ANA)
    rede.despachar()
    assert rede.um("SELECT count(*) FROM core.dlq") == 0
    assert [linha["demanda_id"] for linha in rede.linhas("SELECT * FROM d6b.acompanhamentos")] == [UUID(int=9)]


def test_recuo_sobrevive_ao_lote_que_morre(rede: Rede, dsn: str) -> None:
    for n in range(5):
        rede.sortear(UUID(int=n + 1), ANA)
    rede.despachar()
    rede.bd.execute("DELETE FROM d6b.processed_events")
    rede.bd.execute("SELECT core.reposicionar('D-6b', 'conselheiro.sorteado', 0)")
    morrer(rede, dsn)
    rede.despachar()
    assert rede.um("SELECT count(*) FROM d6b.processed_events") == 5
