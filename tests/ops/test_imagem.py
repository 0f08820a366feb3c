"""O que a imagem do aplicativo leva basta para ele subir, e dizer que versão é."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from app.banco.recursos import RAIZ

PROGRAMA = """
from app.ajustes import Ajustes
from app.banco.recursos import FUNCOES, MIGRACOES
from app.http.aplicacao import criar_app
from app.http.seguranca import ChaveJwt

assert list(FUNCOES.rglob("*.sql")) and list(MIGRACOES.glob("*.sql"))
print(criar_app(Ajustes(), "", ChaveJwt.de_segredo("s" * 32)).openapi_schema.info.version)
"""


def test_a_imagem_leva_o_que_o_aplicativo_precisa(tmp_path: Path) -> None:
    dockerfile = (RAIZ / "ops" / "app" / "Dockerfile").read_text(encoding="utf-8")
    deixados = re.findall(r"^!(.+)$", (RAIZ / ".dockerignore").read_text(encoding="utf-8"), re.MULTILINE)
    for copia in re.findall(r"^COPY (.+)$", dockerfile, re.MULTILINE):
        *origens, destino = copia.split()
        for origem in origens:
            assert origem in deixados
            if (RAIZ / origem).is_dir():
                shutil.copytree(RAIZ / origem, tmp_path / destino, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(RAIZ / origem, tmp_path / destino)
    feito = subprocess.run(
        [sys.executable, "-c", PROGRAMA],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
        env={nome: valor for nome, valor in os.environ.items() if nome != "PYTHONPATH"},
    )
    assert feito.returncode == 0, feito.stderr
    projeto = tomllib.loads((RAIZ / "pyproject.toml").read_text(encoding="utf-8"))
    assert feito.stdout.strip() == projeto["project"]["version"]
