"""O pacote leva o SQL e os exemplos consigo: instalado fora do clone, migra e toca a cidade."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from app.banco.migrar import migrar
from app.banco.recursos import RAIZ
from tests.apoio.fotografia import fotografar

DENTRO = {"sql": "app/recursos/sql", "exemplos": "app/recursos/exemplos", "app": "app"}


@pytest.fixture(scope="module")
def roda(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """O pacote construído, sem rede: o construtor é o do ambiente."""
    destino = tmp_path_factory.mktemp("roda")
    _rodar("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", f"--wheel-dir={destino}", str(RAIZ))
    (arquivo,) = destino.glob("formigueiro-*.whl")
    return arquivo


@pytest.fixture(scope="module")
def instalado(roda: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    destino = tmp_path_factory.mktemp("instalado")
    _rodar("-m", "pip", "install", "--quiet", "--no-deps", f"--target={destino}", str(roda))
    return destino


def _rodar(*argumentos: str, pasta: Path | None = None, **ambiente: str) -> str:
    limpo = {nome: valor for nome, valor in os.environ.items() if not nome.startswith(("DATABASE_URL", "PYTHONPATH"))}
    feito = subprocess.run(
        [sys.executable, *argumentos],
        check=False, capture_output=True, text=True, cwd=pasta, env={**limpo, "LC_ALL": "C.UTF-8", **ambiente},
    )  # fmt: skip
    assert feito.returncode == 0, feito.stdout + feito.stderr
    return feito.stdout


def _arquivos(pasta: Path) -> dict[str, bytes]:
    return {
        str(arquivo.relative_to(pasta)): arquivo.read_bytes()
        for arquivo in pasta.rglob("*")
        if arquivo.is_file() and "__pycache__" not in arquivo.parts
    }


def test_leva_o_sql_e_os_exemplos_byte_a_byte_e_nada_mais(roda: Path) -> None:
    esperado = {
        f"{dentro}/{nome}": conteudo
        for pasta, dentro in DENTRO.items()
        for nome, conteudo in _arquivos(RAIZ / pasta).items()
    }
    with zipfile.ZipFile(roda) as zipado:
        levado = {nome: zipado.read(nome) for nome in zipado.namelist() if ".dist-info/" not in nome}
    assert levado.keys() == esperado.keys()
    assert [nome for nome, conteudo in esperado.items() if levado[nome] != conteudo] == []


def test_instalado_fora_do_clone_migra_e_da_o_mesmo_banco(
    instalado: Path, banco_vazio: Callable[[], str], tmp_path: Path
) -> None:
    pelo_pacote, pelo_clone = banco_vazio(), banco_vazio()
    ambiente = {"PYTHONPATH": str(instalado), "DATABASE_URL": pelo_pacote}
    onde = _rodar("-c", "import app; print(app.__file__)", pasta=tmp_path, **ambiente)
    assert Path(onde.strip()).is_relative_to(instalado)
    assert "funções: instaladas" in _rodar("-m", "app", "migrar", pasta=tmp_path, **ambiente)
    migrar(pelo_clone)
    assert fotografar(pelo_pacote) == fotografar(pelo_clone)


def test_instalado_fora_do_clone_toca_a_cidade_de_exemplo(instalado: Path, dsn: str, tmp_path: Path) -> None:
    ambiente = {"PYTHONPATH": str(instalado), "DATABASE_URL": dsn, "MODERACAO_DENYLIST_TEXTO": "idiota"}
    assert "nenhum evento foi descartado" in _rodar("-m", "app", "demo", pasta=tmp_path, **ambiente)
    with psycopg.connect(dsn) as conexao:
        assert conexao.execute("SELECT count(*) > 50 FROM core.event_log").fetchone() == (True,)
