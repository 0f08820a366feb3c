"""O que a linha de comando diz quando algo está errado: uma linha, em português, e o código certo."""

import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from app.banco import sessao
from tests.app.linha_de_comando.conftest import Formigueiro

CIDADAO = "c0ffee00-0000-4000-8000-000000000001"
SEM_BANCO = "postgresql://formigueiro_app@127.0.0.1:9/formigueiro?connect_timeout=2"


@pytest.mark.parametrize(
    ("argumentos", "mensagem"),
    [
        ((), "falta COMANDO"),
        (("voar",), "'voar' não é um de"),
        (("dlq",), "falta AÇÃO"),
        (("dlq", "descartar", "3"), "falta --motivo"),
        (("dlq", "reprocessar", "x"), "ID: valor inválido: 'x'"),
        (("token", "--cidadao", "x"), "--cidadao: valor inválido: 'x'"),
        (("estado", "--xml"), "não conheço --xml"),
    ],
)
def test_argumentos_errados(argumentos: tuple[str, ...], mensagem: str, comando: Formigueiro) -> None:
    codigo, _, erro = comando(*argumentos)
    assert codigo == 2
    assert mensagem in erro
    assert erro.count("\n") == 1


@pytest.mark.parametrize(
    "argumentos",
    [("estado",), ("trabalhar", "--uma-vez"), ("migrar",), ("servir",), ("dlq", "listar"), ("linha-do-tempo", CIDADAO)],
    ids=" ".join,
)
def test_um_banco_que_aceita_a_conexao_e_se_cala_nao_prende_o_comando(
    argumentos: tuple[str, ...], comando: Formigueiro, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessao, "ESPERA_DA_CONEXAO_S", 2)
    with socket.create_server(("127.0.0.1", 0)) as mudo, socket.create_server(("127.0.0.1", 0)) as outra:
        porta = str(outra.getsockname()[1])
        outra.close()
        url = f"postgresql://x@127.0.0.1:{mudo.getsockname()[1]}/x?sslmode=disable&gssencmode=disable"
        ajustes = {"DATABASE_URL": url, "MODERACAO_DENYLIST_TEXTO": "x", "FORMIGUEIRO_JWT_SEGREDO": "s" * 64}
        inicio = time.monotonic()
        codigo, _, erro = comando(*argumentos, **ajustes, FORMIGUEIRO_PORTA=porta)
    assert time.monotonic() - inicio < 8
    assert codigo != 0
    assert "não alcancei o banco de dados" in erro
    assert erro.count("\n") == 1


def test_um_argumento_enorme_nao_volta_inteiro(comando: Formigueiro) -> None:
    codigo, _, erro = comando("dlq", "reprocessar", "9x" * 30_000)
    assert codigo == 2
    assert "ID: valor inválido: '9x9x" in erro
    assert len(erro) < 1000


def test_um_erro_enorme_do_banco_nao_enche_o_terminal(formigueiro: Formigueiro, bd: psycopg.Connection[Any]) -> None:
    bd.execute(
        """
        CREATE OR REPLACE FUNCTION core.estado() RETURNS jsonb LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION '%', repeat('x', 1000000);
        END $$
        """
    )
    codigo, _, erro = formigueiro("estado")
    assert codigo != 0
    assert len(erro) < 5000


@pytest.mark.parametrize(
    ("argumentos", "ajustes", "mensagem"),
    [
        (("migrar",), {"DATABASE_URL": "mysql:x"}, "DATABASE_URL: não é uma URL"),
        (("migrar",), {"DATABASE_URL": ""}, "DATABASE_URL"),
        (("migrar",), {"DATABASE_URL_MIGRACAO": SEM_BANCO}, "DATABASE_URL_MIGRACAO"),
        (("migrar",), {"DATABASE_URL": SEM_BANCO, "FORMIGUEIRO_FUSO": "Marte/Olimpo"}, "FORMIGUEIRO_FUSO"),
        (("servir",), {"DATABASE_URL": SEM_BANCO}, "FORMIGUEIRO_JWT_SEGREDO"),
        (("servir",), {"DATABASE_URL": SEM_BANCO, "FORMIGUEIRO_JWT_SEGREDO": "s" * 32}, "MODERACAO_DENYLIST_TEXTO"),
        (("trabalhar",), {"DATABASE_URL": SEM_BANCO}, "MODERACAO_DENYLIST_TEXTO"),
        (("token", "--cidadao", CIDADAO), {"DATABASE_URL": SEM_BANCO}, "banco embutido"),
    ],
)
def test_ajustes_errados(
    argumentos: tuple[str, ...], ajustes: dict[str, str], mensagem: str, comando: Formigueiro
) -> None:
    codigo, _, erro = comando(*argumentos, **ajustes)
    assert codigo == 2
    assert mensagem in erro
    assert erro.count("\n") == 1


@pytest.mark.parametrize("argumentos", [("migrar",), ("estado",), ("dlq", "listar")])
def test_banco_fora_do_ar(argumentos: tuple[str, ...], comando: Formigueiro) -> None:
    codigo, _, erro = comando(*argumentos, DATABASE_URL=SEM_BANCO)
    assert codigo == (3 if argumentos == ("estado",) else 1)
    assert erro.startswith("formigueiro: não alcancei o banco de dados: ")
    assert erro.count("\n") == 1


@pytest.mark.parametrize("argumentos", [("estado",), ("dlq", "listar"), ("dlq", "reprocessar", "1")])
def test_banco_por_migrar(argumentos: tuple[str, ...], comando: Formigueiro, banco_vazio: Callable[[], str]) -> None:
    codigo, _, erro = comando(*argumentos, DATABASE_URL=banco_vazio())
    assert codigo == (3 if argumentos == ("estado",) else 1)
    assert "rode formigueiro migrar" in erro


def test_a_senha_nao_aparece_em_erro_nenhum(comando: Formigueiro) -> None:
    for url in ("postgres//ana:segredo@x", "postgresql://ana:segredo@127.0.0.1:9/x?connect_timeout=2"):
        assert "segredo" not in comando("estado", DATABASE_URL=url)[2]


def test_sem_banco_embutido_nao_cria_um_so_para_olhar(comando: Formigueiro, tmp_path: Path) -> None:
    codigo, _, erro = comando("estado", FORMIGUEIRO_DADOS=str(tmp_path / "dados"))
    assert codigo == 3
    assert "não há banco embutido" in erro
    assert not (tmp_path / "dados").exists()


def test_migrar_conta_o_que_fez(comando: Formigueiro, banco_vazio: Callable[[], str]) -> None:
    dsn = banco_vazio()
    codigo, saida, erro = comando("migrar", DATABASE_URL=dsn)
    assert (codigo, erro) == (0, "")  # o yoyo contaria cada passo
    assert "migração aplicada: core_0001_papeis" in saida
    assert "funções: instaladas" in saida
    codigo, saida, _ = comando("migrar", DATABASE_URL=dsn)
    assert saida.splitlines() == ["funções: em dia", "esquemas de eventos: em dia", "agenda: do app (sem pg_cron)"]


def test_migra_com_o_dsn_de_migracao_e_nao_com_o_do_app(comando: Formigueiro, banco_vazio: Callable[[], str]) -> None:
    dsn = banco_vazio()
    do_app = make_conninfo(dsn, user="formigueiro_app")
    codigo, _, erro = comando("migrar", DATABASE_URL=do_app)
    assert codigo == 1
    assert "DATABASE_URL_MIGRACAO" in erro
    assert comando("migrar", DATABASE_URL=do_app, DATABASE_URL_MIGRACAO=dsn)[0] == 0
    assert comando("estado", DATABASE_URL=do_app)[0] == 0
