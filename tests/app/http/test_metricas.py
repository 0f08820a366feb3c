"""As métricas de uma coleta: as que o catálogo diz, com os rótulos que ele diz, e só elas."""

import re
import threading
from typing import Any
from uuid import UUID, uuid4

import psycopg
from litestar import Litestar
from litestar.testing import TestClient
from prometheus_client.parser import text_string_to_metric_families

from app.ajustes import Ajustes
from app.banco.recursos import RAIZ
from app.http.aplicacao import criar_app
from app.http.catalogo import DO_BANCO
from app.http.seguranca import ChaveJwt
from tests.apoio.espera import ate
from tests.apoio.rede import Rede
from tests.app.http.apoio import ACOMPANHAMENTO

DA_ESPECIFICACAO = {
    "d6b_acompanhamentos_ativos",
    "d6b_atualizacoes_por_tipo",
    "d6b_tempo_medio_conclusao",
    "d6b_taxa_conclusao",
    "d6b_alertas_prazo",
    "d8_projetos_ativos",
    "d8_demandas_geradas_total",
    "d8_ciclos_encerrados_total",
    "d8_atraso_medio_dias",
    "d8_peso_atraso_medio",
}
# As que só existem enquanto há o que dizer.
OCASIONAIS = {"formigueiro_barramento_horizonte_detentor_segundos"}


def _texto(cliente: TestClient[Litestar]) -> str:
    resposta = cliente.get("/metrics")
    assert resposta.status_code == 200
    return resposta.text


def _rotulos(texto: str) -> dict[str, set[str]]:
    """Os rótulos que as amostras de cada métrica levam."""
    achados: dict[str, set[str]] = {}
    for familia in text_string_to_metric_families(texto):
        for amostra in familia.samples:
            achados.setdefault(amostra.name, set()).update(amostra.labels)
    return achados


def _executar_a_agenda(bd: psycopg.Connection[Any]) -> None:
    for (comando,) in bd.execute("SELECT comando FROM core.agendamentos").fetchall():
        bd.execute(comando)


def test_a_coleta_traz_o_que_o_catalogo_diz_e_nada_mais(
    cliente: TestClient[Litestar], bd: psycopg.Connection[Any]
) -> None:
    _executar_a_agenda(bd)
    rotulos = _rotulos(_texto(cliente))
    do_catalogo = {metrica.nome: set(metrica.rotulos) for metrica in DO_BANCO}
    assert do_catalogo.keys() >= DA_ESPECIFICACAO
    do_banco = {nome: dele for nome, dele in rotulos.items() if nome in do_catalogo}
    assert do_banco == {nome: dele for nome, dele in do_catalogo.items() if nome not in OCASIONAIS}
    outras = {nome for nome in rotulos if not nome.startswith(("process_", "formigueiro_http_"))} - do_catalogo.keys()
    assert outras == {"formigueiro_banco_disponivel", "formigueiro_coleta_completa"}


def test_a_coleta_e_a_mesma_como_app_e_como_dba(bd: psycopg.Connection[Any]) -> None:
    nomes = []
    for papel in ("formigueiro_app", "formigueiro_dba"):
        bd.execute(f"SET ROLE {papel}")
        nomes.append(bd.execute("SELECT nome, rotulos FROM core.metricas()").fetchall())
        bd.execute("RESET ROLE")
    assert nomes[0] == nomes[1] != []


def test_diz_que_papel_segura_o_horizonte(cliente: TestClient[Litestar], bd: psycopg.Connection[Any], dsn: str) -> None:
    with psycopg.connect(dsn) as parado:
        Rede(parado).sortear(uuid4(), uuid4())
        Rede(bd).sortear(uuid4(), uuid4())
        Rede(bd).despachar()
        assert 'horizonte_detentor_segundos{colonia="D-6b",papel="postgres"}' in _texto(cliente)
        parado.rollback()
    Rede(bd).despachar()
    assert 'papel="' not in _texto(cliente)


def test_sem_banco_ha_as_do_processo(chave: ChaveJwt) -> None:
    with TestClient(criar_app(Ajustes(), "host=/nao/ha dbname=x", chave)) as cliente:
        rotulos = _rotulos(_texto(cliente))
        assert "process_resident_memory_bytes" in rotulos
        assert not rotulos.keys() & {metrica.nome for metrica in DO_BANCO}
        assert "formigueiro_banco_disponivel 0.0" in _texto(cliente)


def test_uma_coleta_lenta_e_cortada_pelo_servidor_e_as_do_processo_saem(
    cliente: TestClient[Litestar], bd: psycopg.Connection[Any]
) -> None:
    bd.execute(
        """
        CREATE OR REPLACE FUNCTION d8.metricas() RETURNS TABLE (nome text, rotulos jsonb, valor float8)
        LANGUAGE sql AS $$ SELECT 'd8_x', jsonb_build_object(), 0::float8 FROM pg_sleep(600) $$
        """
    )
    texto = _texto(cliente)
    assert "formigueiro_banco_disponivel 1.0" in texto
    assert "formigueiro_coleta_completa 0.0" in texto
    assert "process_resident_memory_bytes" in texto
    assert "d6b_" not in texto
    ativas = bd.execute("SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND usename = 'formigueiro_app'"
                        " AND datname = current_database()").fetchone()  # fmt: skip
    assert ativas == (0,)


def test_coletas_detidas_nao_dizem_que_o_banco_caiu_nem_tomam_a_conexao_das_rotas(
    dsn_app: str, chave: ChaveJwt, cabecalhos: dict[str, str], bd: psycopg.Connection[Any], dsn: str
) -> None:
    ajustes = Ajustes(formigueiro_conexoes_http=1, formigueiro_espera_banco_s=10)
    with TestClient(criar_app(ajustes, dsn_app, chave)) as cliente, psycopg.connect(dsn) as trava:
        trava.execute("LOCK TABLE core.dlq")
        textos: list[str] = []
        fios = [threading.Thread(target=lambda: textos.append(_texto(cliente))) for _ in range(12)]
        for fio in fios:
            fio.start()
        ate(lambda: _detidas(bd) == 1, 10, "a coleta chegar à trava")
        assert cliente.get(ACOMPANHAMENTO, headers=cabecalhos).status_code == 200
        for fio in fios:
            fio.join()
        assert len(textos) == len(fios)
        for texto in textos:
            assert "formigueiro_banco_disponivel 1.0" in texto
            assert "formigueiro_coleta_completa 0.0" in texto
        trava.rollback()
        assert "formigueiro_coleta_completa 1.0" in _texto(cliente)


def _detidas(bd: psycopg.Connection[Any]) -> int:
    linha = bd.execute(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        " AND application_name = 'formigueiro-metricas'"
    ).fetchone()
    assert linha is not None
    return int(linha[0])


def test_com_todas_as_conexoes_das_rotas_ocupadas_a_coleta_sai_completa(
    dsn_app: str, chave: ChaveJwt, cabecalhos: dict[str, str], bd: psycopg.Connection[Any], dsn: str
) -> None:
    ajustes = Ajustes(formigueiro_conexoes_http=1, formigueiro_espera_banco_s=10)
    with TestClient(criar_app(ajustes, dsn_app, chave)) as cliente, psycopg.connect(dsn) as trava:
        trava.execute("LOCK TABLE core.limites")
        fio = threading.Thread(target=lambda: cliente.get(ACOMPANHAMENTO, headers=cabecalhos))
        fio.start()
        presa = (
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            " AND application_name = 'formigueiro-http'"
        )
        ate(lambda: bd.execute(presa).fetchone() == (1,), 10, "o pedido chegar à trava")
        texto = _texto(cliente)
        trava.rollback()
        fio.join()
    assert "formigueiro_banco_disponivel 1.0" in texto
    assert "formigueiro_coleta_completa 1.0" in texto


def test_o_que_um_banco_mais_novo_conta_a_mais_tambem_sai(
    cliente: TestClient[Litestar], bd: psycopg.Connection[Any]
) -> None:
    bd.execute(
        """
        CREATE OR REPLACE FUNCTION d8.metricas() RETURNS TABLE (nome text, rotulos jsonb, valor float8)
        LANGUAGE sql AS $$ SELECT 'd8_novidade', '{"a": "b"}'::jsonb, 7::float8 $$
        """
    )
    assert 'd8_novidade{a="b"} 7.0' in _texto(cliente)


def test_os_numeros_da_d6b(cliente: TestClient[Litestar], bd: psycopg.Connection[Any]) -> None:
    rede = Rede(bd)
    ana = UUID(int=11)
    rede.relogio("2026-11-01T12:00:00Z")
    concluida, em_andamento, parada = uuid4(), uuid4(), uuid4()
    for demanda in (concluida, em_andamento, parada):
        rede.sortear(demanda, ana)
    rede.despachar()
    rede.relogio("2026-11-03T12:00:00Z")
    rede.atualizar(em_andamento, ana)
    rede.concluir(concluida, ana)
    rede.despachar()
    rede.sortear(concluida, ana)  # tarde demais (E09)
    rede.despachar()
    _executar_a_agenda(bd)
    texto = _texto(cliente)
    for linha in (
        'd6b_acompanhamentos_ativos{status="aguardando_inicio"} 1.0',
        'd6b_acompanhamentos_ativos{status="em_andamento"} 1.0',
        'd6b_atualizacoes_por_tipo{tipo="contato_realizado"} 1.0',
        'd6b_atualizacoes_por_tipo{tipo="status_atualizado"} 1.0',
        "d6b_tempo_medio_conclusao 2.0",
        "d6b_taxa_conclusao 1.0",
        "d6b_sorteios_tardios_total 1.0",
        'formigueiro_ocorrencias_ultima_hora{colonia="D-6b",nivel="erro"} 1.0',
    ):
        assert linha in texto.splitlines()


def test_a_referencia_nomeia_o_que_a_coleta_traz_e_nada_mais(
    cliente: TestClient[Litestar], bd: psycopg.Connection[Any]
) -> None:
    _executar_a_agenda(bd)
    cliente.get("/healthz")
    pagina = (RAIZ / "docs" / "referencia" / "metricas.md").read_text(encoding="utf-8")
    nomeadas = set(re.findall(r"^\| `(\w+)` \|", pagina, re.MULTILINE))
    da_coleta = {
        re.sub(r"(?<=_segundos)_(bucket|count|sum|created)$", "", nome)
        for nome in _rotulos(_texto(cliente))
        if not nome.endswith("_created")
    }
    assert nomeadas == da_coleta | OCASIONAIS
