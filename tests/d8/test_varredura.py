"""A varredura: lotes, concorrência, projetos ruins, atrasos e fim de vida (D-8 4.3, 4.8, 8.4; regra 9; E21, E27)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tests.apoio.espera import ate_uma_sessao_esperar
from tests.apoio.falhas import recusar_publicacao
from tests.d8.apoio import LOCALIZACAO, Manutencao


def test_oito_sessoes_ao_mesmo_tempo_geram_cada_ciclo_uma_vez(dsn: str, d8: Manutencao) -> None:
    d8.semear(2000)
    largada = Barrier(8)

    def varrer(_: int) -> None:
        with psycopg.connect(make_conninfo(dsn, user="formigueiro_app"), autocommit=True) as sessao:
            largada.wait()
            sessao.execute("CALL d8.executar_varredura(%s, 100)", [d8.agora])

    with ThreadPoolExecutor(8) as sessoes:
        list(sessoes.map(varrer, range(8)))
    assert d8.um("SELECT count(*) FROM d8.historico_manutencoes") == 2000
    assert d8.um("SELECT count(DISTINCT projeto_id) FROM d8.historico_manutencoes") == 2000
    assert d8.um("SELECT count(*) FROM core.event_log") == 4000
    assert d8.um("SELECT count(*) FROM d8.projetos_monitorados WHERE ciclo_atual = 1") == 2000
    assert d8.ocorrencias() == []
    relatos = [linha["contexto"] for linha in d8.ocorrencias("info") if "demandas_geradas" in linha["contexto"]]
    assert sum(relato["demandas_geradas"] for relato in relatos) == 2000


@pytest.mark.parametrize("lote", [1, 3, 7, 10, 500])
def test_qualquer_lote_gera_o_mesmo(d8: Manutencao, lote: int) -> None:
    """Todos vencem no mesmo instante: quem separa os lotes é o id."""
    d8.semear(7)
    d8.varrer(lote=lote)
    assert d8.um("SELECT count(*) FROM d8.historico_manutencoes") == 7
    achados, relato = d8.ocorrencias("info")
    assert achados["mensagem"] == "Ciclos de manutenção vencidos encontrados."
    assert achados["contexto"] == {"colonia": "D-8", "total": 7, "por": "postgres"}
    assert relato["mensagem"] == "Varredura de ciclos concluída."
    assert relato["contexto"] == {
        "colonia": "D-8",
        "total_projetos_verificados": 7,
        "demandas_geradas": 7,
        "projetos_encerrados": 0,
        "falhas": 0,
        "atraso_medio_dias": 0.0,
        "projetos_ativos": 7,
        "por": "postgres",
    }


def test_cada_lote_se_confirma(dsn: str, d8: Manutencao) -> None:
    """O que um lote fez fica, ainda que a varredura morra no seguinte."""
    d8.semear(30)
    with psycopg.connect(dsn, autocommit=True) as varredora, psycopg.connect(dsn) as outra:
        # No terceiro lote a varredora espera pela outra sessão, e ali é encerrada.
        d8.bd.execute(
            """
            CREATE FUNCTION public.esperar() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
            BEGIN
                IF (SELECT count(*) FROM d8.historico_manutencoes) >= 20 THEN
                    PERFORM pg_advisory_xact_lock(42);
                END IF;
                RETURN NULL;
            END $$;
            CREATE TRIGGER esperar AFTER INSERT ON core.event_log FOR EACH STATEMENT EXECUTE FUNCTION public.esperar()
            """
        )
        outra.execute("SELECT pg_advisory_xact_lock(42)")
        with ThreadPoolExecutor(1) as executor:
            varredura = executor.submit(varredora.execute, "CALL d8.executar_varredura(%s, 10)", [d8.agora])
            ate_uma_sessao_esperar(d8.bd, "o terceiro lote esperar")
            d8.bd.execute("SELECT pg_terminate_backend(%s)", [varredora.info.backend_pid])
            with pytest.raises(psycopg.OperationalError):
                varredura.result()
    assert len(d8.ciclos()) == 20
    assert len(d8.eventos()) == 40
    d8.bd.execute("DROP TRIGGER esperar ON core.event_log")
    d8.varrer()
    assert len(d8.ciclos()) == 30


def test_projetos_ruins_ficam_registrados_e_nao_detem_ninguem(d8: Manutencao) -> None:
    """Cada um é visto uma vez por varredura, e sai na seguinte se for consertado."""
    d8.semear(20)
    ruins = [projeto["id"] for projeto in d8.projetos()[3:18:5]]
    d8.bd.execute("UPDATE d8.projetos_monitorados SET localizacao = '{}' WHERE id = %s", [ruins[0]])
    d8.bd.execute("UPDATE d8.projetos_monitorados SET plano_manutencao = '{}' WHERE id = %s", [ruins[1]])
    d8.bd.execute("UPDATE d8.projetos_monitorados SET ciclo_atual = 2147483647 WHERE id = %s", [ruins[2]])
    d8.varrer(lote=4)
    assert len(d8.ciclos()) == 17
    assert len(d8.eventos()) == 34
    erros = d8.ocorrencias("erro")
    assert [erro["mensagem"] for erro in erros] == ["Falha ao gerar demanda de manutenção."] * 3
    assert {erro["contexto"]["projeto_id"] for erro in erros} == {str(ruim) for ruim in ruins}
    assert {erro["demanda_id"] for erro in erros} == {d8.projeto(ruim)["demanda_original_id"] for ruim in ruins}
    assert {erro["contexto"]["sqlstate"] for erro in erros} == {"FM422", "22003"}
    assert d8.ocorrencias("info")[-1]["contexto"]["falhas"] == 3

    d8.bd.execute("UPDATE d8.projetos_monitorados SET localizacao = %s WHERE id = %s", [Jsonb(LOCALIZACAO), ruins[0]])
    d8.varrer()
    assert len(d8.ciclos(ruins[0])) == 1
    assert len(d8.ocorrencias("erro")) == 5


def test_o_lote_que_falhou_tambem_acaba_no_prazo(d8: Manutencao) -> None:
    """Projeto a projeto, um lote leva mais: sem olhar o prazo, o statement_timeout mataria a varredura sem relato."""
    d8.semear(20)
    ultimo = d8.projetos()[-1]["id"]
    d8.bd.execute("UPDATE d8.projetos_monitorados SET plano_manutencao = '{}' WHERE id = %s", [ultimo])
    prazo = d8.um("SELECT pg_get_functiondef('core._prazo_do_comando'::regproc)")
    d8.bd.execute(prazo.replace(corpo(prazo), "SELECT '-infinity'::timestamptz"))
    d8.varrer()
    assert len(d8.ciclos()) == 1
    assert d8.ocorrencias("info")[-1]["contexto"]["total_projetos_verificados"] == 1
    d8.bd.execute(prazo)
    d8.varrer()
    assert len(d8.ciclos()) == 19


def corpo(definicao: str) -> str:
    """O que está entre os dois $function$."""
    return definicao.split("$function$")[1]


def test_evento_que_nao_se_publica_deixa_o_projeto_como_estava(d8: Manutencao) -> None:
    """Publicar e mudar o estado são uma transação só (E27)."""
    d8.semear(3)
    antes = d8.projetos()
    recusar_publicacao(d8.bd, "demanda.manutenção_gerada")
    d8.varrer()
    assert d8.projetos() == antes
    assert d8.ciclos() == []
    assert d8.eventos() == []
    assert d8.um("SELECT count(*) FROM d8.processed_events") == 0
    assert len(d8.ocorrencias("erro")) == 3


def test_projeto_parado_por_varios_intervalos_gera_uma_vez(d8: Manutencao) -> None:
    projeto = d8.monitorar(plano={"intervalo_dias": 10})
    d8.avancar(95)
    d8.varrer()
    d8.varrer()
    (ciclo,) = d8.ciclos(projeto)
    assert ciclo["dossie_montado"]["metricas_atraso"]["dias_atraso"] == 85
    assert d8.projeto(projeto)["proximo_ciclo"] == d8.agora + timedelta(days=10)


def test_ciclo_em_aberto_nao_detem_o_seguinte(d8: Manutencao) -> None:
    """Sem execução nem cancelamento, o próximo ciclo vem no intervalo (4.8)."""
    projeto = d8.monitorar(plano={"intervalo_dias": 10})
    for _ in range(3):
        d8.gerar(projeto)
    assert [ciclo["ciclo_numero"] for ciclo in d8.ciclos(projeto)] == [1, 2, 3]
    assert [ciclo["status"] for ciclo in d8.ciclos(projeto)] == ["gerada"] * 3


def test_varredura_encerra_o_que_venceria_depois_da_vida_util(d8: Manutencao) -> None:
    projeto = d8.monitorar(plano={"intervalo_dias": 10, "vida_util_dias": 25})
    for _ in range(2):
        d8.gerar(projeto)
    d8.relogio(d8.projeto(projeto)["proximo_ciclo"])
    d8.varrer()
    assert len(d8.ciclos(projeto)) == 2
    depois = d8.projeto(projeto)
    assert (depois["status"], depois["motivo_encerramento"], depois["data_encerramento"]) == (
        "encerrado", "vida_util_esgotada", d8.agora,
    )  # fmt: skip
    (evento,) = d8.eventos("manutenção.ciclo_encerrado")
    assert evento["payload"]["total_ciclos"] == 2
    assert depois["event_id_ultima_alteracao"] == evento["event_id"]
    fim, relato = d8.ocorrencias("info")[-2:]
    assert relato["contexto"]["projetos_encerrados"] == 1
    assert fim["mensagem"] == "Monitoramento de manutenção encerrado."
    assert fim["contexto"] == {
        "colonia": "D-8",
        "event_id": str(evento["event_id"]),
        "correlacao_id": str(evento["correlacao_id"]),
        "demanda_id": str(depois["demanda_original_id"]),
        "demanda_original_id": str(depois["demanda_original_id"]),
        "projeto_id": str(projeto),
        "motivo": "vida_util_esgotada",
        "por": "postgres",
    }


def test_ciclo_que_vence_no_ultimo_instante_da_vida_util_se_gera(d8: Manutencao) -> None:
    projeto = d8.monitorar(plano={"intervalo_dias": 10, "vida_util_dias": 20})
    for _ in range(2):
        d8.gerar(projeto)
    assert len(d8.ciclos(projeto)) == 2


def test_primeiro_ciclo_se_gera_mesmo_alem_da_vida_util(d8: Manutencao) -> None:
    """Vida de 30 dias, intervalo de 90: gera uma vez, e a execução encerra (4.8)."""
    projeto = d8.monitorar(plano={"intervalo_dias": 90, "vida_util_dias": 30})
    ciclo = d8.gerar(projeto)
    assert ciclo["ciclo_numero"] == 1
    d8.executar(ciclo["demanda_manutencao_id"], projeto)
    d8.despachar()
    assert d8.projeto(projeto)["motivo_encerramento"] == "vida_util_esgotada"


def test_projeto_pausado_nao_gera(d8: Manutencao) -> None:
    d8.semear(1)
    d8.bd.execute("UPDATE d8.projetos_monitorados SET status = 'pausado'")
    d8.varrer()
    assert d8.ciclos() == []


def test_projeto_travado_por_outra_sessao_fica_para_a_proxima_varredura(dsn: str, d8: Manutencao) -> None:
    d8.semear(3)
    with psycopg.connect(dsn) as outra:
        outra.execute("SELECT FROM d8.projetos_monitorados ORDER BY id LIMIT 1 FOR UPDATE")
        d8.varrer(lote=1)
        assert len(d8.ciclos()) == 2
    d8.varrer()
    assert len(d8.ciclos()) == 3
    assert d8.ocorrencias() == []


def ditas(d8: Manutencao) -> list[tuple[str, str]]:
    """As linhas que uma varredura manda ao log, com o nível."""
    linhas: list[tuple[str, str]] = []

    def anotar(aviso: psycopg.errors.Diagnostic) -> None:
        if "iclo" in (mensagem := aviso.message_primary or ""):  # o servidor também tem o que dizer neste nível
            linhas.append((aviso.severity_nonlocalized or "", mensagem))

    d8.bd.add_notice_handler(anotar)
    d8.bd.execute("SET client_min_messages = debug1")
    d8.varrer()
    d8.bd.execute("RESET client_min_messages")
    d8.bd.remove_notice_handler(anotar)
    return linhas


def test_varredura_ociosa_nao_deixa_ocorrencia(d8: Manutencao) -> None:
    assert ditas(d8) == [
        ("DEBUG", "Iniciando varredura de ciclos de manutenção."),
        ("DEBUG", "Nenhum ciclo de manutenção vencido."),
    ]
    assert d8.ocorrencias("info") == []


def test_a_varredura_diz_quantos_achou_antes_de_comecar(d8: Manutencao) -> None:
    d8.semear(3)
    assert ditas(d8) == [
        ("DEBUG", "Iniciando varredura de ciclos de manutenção."),
        ("LOG", "Ciclos de manutenção vencidos encontrados."),
        ("LOG", "Varredura de ciclos concluída."),
    ]
    assert d8.ocorrencias("info")[0]["contexto"]["total"] == 3


@pytest.mark.parametrize(
    ("argumentos", "campo"),
    [
        ("NULL", "agora"),
        ("'infinity'", "agora"),
        ("core.agora(), 0", "lote"),
        ("core.agora(), NULL", "lote"),
        ("core.agora(), -1", "lote"),
    ],
)
def test_varredura_recusa_argumento_que_nao_serve(d8: Manutencao, argumentos: str, campo: str) -> None:
    with pytest.raises(psycopg.Error, match=f"O campo {campo} deve ser") as recusa:
        d8.bd.execute(f"CALL d8.executar_varredura({argumentos})")
    assert recusa.value.sqlstate == "FM422"


@pytest.mark.parametrize("ate", ["core.agora() + interval '1 millisecond'", "'infinity'", "NULL"])
@pytest.mark.parametrize("papel", ["formigueiro_app", "formigueiro_dba"])
def test_nenhum_lote_alcanca_um_ciclo_que_nao_venceu(dsn: str, d8: Manutencao, papel: str, ate: str) -> None:
    projeto = d8.monitorar()
    antes = d8.projeto(projeto)
    with (
        psycopg.connect(make_conninfo(dsn, user=papel), autocommit=True) as sessao,
        pytest.raises(psycopg.Error, match="O campo ate_ciclo não pode passar do campo agora") as recusa,
    ):
        sessao.execute(
            "SELECT d8.varrer_lote(core.agora(), '-infinity', '00000000-0000-0000-0000-000000000000',"
            f" {ate}, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 1)"
        )
    assert recusa.value.sqlstate == "FM422"
    assert d8.projeto(projeto) == antes
    assert d8.eventos() == []


@pytest.mark.parametrize("ruim", [False, True])
def test_uma_varredura_longa_do_app_anda_com_a_hora(dsn: str, d8: Manutencao, ruim: bool) -> None:
    """Mais de um minuto entre dois lotes, ou entre dois projetos de um lote que falhou: cada um tem a sua hora."""
    d8.semear(4)
    d8.bd.execute(
        """
        CREATE FUNCTION d8.passar_o_tempo() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            UPDATE core.relogio SET quando = quando + interval '2 minutes';
            RETURN NULL;
        END $$;
        CREATE TRIGGER passar_o_tempo AFTER INSERT ON d8.historico_manutencoes
            FOR EACH ROW EXECUTE FUNCTION d8.passar_o_tempo()
        """
    )
    if ruim:
        d8.bd.execute(
            "UPDATE d8.projetos_monitorados SET ciclo_atual = 2147483647"
            " WHERE id = (SELECT id FROM d8.projetos_monitorados ORDER BY id LIMIT 1)"
        )
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_app"), autocommit=True) as sessao:
        sessao.execute("CALL d8.executar_varredura(core.agora(), %s)", [4 if ruim else 1])
    geracoes = [ciclo["data_geracao"] for ciclo in d8.ciclos()]
    assert geracoes == [d8.agora + n * timedelta(minutes=2) for n in range(3 if ruim else 4)]
    assert len(d8.ocorrencias("erro")) == ruim


def test_a_hora_da_varredura_e_a_da_rede_se_nao_se_da_outra(d8: Manutencao) -> None:
    projeto = d8.monitorar()
    d8.avancar(180)
    d8.bd.execute("CALL d8.executar_varredura()")
    assert d8.ciclo(projeto)["data_geracao"] == d8.agora


def test_eventos_de_cada_ciclo_saem_em_ordem_e_com_a_mesma_correlacao(d8: Manutencao) -> None:
    d8.semear(5)
    d8.varrer()
    eventos = d8.eventos()
    assert [evento["tipo"] for evento in eventos] == ["demanda.recebida", "demanda.manutenção_gerada"] * 5
    for recebida, gerada in zip(eventos[::2], eventos[1::2], strict=True):
        assert recebida["correlacao_id"] == gerada["correlacao_id"] != recebida["event_id"]
        assert recebida["chave"] == gerada["chave"] == recebida["payload"]["demanda_id"]
        assert recebida["payload"]["demanda_id"][14] == "4"  # sorteado: UUIDv4 (E23)
        assert d8.resultado(gerada["event_id"]) == "processado"


def test_o_plano_nao_depende_de_estatisticas(d8: Manutencao) -> None:
    """Com estatísticas de tabela vazia, milhares de projetos que vencem juntos ainda se leem pelo índice da chave."""
    d8.bd.execute("ANALYZE d8.projetos_monitorados, d8.historico_manutencoes")
    d8.semear(3000)
    avisos: list[str] = []
    d8.bd.add_notice_handler(lambda aviso: avisos.append(aviso.message_primary or ""))
    d8.bd.execute(
        "LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on;"
        "SET client_min_messages = log"
    )
    d8.varrer(lote=1000)
    d8.bd.execute("RESET client_min_messages")
    planos = [aviso for aviso in avisos if "travados AS MATERIALIZED" in aviso]
    assert len(planos) == 4
    for plano in planos:
        assert "Index Scan using projetos_monitorados_vencimento_idx" in plano
        assert "Index Scan Backward using historico_manutencoes_ciclo_key" in plano
        assert "Seq Scan" not in plano
        assert "Hash Join" not in plano


def test_entrada_execucao_e_varredura_ao_mesmo_tempo(dsn: str, d8: Manutencao) -> None:
    """Despacho e varreduras se cruzam nos mesmos projetos: ninguém erra, e o estado se reconstrói igual."""
    for _ in range(40):
        d8.concluir(plano_manutencao={"intervalo_dias": 1, "prazo_tolerancia_dias": 0, "vida_util_dias": 400})
    d8.despachar()

    def varrer(sessao_n: int) -> None:
        with psycopg.connect(dsn, autocommit=True) as sessao:
            for passo in range(6):
                sessao.execute("CALL d8.executar_varredura(%s, 7)", [d8.agora + timedelta(days=2 + 3 * passo)])

    def executar(_: int) -> None:
        with psycopg.connect(dsn, autocommit=True) as sessao:
            for _ in range(6):
                sessao.execute(
                    """
                    SELECT core.publicar('manutenção.executada',
                                         jsonb_build_object('demanda_id', h.demanda_manutencao_id,
                                                            'projeto_original_id', h.projeto_id), 'D-6b')
                      FROM d8.historico_manutencoes AS h
                     WHERE h.status <> 'concluida'
                     LIMIT 15
                    """
                )
                sessao.execute("CALL core.despachar()")

    with ThreadPoolExecutor(5) as sessoes:
        list(sessoes.map(lambda n: varrer(n) if n < 3 else executar(n), range(5)))
    d8.despachar()
    assert d8.pendencias() == 0
    assert d8.ocorrencias("erro") == []
    antes = (d8.projetos(), d8.ciclos())
    assert len(antes[1]) > 80
    d8.bd.execute("SELECT d8.reconstruir()")
    assert (d8.projetos(), d8.ciclos()) == antes
