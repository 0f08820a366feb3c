"""`migrar` morto a kill -9 em qualquer ponto: rodá-lo de novo basta, e o banco fica igual a um que nunca caiu."""

import signal
import subprocess
import sys
from collections.abc import Callable

import psycopg
import pytest

from app.banco.migrar import migrar
from app.banco.recursos import RAIZ
from tests.apoio.fotografia import fotografar

PONTOS = 8
PONTOS_LONGO = 120


def _rodar(dsn: str, no_comando: int, quando: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.apoio.migrar_e_morrer", dsn, str(no_comando), quando],
        cwd=RAIZ, capture_output=True, text=True, check=False,
    )  # fmt: skip


def _cair_e_retomar(partida: Callable[[], str], pontos: int, quando: str) -> None:
    inteiro = partida()
    feito = _rodar(inteiro, sys.maxsize, quando)
    assert feito.returncode == 0, feito.stderr
    total = int(feito.stdout)
    esperado = fotografar(inteiro)

    for ponto in range(pontos):
        no_comando = 1 + ponto * (total - 1) // (pontos - 1)
        caido = partida()
        assert _rodar(caido, no_comando, quando).returncode == -signal.SIGKILL
        migrar(caido)
        assert fotografar(caido) == esperado, f"queda no comando {no_comando}"


@pytest.mark.parametrize("quando", ["antes", "durante"])
def test_retoma_de_qualquer_ponto(quando: str, banco_vazio: Callable[[], str]) -> None:
    _cair_e_retomar(banco_vazio, PONTOS, quando)


@pytest.mark.parametrize("quando", ["antes", "durante"])
def test_retoma_de_qualquer_ponto_de_uma_troca_de_versao(quando: str, banco_vazio: Callable[[], str]) -> None:
    """Com o que remover, e com o que afastar para pôr outro no lugar."""

    def de_outra_versao() -> str:
        dsn = banco_vazio()
        migrar(dsn)
        with psycopg.connect(dsn) as conexao:
            conexao.execute(
                """
                DELETE FROM migracoes.funcoes;
                SET ROLE core_dono;
                CREATE FUNCTION core.sobra() RETURNS int LANGUAGE sql AS 'SELECT 1';
                CREATE VIEW core.sobra AS SELECT core.sobra() AS n;
                DROP FUNCTION core._prazo_do_comando();
                CREATE FUNCTION core._prazo_do_comando() RETURNS text LANGUAGE sql AS 'SELECT now()::text'
                """
            )
        return dsn

    _cair_e_retomar(de_outra_versao, PONTOS, quando)


@pytest.mark.longo
@pytest.mark.parametrize("quando", ["antes", "durante"])
def test_retoma_de_muitos_pontos(quando: str, banco_vazio: Callable[[], str]) -> None:
    _cair_e_retomar(banco_vazio, PONTOS_LONGO, quando)


def test_cai_varias_vezes_seguidas_e_ainda_assim_chega(banco_vazio: Callable[[], str]) -> None:
    dsn, inteiro = banco_vazio(), banco_vazio()
    migrar(inteiro)
    for no_comando in (40, 90, 180, 60, 20):
        assert _rodar(dsn, no_comando, "durante").returncode == -signal.SIGKILL
    migrar(dsn)
    assert fotografar(dsn) == fotografar(inteiro)


def test_migrar_de_novo_nao_muda_nada(dsn: str) -> None:
    antes = fotografar(dsn)
    feito = migrar(dsn)
    assert (feito.migracoes, feito.funcoes, feito.esquemas) == ([], False, 0)
    assert fotografar(dsn) == antes
