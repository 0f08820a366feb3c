"""Quanto custa a varredura da D-8.

Três medidas, em razões e não em segundos, pois a máquina varia. Numa máquina ocupada, o tempo de relógio conta também a
espera pelos outros; por isso cada razão sai duas vezes, de relógio e de CPU do processo do servidor.

1. 50.000 projetos vencidos varridos, sobre o INSERT nu, por conjunto, das mesmas linhas já prontas (eventos e
   histórico, com os mesmos índices), na mesma rodada. Meta: até 6.
2. (`--escala`) custo por projeto com 500.000 vencidos sobre o custo com 5.000. Meta: até 1,3.
3. uma chamada ociosa, já quente, com 500.000 projetos ativos e nenhum vencido. Meta: menos de 5 ms.

    python -m bench.d8_varredura [--escala] [--plano] [--projetos N] [--rodadas N]
"""

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import psycopg

from app.banco.migrar import migrar
from tests.apoio.servidor import cluster_de_teste

AGORA = "2026-06-01 12:00:00+00"
PARAMETROS = {"shared_buffers": "2GB", "max_wal_size": "16GB", "checkpoint_timeout": "1h"}

# Projetos como a cidade os teria: a metade no prazo, a metade com até 120 dias de atraso, e de 0 a 3 ciclos já feitos.
SEMEAR = """
    INSERT INTO d8.projetos_monitorados (
        id, demanda_original_id, categoria, subcategoria, localizacao, uc_id, plano_manutencao, profundidade,
        dossie_original, proximo_ciclo, ciclo_atual, event_id_origem, event_id_ultima_alteracao, criado_em,
        atualizado_em)
    SELECT gen_random_uuid(), gen_random_uuid(), '3.9_pracas_parques', 'playground_quebrado', d.localizacao,
           core.uuid_derivado('uc', (n %% 200)::text),
           '{"tipo": "inspecao estrutural dos brinquedos", "profundidade": 0, "intervalo_dias": 180,
             "vida_util_dias": 3650, "prazo_tolerancia_dias": 30}',
           0,
           jsonb_build_object(
               'titulo', 'Reforma da Praça ' || n || ' — playground e piso',
               'descricao', 'Troca dos brinquedos de madeira e do piso emborrachado; pintura das grades e poda das '
                            || 'árvores junto ao alambrado. Serviço entregue em ' || n %% 90 || ' dias.',
               'responsavel_tecnico', 'Secretaria Municipal de Obras',
               'data_conclusao', '2025-01-15T10:00:00.000Z',
               'materiais_utilizados', '["madeira tratada", "parafusos galvanizados", "areia", "tinta atóxica"]'::jsonb,
               'localizacao', d.localizacao),
           timestamptz %(agora)s - CASE WHEN n %% 2 = 0 THEN n %% 3600 * interval '1 second'
                                        ELSE n %% 120 * interval '24 hours' END,
           n %% 4, gen_random_uuid(), gen_random_uuid(), '2025-01-15 10:00:00+00', '2025-01-15 10:00:00+00'
      FROM generate_series(1, %(quantos)s) AS n
     CROSS JOIN LATERAL (SELECT jsonb_build_object(
                                    'lat', -23.5 - n / 1e6, 'lng', -46.6 - n / 1e6,
                                    'endereco', 'Praça ' || n || ', Centro, São Paulo')) AS d (localizacao);
    INSERT INTO d8.historico_manutencoes (
        id, projeto_id, demanda_manutencao_id, ciclo_numero, data_geracao, data_prevista, data_tolerancia,
        data_conclusao, status, conselheiro_id, dossie_montado, event_id_geracao, event_id_ultima_alteracao,
        criado_em, atualizado_em, status_execucao, observacoes)
    SELECT gen_random_uuid(), p.id, gen_random_uuid(), c, q.quando, q.quando, q.quando + interval '720 hours',
           q.quando + interval '48 hours', 'concluida', gen_random_uuid(), '{}', gen_random_uuid(), gen_random_uuid(),
           q.quando, q.quando, 'concluida', 'Balanço trocado e parafusos reapertados.'
      FROM d8.projetos_monitorados AS p
     CROSS JOIN LATERAL generate_series(1, p.ciclo_atual) AS c
     CROSS JOIN LATERAL (SELECT p.criado_em + c * interval '2880 hours') AS q (quando);
    SELECT setval(pg_get_serial_sequence('core.event_log', 'sequence_number'), 1);
"""

# As mesmas linhas, prontas, para o INSERT nu: em tabelas com os mesmos índices, o mesmo histórico anterior e o mesmo
# toast_tuple_target (que LIKE não copia), de modo que ele grava, byte a byte, o que a varredura gravou.
PREPARAR_NU = """
    DROP SCHEMA IF EXISTS nu CASCADE;
    CREATE SCHEMA nu;
    CREATE TABLE nu.event_log (LIKE core.event_log INCLUDING ALL);
    CREATE TABLE nu.historico (LIKE d8.historico_manutencoes INCLUDING ALL);
    ALTER TABLE nu.event_log SET (toast_tuple_target = 4080);
    ALTER TABLE nu.historico SET (toast_tuple_target = 4080);
    INSERT INTO nu.historico SELECT * FROM d8.historico_manutencoes WHERE data_geracao < timestamptz %(agora)s;
    CREATE UNLOGGED TABLE nu.eventos_prontos WITH (toast_tuple_target = 4080) AS
        SELECT * FROM core.event_log ORDER BY sequence_number;
    CREATE UNLOGGED TABLE nu.historico_pronto WITH (toast_tuple_target = 4080) AS
        SELECT * FROM d8.historico_manutencoes WHERE data_geracao >= timestamptz %(agora)s;
    ANALYZE nu.eventos_prontos, nu.historico_pronto;
"""
INSERIR_NU = (
    """
    INSERT INTO nu.event_log (event_id, tipo, origem, versao_schema, correlacao_id, chave, payload, publicado_em,
                              impressao)
    SELECT event_id, tipo, origem, versao_schema, correlacao_id, chave, payload, publicado_em, impressao
      FROM nu.eventos_prontos
    """,
    "INSERT INTO nu.historico SELECT * FROM nu.historico_pronto",
)


Conexao = psycopg.Connection[Any]


@contextmanager
def banco(projetos: int, vencidos: bool = True) -> Iterator[Conexao]:
    """Um cluster só desta medida, migrado, com `projetos` projetos ativos."""
    pasta = Path(tempfile.mkdtemp(prefix="formigueiro-bench-"))
    try:
        with cluster_de_teste(pasta, **PARAMETROS) as cluster:
            dsn = cluster.endereco.dsn("postgres")
            migrar(dsn, simulacao=True)
            with psycopg.connect(dsn, autocommit=True) as bd:
                semear(bd, projetos)
                if not vencidos:
                    bd.execute("UPDATE d8.projetos_monitorados SET proximo_ciclo = proximo_ciclo + interval '999 days'")
                    bd.execute("VACUUM (ANALYZE) d8.projetos_monitorados")
                yield bd
    finally:
        shutil.rmtree(pasta, ignore_errors=True)


def semear(bd: Conexao, projetos: int) -> None:
    with psycopg.ClientCursor(bd) as cursor:
        # Como réplica, os gatilhos que fazem do log só de acréscimo deixam esvaziá-lo entre as rodadas.
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            "TRUNCATE core.event_log, d8.projetos_monitorados, d8.historico_manutencoes, d8.processed_events"
        )
        cursor.execute(SEMEAR, {"agora": AGORA, "quantos": projetos})
        cursor.execute("SET session_replication_role = origin")
        cursor.execute("CHECKPOINT")


class Duracao(NamedTuple):
    """Segundos de relógio e de CPU do processo que atende a conexão."""

    relogio: float
    cpu: float


def cronometrar(bd: Conexao, *comandos: str) -> Duracao:
    relogio, cpu = time.perf_counter(), cpu_usada(bd)
    for comando in comandos:
        bd.execute(comando)
    return Duracao(time.perf_counter() - relogio, cpu_usada(bd) - cpu)


def cpu_usada(bd: Conexao) -> float:
    campos = Path(f"/proc/{bd.info.backend_pid}/stat").read_text().rpartition(")")[2].split()
    return (int(campos[11]) + int(campos[12])) / os.sysconf("SC_CLK_TCK")


def varrer(bd: Conexao, projetos: int) -> Duracao:
    """Duração da varredura; confere que gerou um ciclo e dois eventos por projeto."""
    duracao = cronometrar(bd, f"CALL d8.executar_varredura('{AGORA}')")
    feitos = bd.execute("SELECT count(*) FROM core.event_log").fetchone()
    assert feitos == (2 * projetos,), feitos
    return duracao


def medir_razao(projetos: int, rodadas: int) -> None:
    razoes = []
    with banco(projetos) as bd:
        for rodada in range(1, rodadas + 1):
            if rodada > 1:
                semear(bd, projetos)
            varredura = varrer(bd, projetos)
            with psycopg.ClientCursor(bd) as cursor:
                cursor.execute(PREPARAR_NU, {"agora": AGORA})
                cursor.execute("CHECKPOINT")
            nu = cronometrar(bd, *INSERIR_NU)
            razoes.append(Duracao(varredura.relogio / nu.relogio, varredura.cpu / nu.cpu))
            print(
                f"rodada {rodada}: por projeto, varredura {por_projeto(varredura, projetos)}, "
                f"INSERT nu {por_projeto(nu, projetos)}; razão {razoes[-1].relogio:.2f} (CPU {razoes[-1].cpu:.2f})",
                flush=True,
            )
    relogio, cpu = (statistics.median(valores) for valores in zip(*razoes, strict=True))
    print(f"razão com {projetos} projetos: mediana {relogio:.2f} (CPU {cpu:.2f}); meta: até 6", flush=True)


def por_projeto(duracao: Duracao, projetos: int) -> str:
    return f"{duracao.relogio / projetos * 1e6:.0f} µs (CPU {duracao.cpu / projetos * 1e6:.0f})"


def medir_escala(rodadas: int) -> None:
    """Os dois tamanhos nas mesmas condições: as mesmas rodadas, e cada varredura numa sessão nova, sem nada na memória,
    como o pg_cron a faz.
    """
    custos = []
    for projetos in (5_000, 500_000):
        duracoes = []
        with banco(projetos) as bd:
            for rodada in range(rodadas):
                if rodada:
                    semear(bd, projetos)
                with psycopg.connect(bd.info.dsn, autocommit=True) as nova:
                    duracoes.append(varrer(nova, projetos))
                print(f"{projetos} projetos: por projeto, {por_projeto(duracoes[-1], projetos)}", flush=True)
        relogio, cpu = (statistics.median(valores) for valores in zip(*duracoes, strict=True))
        custos.append(Duracao(relogio / projetos, cpu / projetos))
    pequeno, grande = custos
    print(
        f"custo por projeto em 500.000 sobre o de 5.000: {grande.relogio / pequeno.relogio:.2f} "
        f"(CPU {grande.cpu / pequeno.cpu:.2f}); meta: até 1,3"
    )


def medir_ociosa(projetos: int) -> None:
    with banco(projetos, vencidos=False) as bd:
        chamada = f"CALL d8.executar_varredura('{AGORA}')"
        cronometrar(bd, *[chamada] * 3)
        duracoes = [cronometrar(bd, chamada).relogio for _ in range(50)]
    print(
        f"chamada ociosa com {projetos} projetos ativos: mediana {statistics.median(duracoes) * 1e3:.2f} ms, "
        f"pior {max(duracoes) * 1e3:.2f} ms; meta: menos de 5 ms",
        flush=True,
    )


def mostrar_plano(projetos: int) -> None:
    """Os planos de um lote, com tempos e páginas, pelo auto_explain. Os tempos incluem o custo de medi-los."""
    ajustes = {
        "auto_explain.log_min_duration": "0",
        "auto_explain.log_nested_statements": "on",
        "auto_explain.log_analyze": "on",
        "auto_explain.log_buffers": "on",
        "client_min_messages": "log",
    }
    planos: list[str] = []
    with banco(projetos) as bd:
        bd.execute("LOAD 'auto_explain'")
        bd.add_notice_handler(lambda aviso: planos.append(aviso.message_primary or ""))
        for nome, valor in ajustes.items():
            bd.execute("SELECT set_config(%s, %s, false)", [nome, valor])
        bd.execute("CALL d8.executar_varredura(%s, %s)", [AGORA, projetos])
    for plano in planos:
        if "travados AS" in plano or "INSERT INTO core.event_log" in plano:
            print(plano)


def principal() -> None:
    opcoes = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    opcoes.add_argument("--projetos", type=int, default=50_000)
    opcoes.add_argument("--rodadas", type=int, default=3)
    opcoes.add_argument("--ativos", type=int, default=500_000, help="projetos da chamada ociosa")
    opcoes.add_argument("--escala", action="store_true", help="mede também 5.000 contra 500.000 (minutos)")
    opcoes.add_argument("--plano", action="store_true", help="só mostra o plano de um lote de 500")
    escolha = opcoes.parse_args()
    if escolha.plano:
        mostrar_plano(500)
        return
    medir_razao(escolha.projetos, escolha.rodadas)
    medir_ociosa(escolha.ativos)
    if escolha.escala:
        medir_escala(escolha.rodadas)


if __name__ == "__main__":
    principal()
