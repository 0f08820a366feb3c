"""`migrar` leva o banco da versão base até aqui, com o app antigo no ar, e chega ao mesmo que uma instalação nova.

base.sql.gz é a cópia (pg_dump do PostgreSQL 15) de um banco da primeira versão publicada, com a cidade de exemplo
tocada até o fim e trabalho por acabar: eventos por ler, textos na fila, e na DLQ um evento, o que espera por ele e uma
saída. anterior.sql.gz é o mesmo banco, levado por migrar à versão anterior a esta.
"""

import gzip
import os
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from app.banco.migrar import migrar
from tests.apoio.espera import ate
from tests.apoio.falhas import vencer_tentativas
from tests.apoio.fotografia import esquema
from tests.apoio.rede import Rede
from tests.apoio.servidor import BINARIOS
from tests.apoio.textos import publicar_textos
from tests.docs.blocos import endereco

PASTA = Path(__file__).parent
ANA = UUID(int=11)
PAPEIS = ["formigueiro_app", "formigueiro_dba", "formigueiro_produtor"]
# O que migrar escreve; nas outras tabelas, nada pode mudar.
DE_MIGRAR = {"core.agendamentos", "core.esquemas", "core.parametros"}
DO_CATALOGO = {
    "parâmetros": "SELECT nome, valor::text, descricao FROM core.parametros",
    "agenda": "SELECT nome, cron, comando FROM core.agendamentos",
    "esquemas": "SELECT tipo, versao, esquema::text, produtores, campos_pessoais FROM core.esquemas",
    "consumidores": "SELECT colonia, esquema, ordem FROM core.consumidores",
    "tipos da D-6b": "SELECT tipo_evento FROM d6b.consumer_offset",
    "tipos da D-8": "SELECT tipo_evento FROM d8.consumer_offset",
    "migrações": "SELECT migration_id, sha256 FROM migracoes.conteudo",
    "marcas": "SELECT migration_id FROM migracoes._yoyo_migration",
    "funções": "SELECT sha256 FROM migracoes.funcoes",
}
PORTAS = """
    SELECT r.papel, p.oid::regprocedure::text, pg_get_function_result(p.oid), p.proargnames
      FROM pg_proc AS p
     CROSS JOIN unnest(%s::text[]) AS r (papel)
     WHERE p.pronamespace::regnamespace::text IN ('core', 'd6b', 'd8')
       AND has_function_privilege(r.papel, p.oid, 'EXECUTE')
"""


@pytest.fixture(params=["base", "anterior"])
def antigo(request: pytest.FixtureRequest, banco_vazio: Callable[[], str], dsn: str) -> str:
    """Um banco de uma versão antiga. `dsn` garante que os papéis do projeto existem."""
    banco = banco_vazio()
    restaurar(gzip.decompress((PASTA / f"{request.param}.sql.gz").read_bytes()), banco)
    return banco


def restaurar(copia: bytes, banco: str) -> None:
    subprocess.run(
        [BINARIOS / "psql", "-X", "--quiet", "-v", "ON_ERROR_STOP=1", f"--dbname={endereco(banco)}"],
        check=True, input=copia, stdout=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip


@pytest.fixture
def rede(antigo: str) -> Iterator[Rede]:
    with psycopg.connect(antigo, autocommit=True) as conexao:
        yield Rede(conexao)


def tabelas(rede: Rede) -> dict[str, list[dict[str, Any]]]:
    """De cada tabela, as linhas."""
    nomes = rede.linhas(
        "SELECT c.oid::regclass::text AS nome FROM pg_class AS c"
        " WHERE c.relkind = 'r' AND c.relnamespace::regnamespace::text IN ('core', 'd6b', 'd8')"
    )
    return {
        t["nome"]: rede.linhas(f"SELECT * FROM {t['nome']} AS t ORDER BY t::text") for t in nomes
    }


def portas(rede: Rede) -> set[tuple[Any, ...]]:
    return {
        (papel, funcao, resultado, tuple(nomes or ()))
        for papel, funcao, resultado, nomes in rede.bd.execute(PORTAS, [PAPEIS])
    }


def test_chega_ao_mesmo_catalogo_que_uma_instalacao_nova(antigo: str, banco_vazio: Callable[[], str]) -> None:
    novo = banco_vazio()
    migrar(antigo)
    migrar(novo, simulacao=True)  # como a base
    # Um CHECK com ANY muda de escrita na primeira vez que se copia e restaura: comparam-se as cópias.
    copias = banco_vazio(), banco_vazio()
    for banco, copia in zip((antigo, novo), copias, strict=True):
        restaurar(esquema(banco).encode(), copia)
    assert esquema(copias[0]).splitlines() == esquema(copias[1]).splitlines()
    with psycopg.connect(antigo) as de_la, psycopg.connect(novo) as daqui:
        for nome, consulta in DO_CATALOGO.items():
            do_antigo, do_novo = (set(map(str, banco.execute(consulta))) for banco in (de_la, daqui))
            sobra = {linha for linha in do_antigo - do_novo if "demonstracao_completa" not in linha}
            assert (nome, sobra, do_novo - do_antigo) == (nome, set(), set())


def test_os_dados_sobrevivem_e_o_que_estava_por_acabar_se_acaba(antigo: str, rede: Rede) -> None:
    antes = tabelas(rede)
    migrar(antigo)
    depois = tabelas(rede)
    for nome in antes.keys() - DE_MIGRAR:
        # As colunas que a base tinha; e não tem linha a menos nem a mais.
        linhas = [{c: nova[c] for c in velha} for velha, nova in zip(antes[nome], depois[nome], strict=True)]
        assert linhas == antes[nome], nome
    assert all(rede.um("SELECT count(*) FROM core.dlq WHERE estado = %s", e) > 0 for e in ("pendente", "em_espera"))
    vencer_tentativas(rede.bd)
    rede.despachar()
    publicar_textos(rede.bd)
    rede.despachar()
    assert rede.um("SELECT core.estado() -> 'problemas'") == []
    assert rede.um("SELECT count(*) FROM core.dlq WHERE estado <> 'resolvida'") == 0
    situacao = [rede.acompanhamento(UUID(int=n))["status"] for n in (1, 2, 3)]
    assert situacao == ["em_andamento", "em_andamento", "concluido"]
    assert "DLQ" in str(rede.linhas("SELECT o_que FROM core.linha_do_tempo(%s)", UUID(int=1)))
    da_d8 = (depois["d8.projetos_monitorados"], depois["d8.historico_manutencoes"])
    rede.bd.execute("SELECT d8.reconstruir()")
    refeitas = tabelas(rede)
    assert (refeitas["d8.projetos_monitorados"], refeitas["d8.historico_manutencoes"]) == da_d8
    rede.bd.execute("CALL core.redigir(core.agora())")
    rede.bd.execute("SELECT d8.reconstruir()")
    refeitas = tabelas(rede)
    assert (refeitas["d8.projetos_monitorados"], refeitas["d8.historico_manutencoes"]) == da_d8


def test_o_que_cada_papel_podia_chamar_continua_com_a_mesma_assinatura(antigo: str, rede: Rede) -> None:
    antes = portas(rede)
    assert len(antes) > 60
    migrar(antigo)
    # O que deixou de ser de quem opera (N34), e o aplicativo antigo só chamava na demonstração.
    retiradas = {"core.definir_relogio", "core._escritores", "core._algum_escritor", "core._avancar_horizonte"}
    assert {porta for porta in antes - portas(rede) if porta[1].partition("(")[0] not in retiradas} == set()


@contextmanager
def repetindo(dsn: str, papel: str, *atos: Callable[[psycopg.Connection[Any]], None]) -> Iterator[list[int]]:
    """Cada ato numa sessão sua, aberta antes e sem parar até o fim do bloco; uma falha de qualquer um é do teste."""
    parar, voltas = Event(), [0] * len(atos)

    def rodar(n: int) -> None:
        with psycopg.connect(make_conninfo(dsn, user=papel), autocommit=True, prepare_threshold=0) as sessao:
            while not parar.is_set():
                atos[n](sessao)
                voltas[n] += 1

    with ThreadPoolExecutor(len(atos)) as sessoes:
        tarefas = [sessoes.submit(rodar, n) for n in range(len(atos))]
        try:
            yield voltas
        except TimeoutError:
            for tarefa in tarefas:
                if tarefa.done():
                    tarefa.result()  # diz por que a sessão parou
            raise
        finally:
            parar.set()
        for tarefa in tarefas:
            tarefa.result()


def ate_mais(voltas: list[int], quantas: int = 5) -> None:
    """Espera que cada sessão dê mais algumas voltas."""
    alvo = [n + quantas for n in voltas]
    ate(lambda: all(n >= a for n, a in zip(voltas, alvo, strict=True)), o_que="as sessões seguirem")


def test_migra_com_quem_publica_despacha_e_le_no_ar(antigo: str, rede: Rede) -> None:
    publicadas: list[UUID] = []

    def publicar(sessao: psycopg.Connection[Any]) -> None:
        quem = {"demanda_id": str(uuid4()), "conselheiro_id": str(ANA), "unidade_civica_id": str(UUID(int=7))}
        relato = {
            "tipo": "contato_realizado", "texto_bruto": "Liguei.", "texto_estruturado": "Liguei.",
            "conteudo_estruturado": {"canal": "telefone"}, "timestamp": "2026-11-30T12:00:00Z",
        }  # fmt: skip
        with sessao.transaction():
            sessao.execute("SELECT core.publicar('conselheiro.sorteado', %s, 'D-6a')", [Jsonb(quem)])
            sessao.execute(
                "SELECT core.publicar('conselheiro.atualização_registrada', %s, 'D-1a', '1.1.0')",
                [Jsonb(quem | relato)],
            )
        publicadas.append(UUID(quem["demanda_id"]))

    def despachar(sessao: psycopg.Connection[Any]) -> None:
        # Acaba por si na metade do prazo; migrar espera por ele, e com quem publica sem parar não acabaria nunca.
        sessao.execute("SET statement_timeout = '20s'")
        sessao.execute("CALL core.despachar()")

    def ler(sessao: psycopg.Connection[Any]) -> None:
        sessao.execute("SELECT d6b.acompanhamento_conselheiro(%s)", [ANA])
        sessao.execute("SELECT core.estado()")

    rede.bd.execute("UPDATE core.dlq SET proxima_tentativa = NULL")
    na_dlq = rede.um("SELECT max(id) FROM core.dlq")
    rede.bd.execute(
        "INSERT INTO core.produtores SELECT 'formigueiro_produtor', c FROM unnest('{D-6a,D-1a}'::text[]) AS c"
        " ON CONFLICT DO NOTHING"
    )
    with (
        repetindo(antigo, "formigueiro_app", despachar, despachar),
        repetindo(antigo, "formigueiro_app", ler) as leituras,
        repetindo(antigo, "formigueiro_produtor", publicar, publicar) as publicacoes,
    ):
        for _ in range(3):
            ate_mais(publicacoes)
            migrar(antigo)
            rede.bd.execute("DELETE FROM migracoes.funcoes")  # para que a próxima instale tudo de novo
        ate_mais(publicacoes)
        ate_mais(leituras)
    rede.despachar()
    assert rede.linhas("SELECT * FROM core.dlq WHERE id > %s", na_dlq) == []
    tratadas = rede.um(
        "SELECT count(*) FROM d6b.acompanhamentos WHERE demanda_id = ANY (%s) AND total_atualizacoes = 1", publicadas
    )
    assert tratadas == len(publicadas) > 6
