"""A porta de entrada do tutorial: do banco embutido no ar ao psql num banco novo, com os comandos da página."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from app.banco.embutido import cluster_embutido
from app.banco.recursos import RAIZ
from tests.apoio.servidor import EMBUTIDO
from tests.docs.blocos import DOCS

PAGINA = (DOCS / "tutorial" / "primeiro-ciclo.md").read_text(encoding="utf-8")


@pytest.mark.skipif(not EMBUTIDO, reason="o tutorial parte do banco embutido")
def test_do_banco_embutido_ao_psql_num_banco_migrado() -> None:
    comandos = next(
        bloco for bloco in re.findall(r"^```sh\n(.*?)^```$", PAGINA, re.MULTILINE | re.DOTALL) if "psql" in bloco
    )
    pasta = Path(tempfile.mkdtemp(prefix="formigueiro-tutorial-"))
    pasta.chmod(0o711)
    try:
        (pasta / ".venv" / "bin").mkdir(parents=True)
        # Um atalho, e não uma ligação: o Python acharia o ambiente errado por onde a ligação está.
        python = pasta / ".venv" / "bin" / "python"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        with cluster_embutido(pasta / ".dados"):
            feito = subprocess.run(
                ["bash", "-e", "-c", f'{comandos.rstrip()} -X -A -t -c "SELECT count(*) FROM core.event_log"\n'],
                capture_output=True,
                text=True,
                cwd=pasta,
                check=False,
                env={**os.environ, "PYTHONPATH": str(RAIZ)},
            )
    finally:
        shutil.rmtree(pasta, ignore_errors=True)
    assert feito.returncode == 0, feito.stderr
    assert feito.stdout.splitlines()[0] == "CREATE DATABASE"
    assert feito.stdout.splitlines()[-2:] == ["agenda: do app (sem pg_cron)", "0"]
