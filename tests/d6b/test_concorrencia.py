"""Sessões de verdade ao mesmo tempo, e o replay depois de um reinício (E01; T22, T33, T35)."""

import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import psycopg
import pytest

from tests.apoio.espera import ate_uma_sessao_esperar
from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao
from tests.apoio.rede import Rede

DEMANDA, OUTRA, ANA, BIA = UUID(int=1), UUID(int=2), UUID(int=11), UUID(int=12)


def tratar_ao_mesmo_tempo(dsn: str, eventos: list[UUID]) -> list[str]:
    """Cada evento por uma sessão, pelo handler, sem a fila que o despacho faria."""
    largada = threading.Barrier(len(eventos))
    resultados: list[str] = []

    def sessao(evento: UUID) -> None:
        with psycopg.connect(dsn) as conexao:
            largada.wait()
            linha = conexao.execute(
                "SELECT d6b.tratar(e) FROM core.event_log AS e WHERE e.event_id = %s", [evento]
            ).fetchone()
            resultados.append(linha[0] if linha else "sem linha")

    sessoes = [threading.Thread(target=sessao, args=[evento]) for evento in eventos]
    for uma in sessoes:
        uma.start()
    for uma in sessoes:
        uma.join()
    return resultados


def test_t35_duas_atualizacoes_concorrentes_tem_sequencias_distintas(rede: Rede, dsn: str) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    eventos = [rede.atualizar(DEMANDA, ANA) for _ in range(6)]
    assert tratar_ao_mesmo_tempo(dsn, eventos) == ["processado"] * 6
    sequencias = [u["sequencia"] for u in rede.linhas("SELECT sequencia FROM d6b.atualizacoes ORDER BY sequencia")]
    assert sequencias == [1, 2, 3, 4, 5, 6]
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 6
    assert rede.tipos(DEMANDA) == ["conselheiro.demanda_iniciada"]


def test_dois_sorteios_concorrentes_da_mesma_demanda_deixam_um_ativo(rede: Rede, dsn: str) -> None:
    eventos = [rede.sortear(DEMANDA, conselheiro) for conselheiro in (ANA, BIA)]
    assert tratar_ao_mesmo_tempo(dsn, eventos) == ["processado"] * 2
    assert sorted(a["status"] for a in rede.acompanhamentos(DEMANDA)) == ["aguardando_inicio", "reatribuido"]


@pytest.mark.parametrize("confirma", [True, False])
def test_o_primeiro_sorteio_espera_o_que_outra_sessao_ainda_nao_confirmou(rede: Rede, dsn: str, confirma: bool) -> None:
    """Antes do primeiro não há linha a travar: quem decide é o índice dos ativos, que só a colônia escreve."""
    primeiro, segundo = rede.sortear(DEMANDA, ANA), rede.sortear(DEMANDA, BIA)
    with psycopg.connect(dsn) as uma, ThreadPoolExecutor() as executor:
        uma.execute("SELECT d6b.tratar(e) FROM core.event_log AS e WHERE e.event_id = %s", [primeiro])
        outra = executor.submit(tratar_ao_mesmo_tempo, dsn, [segundo])
        ate_uma_sessao_esperar(rede.bd, "o segundo sorteio esperar")
        if confirma:
            uma.commit()
        else:
            uma.rollback()
        assert outra.result() == ["processado"]
    ciclos = [(a["conselheiro_id"], a["status"]) for a in rede.acompanhamentos(DEMANDA)]
    assert sorted(ciclos) == [(ANA, "reatribuido")] * confirma + [(BIA, "aguardando_inicio")]


def test_o_sorteio_que_espera_uma_ratificacao_acha_a_demanda_concluida(rede: Rede, dsn: str) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    confirmar = {"demanda_id": str(DEMANDA), "conclusao_id": "c1", "data_conclusao": rede.agora()}
    rede.publicar(
        "demanda.conclusao_confirmada", confirmar | {"total_conclusoes": 3, "ratificacao_necessaria": True}, "D-12"
    )
    rede.despachar()
    tardio = rede.sortear(DEMANDA, BIA)
    with psycopg.connect(dsn) as uma, ThreadPoolExecutor() as executor:
        # Como antes de publicado o sorteio, que ratificar também há de esperar.
        uma.execute("SELECT d6b.acompanhamento_ativo(%s)", [DEMANDA])
        outra = executor.submit(tratar_ao_mesmo_tempo, dsn, [tardio])
        ate_uma_sessao_esperar(rede.bd, "o sorteio esperar")
        uma.execute("INSERT INTO d6b.conclusoes_sociais VALUES (%s, gen_random_uuid(), now())", [DEMANDA])
        uma.execute("UPDATE d6b.acompanhamentos SET status = 'concluido' WHERE demanda_id = %s", [DEMANDA])
        uma.commit()
        assert outra.result() == ["descartado: Sorteio tardio: a demanda já foi concluída"]
    assert rede.acompanhamento(DEMANDA)["conselheiro_id"] == ANA


def test_o_mesmo_evento_em_duas_sessoes_vale_uma_vez(rede: Rede, dsn: str) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    evento = rede.atualizar(DEMANDA, ANA)
    largada = threading.Barrier(3)

    def despachar() -> None:
        with psycopg.connect(dsn, autocommit=True) as conexao:
            largada.wait()
            conexao.execute("CALL core.despachar()")

    sessoes = [threading.Thread(target=despachar) for _ in range(3)]
    for uma in sessoes:
        uma.start()
    for uma in sessoes:
        uma.join()
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 1
    assert rede.processado(evento)


def test_t33_replay_apos_reinicio_ignora_os_processados_e_trata_os_novos(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA, "protocolo_aberto")
    rede.despachar()
    rede.atualizar(DEMANDA, ANA, "entrave_registrado")
    rede.atualizar(DEMANDA, ANA, "documento_anexado")
    rede.bd.execute("UPDATE d6b.consumer_offset SET last_sequence = 0")
    # O sorteio, as três já tratadas… e a saída do início, que não é da colônia: cinco eventos são relidos.
    assert rede.um("SELECT (d6b.iniciar() ->> 'eventos_tratados')::int") == 5
    assert rede.acompanhamento(DEMANDA)["total_atualizacoes"] == 4
    assert rede.um("SELECT count(*) FROM d6b.atualizacoes") == 4
    assert rede.tipos(DEMANDA) == ["conselheiro.demanda_iniciada"]


def test_t22_varredura_que_falha_nada_muda_e_a_seguinte_tenta_de_novo(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA, "prazo_registrado", {"data_estimada": "2026-12-01"})
    rede.despachar()
    rede.bd.execute(
        """
        CREATE FUNCTION d6b.quebra() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'quebrou'; END $$;
        CREATE TRIGGER quebra BEFORE UPDATE ON d6b.prazos FOR EACH ROW EXECUTE FUNCTION d6b.quebra()
        """
    )
    with pytest.raises(psycopg.Error, match="quebrou"):
        rede.bd.execute("SELECT d6b.verificar_prazos_proximos()")
    assert rede.eventos("conselheiro.prazo_próximo") == []
    rede.bd.execute("DROP TRIGGER quebra ON d6b.prazos")
    assert rede.um("SELECT (d6b.verificar_prazos_proximos() ->> 'alertas_enviados')::int") == 1


def test_inicio_guarda_o_replay_ainda_que_um_passo_de_aviso_falhe(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.bd.execute("UPDATE core.parametros SET valor = '\"x\"' WHERE nome = 'dias_limite_acompanhamento_inativo'")
    assert rede.um("SELECT (d6b.iniciar() ->> 'eventos_tratados')::int") == 1
    assert rede.acompanhamento(DEMANDA)["status"] == "aguardando_inicio"
    assert rede.ocorrencias()[-1]["mensagem"] == "Falha na inicialização da D-6b"


INATIVOS, SAIDAS = "verificar_acompanhamentos_inativos", "republicar_saidas_conclusao_pendentes"


@pytest.mark.parametrize(
    ("quebra", "falham"),
    [
        ("dias_limite_acompanhamento_inativo", [INATIVOS]),
        ("limite_varredura_saidas_conclusao", [SAIDAS]),
        ("gatilho", [INATIVOS]),
        ("ambos", [INATIVOS, SAIDAS]),
    ],
)
def test_os_passos_do_inicio_nao_dependem_um_do_outro(rede: Rede, quebra: str, falham: list[str]) -> None:
    """4.3, passos 5 e 6: um inativo a relatar, e uma conclusão por publicar."""
    for demanda, conselheiro in ((DEMANDA, ANA), (OUTRA, BIA)):
        rede.sortear(demanda, conselheiro)
    rede.despachar()
    recusar_publicacao(rede.bd, "demanda.concluída")
    rede.atualizar(OUTRA, BIA)
    rede.concluir(OUTRA, BIA)
    rede.despachar()
    aceitar_publicacao(rede.bd)
    rede.relogio("2026-12-30 12:00+00")
    if quebra == "gatilho":
        rede.bd.execute(
            """
            CREATE FUNCTION core.quebra() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'quebrou'; END $$;
            CREATE TRIGGER quebra BEFORE INSERT ON core.ocorrencias FOR EACH ROW
                WHEN (NEW.nivel = 'aviso') EXECUTE FUNCTION core.quebra()
            """
        )
    else:
        nomes = "nome LIKE '%%limite\\_%%'" if quebra == "ambos" else "nome = %s"
        valores = [] if quebra == "ambos" else [quebra]
        rede.bd.execute(f"UPDATE core.parametros SET valor = '\"x\"' WHERE {nomes}", valores)
    balanco = rede.um("SELECT d6b.iniciar()")
    assert balanco["acompanhamentos_inativos"] == (None if INATIVOS in falham else 1)
    assert balanco["conclusoes_republicadas"] == (None if SAIDAS in falham else 1)
    assert rede.acompanhamento(OUTRA)["saidas_conclusao_pendentes"] == (SAIDAS in falham)
    falhas = [o for o in rede.ocorrencias() if o["mensagem"] == "Falha na inicialização da D-6b"]
    assert [(falha["nivel"], falha["contexto"]["passo"]) for falha in falhas] == [("erro", passo) for passo in falham]
    assert all(falha["contexto"]["erro"] and falha["contexto"]["sqlstate"] for falha in falhas)
