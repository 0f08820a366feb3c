"""A ordem de uma demanda resiste a maiúsculas, ratificação, descarte e reprocessamento (regras 2, 4 e 5)."""

import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import psycopg
import pytest

from tests.apoio.espera import ate, ate_uma_sessao_esperar
from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao, vencer_tentativas
from tests.apoio.rede import Rede
from tests.apoio.textos import publicar_textos

DEMANDA, ANA, BIA = UUID("abcdef00-0000-4000-8000-00000000000a"), UUID(int=11), UUID(int=12)
INICIADA, CONCLUIDA, CICLO = "conselheiro.demanda_iniciada", "demanda.concluída", "conselheiro.ciclo_concluído"


def maiuscula(rede: Rede) -> UUID:
    """A mesma demanda, escrita em maiúsculas por outra colônia."""
    return rede.sortear(DEMANDA, BIA, demanda_id=str(DEMANDA).upper())


def confirmar(rede: Rede) -> UUID:
    return rede.publicar(
        "demanda.conclusao_confirmada",
        {
            "demanda_id": str(DEMANDA).upper(),
            "conclusao_id": str(UUID(int=7)),
            "data_conclusao": rede.agora(),
            "total_conclusoes": 3,
            "ratificacao_necessaria": True,
        },
        "D-12",
    )


def ratificar(rede: Rede) -> None:
    rede.bd.execute("SELECT d6b.ratificar_conclusao(%s, %s)", [DEMANDA, ANA])


@pytest.fixture
def sorteada(rede: Rede) -> Rede:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    return rede


def test_a_chave_nao_distingue_maiusculas(sorteada: Rede) -> None:
    recusar_publicacao(sorteada.bd, INICIADA)
    sorteada.atualizar(DEMANDA, ANA)
    maiuscula(sorteada)
    sorteada.despachar()
    # O novo sorteio espera atrás da saída detida, pois é da mesma demanda.
    assert [a["conselheiro_id"] for a in sorteada.acompanhamentos(DEMANDA)] == [ANA]
    assert {e["chave"] for e in sorteada.eventos()} == {str(DEMANDA)}


def test_sorteio_antigo_em_maiusculas_tambem_e_recusado(sorteada: Rede) -> None:
    repetido = sorteada.sortear(DEMANDA, ANA, demanda_id=str(DEMANDA).upper())
    sorteada.sortear(DEMANDA, BIA)
    sorteada.despachar()
    with pytest.raises(psycopg.Error, match="anterior ao último"):
        sorteada.bd.execute("SELECT core.reprocessar(%s, 'D-6b')", [repetido])


def test_ratificacao_espera_a_saida_detida_da_mesma_demanda(sorteada: Rede) -> None:
    confirmar(sorteada)
    sorteada.despachar()
    recusar_publicacao(sorteada.bd, INICIADA)
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    ratificar(sorteada)
    assert sorteada.tipos(DEMANDA) == []
    assert sorteada.acompanhamento(DEMANDA)["status"] == "concluido"
    aceitar_publicacao(sorteada.bd)
    vencer_tentativas(sorteada.bd)
    sorteada.despachar()
    sorteada.bd.execute("SELECT d6b.republicar_saidas_conclusao_pendentes()")
    assert sorteada.tipos(DEMANDA) == [INICIADA, CONCLUIDA, CICLO]
    assert not sorteada.acompanhamento(DEMANDA)["saidas_conclusao_pendentes"]


def test_ratificacao_com_relato_por_processar_e_recusada(sorteada: Rede) -> None:
    confirmar(sorteada)
    sorteada.despachar()
    sorteada.bd.execute(
        """
        CREATE FUNCTION d6b.veneno() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'veneno'; END $$;
        CREATE TRIGGER veneno BEFORE INSERT ON d6b.atualizacoes FOR EACH ROW EXECUTE FUNCTION d6b.veneno()
        """
    )
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    with pytest.raises(psycopg.Error, match="relato desta demanda por processar") as recusa:
        ratificar(sorteada)
    assert recusa.value.sqlstate == "FM409"
    sorteada.bd.execute("DROP TRIGGER veneno ON d6b.atualizacoes")
    vencer_tentativas(sorteada.bd)
    sorteada.despachar()
    ratificar(sorteada)
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 3


def recusada(rede: Rede) -> None:
    with pytest.raises(psycopg.Error, match="relato desta demanda por processar") as recusa:
        ratificar(rede)
    assert recusa.value.sqlstate == "FM409"


@pytest.mark.parametrize("publicado", ["relato", "sorteio", "confirmação", "manutenção"])
def test_ratificacao_com_evento_da_demanda_por_ler_e_recusada(sorteada: Rede, publicado: str) -> None:
    confirmar(sorteada)
    sorteada.despachar()
    match publicado:
        case "relato":
            sorteada.atualizar(DEMANDA, ANA)
        case "sorteio":
            maiuscula(sorteada)
        case "confirmação":
            confirmar(sorteada)
        case _:
            sorteada.publicar("demanda.recebida", {"demanda_id": str(DEMANDA)}, "D-1a", "1.1.0")
    recusada(sorteada)
    assert sorteada.acompanhamento(DEMANDA)["status"] == "aguardando_inicio"
    sorteada.despachar()
    if publicado == "sorteio":
        with pytest.raises(psycopg.Error, match="Apenas o conselheiro"):
            ratificar(sorteada)
    else:
        ratificar(sorteada)
        assert sorteada.ocorrencias() == []
        assert sorteada.acompanhamento(DEMANDA)["status"] == "concluido"


def test_relato_acima_do_horizonte_tambem_segura_a_ratificacao(sorteada: Rede, dsn: str) -> None:
    """Outro produtor, com um número menor por confirmar, detém a leitura."""
    confirmar(sorteada)
    sorteada.despachar()
    with psycopg.connect(dsn) as produtor:
        Rede(produtor).sortear(UUID(int=2), BIA)
        sorteada.atualizar(DEMANDA, ANA)
        sorteada.despachar()
        recusada(sorteada)
    sorteada.despachar()
    ratificar(sorteada)
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 3


def test_o_que_as_outras_demandas_tem_por_ler_nao_segura_a_ratificacao(sorteada: Rede, dsn: str) -> None:
    confirmar(sorteada)
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    publicar_textos(sorteada.bd)  # da mesma demanda, mas que a D-6b não consome
    with psycopg.connect(dsn) as produtor:
        Rede(produtor).sortear(UUID(int=2), BIA)
        sorteada.sortear(UUID(int=3), BIA)
        sorteada.despachar()
        ratificar(sorteada)
    assert sorteada.acompanhamento(DEMANDA)["status"] == "concluido"


def test_ratificacao_espera_o_relato_que_um_despachante_esta_a_tratar(sorteada: Rede, dsn: str) -> None:
    confirmar(sorteada)
    sorteada.despachar()
    sorteada.atualizar(DEMANDA, ANA)
    with psycopg.connect(dsn) as despachante, ThreadPoolExecutor(1) as executor:
        despachante.execute("SELECT d6b.processar_pendentes()")
        ratificacao = executor.submit(_ratificar, dsn)
        ate_uma_sessao_esperar(sorteada.bd, "a ratificação esperar o despachante")
        despachante.commit()
        ratificacao.result()
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 3
    assert sorteada.acompanhamento(DEMANDA)["status"] == "concluido"
    assert sorteada.ocorrencias() == []


def test_relato_do_lote_que_um_despachante_ainda_nao_alcancou_segura_a_ratificacao(sorteada: Rede, dsn: str) -> None:
    confirmar(sorteada)
    sorteada.despachar()
    sorteada.sortear(UUID(int=2), BIA)
    sorteada.atualizar(DEMANDA, ANA)
    with psycopg.connect(dsn) as despachante:
        despachante.execute("SELECT d6b.processar_pendentes(1)")
        recusada(sorteada)
        despachante.execute("SELECT d6b.processar_pendentes(1)")
    ratificar(sorteada)
    assert sorteada.acompanhamento(DEMANDA)["total_atualizacoes"] == 3


def _ratificar(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as bd:
        ratificar(Rede(bd))


@pytest.mark.parametrize("descartada", [CONCLUIDA, CICLO])
def test_saida_de_conclusao_descartada_nao_volta_pela_varredura(sorteada: Rede, descartada: str) -> None:
    recusar_publicacao(sorteada.bd, descartada)
    sorteada.concluir(DEMANDA, ANA)
    sorteada.despachar()
    entrada = sorteada.um("SELECT id FROM core.dlq WHERE saida ->> 'tipo' = %s", descartada)
    sorteada.bd.execute("SELECT core.dlq_descartar(%s, 'não há de sair')", [entrada])
    aceitar_publicacao(sorteada.bd)
    vencer_tentativas(sorteada.bd)
    sorteada.despachar()
    sorteada.bd.execute("SELECT d6b.republicar_saidas_conclusao_pendentes()")
    assert sorteada.tipos(DEMANDA) == [tipo for tipo in (INICIADA, CONCLUIDA, CICLO) if tipo != descartada]
    assert not sorteada.acompanhamento(DEMANDA)["saidas_conclusao_pendentes"]


def test_evento_ainda_nao_lido_nao_se_reprocessa(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    evento = rede.atualizar(DEMANDA, ANA)
    with pytest.raises(psycopg.Error, match="ainda não foi tratado") as recusa:
        rede.bd.execute("SELECT core.reprocessar(%s, 'D-6b')", [evento])
    assert recusa.value.sqlstate == "FM409"
    rede.despachar()
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 1


def test_saida_que_falha_fora_do_despacho_nao_trava_com_ele(sorteada: Rede, dsn: str) -> None:
    """A ratificação segura a demanda e guarda a saída; o despachante segura a colônia e quer a demanda."""
    confirmar(sorteada)
    sorteada.despachar()
    sorteada.bd.execute(
        """
        CREATE FUNCTION core.lenta() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_sleep(0.6); RAISE 'falha'; END $$;
        CREATE TRIGGER lenta BEFORE INSERT ON core.event_log FOR EACH ROW
            WHEN (NEW.tipo = 'demanda.concluída') EXECUTE FUNCTION core.lenta()
        """
    )
    falhas: list[BaseException] = []

    def ratificar_em_outra_sessao() -> None:
        try:
            with psycopg.connect(dsn, autocommit=True) as conexao:
                conexao.execute("SELECT d6b.ratificar_conclusao(%s, %s)", [DEMANDA, ANA])
        except BaseException as erro:
            falhas.append(erro)

    sessao = threading.Thread(target=ratificar_em_outra_sessao)
    sessao.start()
    dormindo = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
    ate(lambda: sorteada.bd.execute(dormindo).rowcount, o_que="a saída falhar devagar")
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    sessao.join()
    assert falhas == []
    assert sorteada.acompanhamento(DEMANDA)["status"] == "concluido"
    assert sorteada.um("SELECT count(*) FROM core.dlq WHERE sqlstate = '40P01'") == 0


@pytest.mark.parametrize("encerrar", ["core.dlq_reprocessar(max(id))", "core.dlq_descartar(max(id), 'teste')"])
def test_saida_guardada_enquanto_a_da_frente_se_encerra_nao_fica_esquecida(
    sorteada: Rede, dsn: str, encerrar: str
) -> None:
    """Quem guarda ainda vê a outra em aberto, quem a encerra ainda não vê a guardada, e nenhum trava a colônia."""
    recusar_publicacao(sorteada.bd, INICIADA)
    sorteada.atualizar(DEMANDA, ANA)
    sorteada.despachar()
    aceitar_publicacao(sorteada.bd)
    with psycopg.connect(dsn) as operadora, ThreadPoolExecutor(1) as executor:
        operadora.execute(f"SELECT {encerrar} FROM core.dlq")
        trabalhador = executor.submit(_publicar_textos, dsn)
        ate_uma_sessao_esperar(sorteada.bd, "a saída esperar")
        operadora.commit()
        assert trabalhador.result() == 1
    vencer_tentativas(sorteada.bd)
    sorteada.despachar()
    assert sorteada.tipos(DEMANDA)[-2:] == ["conselheiro.atualização_publicada", "demanda.resumo_ciclo_atualizado"]
    assert sorteada.um("SELECT count(*) FROM core.dlq WHERE estado IN ('pendente', 'em_espera')") == 0


def _publicar_textos(dsn: str) -> int:
    with psycopg.connect(dsn, autocommit=True) as bd:
        return publicar_textos(bd)
