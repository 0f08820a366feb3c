"""Uma sequência que volta atrás do log nunca dá a um evento um número que a leitura já passou (N58)."""

from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.types.json import Jsonb

from app.banco.migrar import migrar
from tests.apoio.espera import ate_uma_sessao_esperar
from tests.apoio.falhas import vencer_tentativas
from tests.apoio.rede import Rede

ANA = UUID(int=11)
SEQUENCIA = "core.event_log_sequence_number_seq"


def com_lacuna(rede: Rede, publicador: psycopg.Connection[Any]) -> int:
    """Um número que não existirá, já passado pelas colônias, entre eventos tratados; devolve-o."""
    rede.sortear(uuid4(), ANA)
    Rede(publicador).sortear(uuid4(), ANA)
    rede.sortear(uuid4(), ANA)
    publicador.rollback()
    rede.despachar()
    rede.despachar()
    faltam = rede.um(
        "SELECT array_agg(n) FROM generate_series(1, core.obter_maior_sequence()) AS n"
        " WHERE NOT EXISTS (SELECT FROM core.event_log AS e WHERE e.sequence_number = n)"
    )
    assert len(faltam) == 1
    assert rede.um("SELECT min(horizonte) FROM core.consumidores") > faltam[0]
    return int(faltam[0])


def publicar_recusado(rede: Rede) -> str:
    with pytest.raises(psycopg.Error) as recusa:
        rede.sortear(uuid4(), ANA)
    assert recusa.value.sqlstate == "FM409"
    return str(recusa.value)


def test_um_numero_de_uma_lacuna_ja_passada_e_recusado(rede: Rede, dsn: str) -> None:
    with psycopg.connect(dsn) as publicador:
        lacuna = com_lacuna(rede, publicador)
    rede.bd.execute(f"SELECT setval('{SEQUENCIA}', %s, false)", [lacuna])
    assert "sequência de core.event_log está atrás" in publicar_recusado(rede)
    assert rede.um("SELECT count(*) FROM core.event_log WHERE sequence_number = %s", lacuna) == 0


def test_uma_sessao_que_cita_todos_os_nomes_tambem_passa_pela_lacuna(rede: Rede, dsn: str) -> None:
    """O nome da barreira junta o do esquema, que ali se escreve entre aspas."""
    rede.bd.execute("SET quote_all_identifiers = on")
    with psycopg.connect(dsn) as publicador:
        lacuna = com_lacuna(rede, publicador)
    assert rede.um("SELECT core._barreira()") >= lacuna


def test_em_lote_tambem(rede: Rede, dsn: str) -> None:
    with psycopg.connect(dsn) as publicador:
        lacuna = com_lacuna(rede, publicador)
    antes = rede.um("SELECT count(*) FROM core.event_log")
    evento = {
        "tipo": "conselheiro.sorteado",
        "origem": "D-6a",
        "payload": {n: str(uuid4()) for n in ("demanda_id", "conselheiro_id", "unidade_civica_id")},
    }
    for volta in (lacuna, 1):
        rede.bd.execute(f"SELECT setval('{SEQUENCIA}', %s, false)", [volta])
        with pytest.raises(psycopg.Error) as recusa:
            rede.bd.execute("SELECT core.publicar_lote(%s)", [Jsonb([evento])])
        assert recusa.value.sqlstate == "FM409"
    assert rede.um("SELECT count(*) FROM core.event_log") == antes


@pytest.mark.parametrize("novos", [0, 1], ids=["só o repetido", "com um novo"])
def test_um_lote_reentregue_depois_de_uma_lacuna_e_reconhecido(rede: Rede, dsn: str, novos: int) -> None:
    """O número da primeira entrega já passou, e não é a sequência que está atrás."""
    evento: dict[str, object] = {
        "tipo": "conselheiro.sorteado",
        "origem": "D-6a",
        "payload": {n: str(uuid4()) for n in ("demanda_id", "conselheiro_id", "unidade_civica_id")},
        "event_id": str(uuid4()),
    }
    lote = "SELECT array_agg(n) FROM core.publicar_lote(%s) AS n"
    (numero,) = rede.um(lote, Jsonb([evento]))
    with psycopg.connect(dsn) as publicador:
        com_lacuna(rede, publicador)
    maior = rede.um("SELECT core.obter_maior_sequence()")
    outros = [evento | {"event_id": str(uuid4())}] * novos
    repetido, *restantes = rede.um(lote, Jsonb([evento, *outros]))
    assert repetido == numero
    assert len(restantes) == novos
    assert all(novo > maior for novo in restantes)


def test_um_numero_que_ja_existe_e_recusado_com_o_motivo_e_nao_por_23505(rede: Rede) -> None:
    for _ in range(3):
        rede.sortear(uuid4(), ANA)
    rede.bd.execute(f"SELECT setval('{SEQUENCIA}', 1)")
    assert "sequência de core.event_log está atrás" in publicar_recusado(rede)


def test_a_reentrega_se_reconhece_ainda_que_a_sequencia_tenha_voltado(rede: Rede) -> None:
    evento = uuid4()
    payload: dict[str, object] = {n: str(uuid4()) for n in ("demanda_id", "conselheiro_id", "unidade_civica_id")}
    rede.publicar("conselheiro.sorteado", payload, "D-6a", event_id=evento)
    numero = rede.um("SELECT sequence_number FROM core.event_log WHERE event_id = %s", evento)
    rede.bd.execute(f"SELECT setval('{SEQUENCIA}', 1, false)")
    repetido = "SELECT core.publicar('conselheiro.sorteado', %s, 'D-6a', '1.0.0', %s)"
    assert rede.um(repetido, Jsonb(payload), evento) == numero


def test_uma_saida_que_toma_um_numero_passado_fica_na_dlq_e_sai_depois_de_migrar(rede: Rede, dsn: str) -> None:
    demanda = uuid4()
    for outra in (demanda, *(uuid4() for _ in range(4))):
        rede.sortear(outra, ANA)
    rede.despachar()
    rede.atualizar(demanda, ANA)
    rede.bd.execute(f"SELECT setval('{SEQUENCIA}', 1)")
    rede.despachar()
    assert rede.acompanhamento(demanda)["status"] == "em_andamento"
    assert rede.linhas("SELECT especie, sqlstate FROM core.dlq") == [{"especie": "saida", "sqlstate": "FM409"}]
    migrar(dsn)
    vencer_tentativas(rede.bd)
    rede.despachar()
    assert rede.tipos(demanda) == ["conselheiro.demanda_iniciada"]
    assert rede.um("SELECT core.estado() -> 'problemas'") == []


def voltar(rede: Rede) -> None:
    rede.bd.execute(f"SELECT setval('{SEQUENCIA}', 1)")


def adiantar_o_horizonte(rede: Rede) -> None:
    """O log de uma cópia mais antiga que o resto do núcleo."""
    rede.bd.execute("UPDATE core.consumidores SET posicao = posicao + 40, horizonte = horizonte + 40")


def adiantar_um_cursor(rede: Rede) -> None:
    """O núcleo de uma cópia mais antiga que a da colônia."""
    rede.bd.execute("UPDATE d8.consumer_offset SET last_sequence = last_sequence + 40")


@pytest.mark.parametrize("estragar", [voltar, adiantar_o_horizonte, adiantar_um_cursor])
def test_estado_e_metrica_a_nomeiam_e_migrar_a_leva_acima_de_tudo(
    rede: Rede, dsn: str, estragar: Callable[[Rede], None]
) -> None:
    for _ in range(5):
        rede.sortear(uuid4(), ANA)
    rede.despachar()
    estragar(rede)
    atras = rede.um("SELECT core.sequencia_atras()")
    assert atras > 0
    (problema,) = rede.um("SELECT core.estado() -> 'problemas'")
    assert f"a sequência do log está {atras} números atrás" in problema
    medida = "SELECT valor FROM core.metricas() WHERE nome = 'formigueiro_barramento_sequencia_atras'"
    assert rede.um(medida) == atras

    migrar(dsn)
    assert rede.um(medida) == 0
    assert rede.um("SELECT core.estado() -> 'problemas'") == []
    demanda = uuid4()
    rede.sortear(demanda, ANA)
    rede.despachar()
    rede.despachar()
    assert rede.acompanhamento(demanda)["status"] == "aguardando_inicio"


def test_uma_sequencia_adiante_do_log_nao_e_problema_e_migrar_nao_a_mexe(rede: Rede, dsn: str) -> None:
    with psycopg.connect(dsn) as publicador:
        com_lacuna(rede, publicador)
        Rede(publicador).sortear(uuid4(), ANA)
        antes = rede.um(f"SELECT last_value FROM {SEQUENCIA}")
        assert rede.um("SELECT core.estado() -> 'problemas'") == []
        publicador.rollback()
    migrar(dsn)
    assert rede.um(f"SELECT last_value FROM {SEQUENCIA}") == antes


def test_quem_tomou_o_numero_antes_de_a_lacuna_ser_anotada_e_esperado(rede: Rede, dsn: str) -> None:
    """A barreira sobe antes de se anotar quem detém a lacuna: quem já estava nela publica, e é lido."""
    with psycopg.connect(dsn) as publicador:
        demanda = uuid4()
        Rede(publicador).sortear(demanda, ANA)
        rede.sortear(uuid4(), ANA)
        rede.despachar()  # anota a lacuna, e a barreira já está acima do número do publicador
        assert rede.um("SELECT pg_sequence_last_value('core.barreira_d6b')") == 2
        publicador.commit()
    rede.despachar()
    assert rede.acompanhamento(demanda)["status"] == "aguardando_inicio"


def test_quem_ja_tomou_o_numero_quando_a_barreira_sobe_nao_e_recusado(rede: Rede, dsn: str) -> None:
    """Sob carga é o caso comum: o seguinte confirma antes, e a colônia anota a lacuna."""
    demanda = uuid4()
    rede.bd.execute(
        f"""
        CREATE FUNCTION public.demorar() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN PERFORM pg_advisory_xact_lock(42); RETURN NEW; END $$;
        CREATE TRIGGER demorar BEFORE INSERT ON core.event_log FOR EACH ROW
            WHEN (NEW.chave = '{demanda}') EXECUTE FUNCTION public.demorar();
        GRANT EXECUTE ON FUNCTION pg_advisory_xact_lock(bigint) TO core_dono
        """
    )
    with psycopg.connect(dsn, autocommit=True) as demorado, rede.bd.transaction():
        rede.bd.execute("SELECT pg_advisory_xact_lock(42)")
        publicacao = Thread(target=Rede(demorado).sortear, args=[demanda, ANA])
        publicacao.start()
        with psycopg.connect(dsn, autocommit=True) as outra:
            ate_uma_sessao_esperar(outra, "quem publica esperar, com o número já tomado")
            Rede(outra).sortear(uuid4(), ANA)
            Rede(outra).despachar()
            assert Rede(outra).um("SELECT pg_sequence_last_value('core.barreira_d6b')") == 2
    publicacao.join()
    rede.despachar()
    assert rede.acompanhamento(demanda)["event_id_sorteio"] == rede.um(
        "SELECT event_id FROM core.event_log WHERE sequence_number = 1"
    )


@pytest.mark.parametrize("voltar_atras", [False, True], ids=["sem voltar", "a voltar"])
def test_publicando_sob_carga_nenhum_evento_aceito_se_perde_e_so_se_recusa_se_ela_volta(
    rede: Rede, dsn: str, voltar_atras: bool
) -> None:
    """Quem publica, quem desfaz, quem despacha e, se for o caso, quem faz a sequência voltar, ao mesmo tempo."""
    aceitos: list[UUID] = []
    recusas: list[str] = []
    largada = Barrier(5)

    def publicar(desfazer: bool) -> None:
        with psycopg.connect(dsn, autocommit=True) as sessao:
            largada.wait()
            for _ in range(120):
                demanda = uuid4()
                try:
                    with sessao.transaction(force_rollback=desfazer):
                        Rede(sessao).sortear(demanda, ANA)
                except psycopg.Error as erro:
                    recusas.append(f"{erro.sqlstate}")
                else:
                    if not desfazer:
                        aceitos.append(demanda)

    def despachar() -> None:
        with psycopg.connect(dsn, autocommit=True) as sessao:
            largada.wait()
            for _ in range(60):
                sessao.execute("CALL core.despachar()")

    sessoes = [Thread(target=publicar, args=[desfazer]) for desfazer in (False, False, True)]
    sessoes.append(Thread(target=despachar))
    for sessao in sessoes:
        sessao.start()
    largada.wait()
    while any(sessao.is_alive() for sessao in sessoes[:3]):
        if voltar_atras:
            rede.bd.execute(f"SELECT setval('{SEQUENCIA}', greatest(last_value - 3, 1)) FROM {SEQUENCIA}")
        else:
            rede.despachar()
    for sessao in sessoes:
        sessao.join()
    assert set(recusas) == ({"FM409"} if voltar_atras else set())
    migrar(dsn)
    rede.despachar()
    rede.despachar()
    assert aceitos
    tratados = rede.um("SELECT count(*) FROM d6b.acompanhamentos WHERE demanda_id = ANY (%s)", aceitos)
    assert tratados == len(aceitos)
