"""Atrás de um PgBouncer de verdade, em modo de transações, com a configuração de como-fazer/rodar-com-pgbouncer.md."""

import asyncio
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from litestar.testing import TestClient
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from app.ajustes import Ajustes
from app.banco.erros import ErroBanco
from app.banco.espera import esperar
from app.banco.migrar import migrar
from app.banco.recursos import RAIZ
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt, emitir_token
from app.linha_de_comando.principal import principal
from app.pecas.denylist import Denylist
from app.trabalhador import trabalhador
from tests.apoio.rede import Rede
from tests.apoio.servidor import pasta_de_cluster

DEMANDA, ANA, CHAVE = UUID("3f0c9a52-5a55-4c1b-9d3e-0d1a2b3c4d5e"), UUID(int=11), ChaveJwt.de_segredo("s" * 32)
PGBOUNCER = shutil.which("pgbouncer") or shutil.which("/usr/sbin/pgbouncer")
PAGINA = RAIZ / "docs" / "como-fazer" / "rodar-com-pgbouncer.md"
TRAVAS_CONSULTIVAS = """
    SELECT count(*) FROM pg_locks
     WHERE locktype = 'advisory' AND mode = 'ExclusiveLock'
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
"""

pytestmark = pytest.mark.skipif(PGBOUNCER is None, reason="não há pgbouncer instalado")


@pytest.fixture
def por_ele(dsn: str) -> Iterator[Callable[[str], str]]:
    """O DSN, através do PgBouncer, de cada papel."""
    servidor = conninfo_to_dict(dsn)
    soquete = Path(str(servidor["host"]))
    with socket.socket() as livre:
        livre.bind(("127.0.0.1", 0))
        porta = livre.getsockname()[1]
    with pasta_de_cluster() as pasta:
        (pasta / "userlist.txt").write_text(
            "".join(f'"{papel}" ""\n' for papel in ("formigueiro_app", "d6a_por_pgbouncer", "postgres"))
        )
        (pasta / "pgbouncer.ini").write_text(
            _da_pagina(
                formigueiro=f"host={soquete} port={servidor['port']} dbname={servidor['dbname']}",
                listen_port=str(porta),
                auth_type="trust",
                auth_file=str(pasta / "userlist.txt"),
            )
            + "unix_socket_dir =\n"
        )
        # Como quem roda o servidor, que é quem entra na pasta do soquete; como root o PgBouncer se recusa a rodar.
        processo = subprocess.Popen(
            [str(PGBOUNCER), "-q", str(pasta / "pgbouncer.ini")], user=soquete.stat().st_uid, stderr=subprocess.PIPE
        )
        try:
            esperar(lambda: _atende(porta), 30, "o PgBouncer subir")
            yield lambda papel: make_conninfo(host="127.0.0.1", port=porta, dbname="formigueiro", user=papel)
        finally:
            processo.terminate()
            processo.communicate(timeout=10)


def _da_pagina(**mudancas: str) -> str:
    """O pgbouncer.ini da página, com o que muda no lugar."""
    achado = re.search(r"^```ini\n(.*?)^```$", PAGINA.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert achado
    texto = achado[1]
    for nome, valor in mudancas.items():
        texto, trocas = re.subn(rf"^{nome} = .*$", f"{nome} = {valor}", texto, flags=re.MULTILINE)
        assert trocas == 1, nome
    return texto


def _atende(porta: int) -> bool:
    with socket.socket() as tomada:
        return tomada.connect_ex(("127.0.0.1", porta)) == 0


def test_publicar_despachar_publicar_textos_e_servir_atraves_dele(
    rede: Rede, por_ele: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rede.bd.execute("CREATE ROLE d6a_por_pgbouncer LOGIN")
    try:
        rede.bd.execute("SELECT core.registrar_produtor('d6a_por_pgbouncer', 'D-6a')")
        with psycopg.connect(por_ele("d6a_por_pgbouncer"), autocommit=True) as produtor:
            produtor.execute(
                """
                SELECT core.publicar('conselheiro.sorteado',
                                     jsonb_build_object('demanda_id', %s::uuid, 'conselheiro_id', %s::uuid,
                                                        'unidade_civica_id', gen_random_uuid()), 'D-6a')
                """,
                [DEMANDA, ANA],
            )
        asyncio.run(_com_trabalhador(rede, por_ele("formigueiro_app")))
        with TestClient(criar_app(Ajustes(), por_ele("formigueiro_app"), CHAVE)) as cliente:
            sessao = {"Authorization": f"Bearer {emitir_token(CHAVE, ANA)}"}
            for _ in range(7):  # mais que o bastante para que o psycopg preparasse os comandos, se pudesse
                resposta = cliente.get("/d6b/conselheiros/me/acompanhamento", headers=sessao)
                assert resposta.status_code == 200, resposta.text
            assert resposta.json()["acompanhamento"]["total_atualizacoes"] == 1
            relato = {"textoBruto": "Liguei.", "tipoAtualizacao": "contato_realizado", "demandaId": str(DEMANDA)}
            assert cliente.post("/d6b/sugerir-estruturacao", headers=sessao, json=relato).status_code == 201
            assert cliente.post(f"/d6b/demandas/{DEMANDA}/ratificar-conclusao", headers=sessao).status_code == 409
            assert cliente.get("/readyz").status_code == 200
            assert "formigueiro_banco_disponivel 1.0" in cliente.get("/metrics").text
        monkeypatch.setenv("DATABASE_URL", por_ele("formigueiro_app"))
        assert principal(("estado",)) == 0
        assert "D-6b" in capsys.readouterr().out
    finally:
        rede.bd.execute("DROP OWNED BY d6a_por_pgbouncer; DROP ROLE d6a_por_pgbouncer")


def test_migrar_recusa_se_e_nao_deixa_trava_nem_ajuste_no_pool(por_ele: Callable[[str], str], rede: Rede) -> None:
    for _ in range(2):
        with pytest.raises(ErroBanco, match="pool de transações") as recusa:
            migrar(por_ele("postgres"))
        assert "\n" not in str(recusa.value)
    assert rede.um(TRAVAS_CONSULTIVAS) == 0
    with psycopg.connect(por_ele("postgres"), autocommit=True) as pelo_pool:
        for ajuste in ("search_path", "statement_timeout", "deadlock_timeout"):
            do_pool = pelo_pool.execute(f"SHOW {ajuste}").fetchone()
            assert do_pool == rede.bd.execute(f"SHOW {ajuste}").fetchone(), ajuste
        assert pelo_pool.execute("SELECT count(*) FROM pg_listening_channels()").fetchone() == (0,)


async def _com_trabalhador(rede: Rede, dsn: str) -> None:
    """O trabalhador trata o que há e publica um texto; e não lidera."""
    parar = asyncio.Event()
    tarefa = asyncio.create_task(trabalhador.trabalhar(dsn, Denylist.de_texto("idiota"), parar))
    try:
        async with asyncio.timeout(60):
            while not rede.acompanhamentos(DEMANDA):
                await asyncio.sleep(0.02)
            rede.atualizar(DEMANDA, ANA)
            while not rede.eventos("demanda.resumo_ciclo_atualizado"):
                await asyncio.sleep(0.02)
        assert rede.um(TRAVAS_CONSULTIVAS) == 0
    finally:
        parar.set()
        await tarefa
