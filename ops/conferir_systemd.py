"""Confere ops/systemd/formigueiro.service com o systemd-analyze, onde há um."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

UNIDADE = Path(__file__).resolve().parent / "systemd" / "formigueiro.service"


def faltas(texto: str) -> str | None:
    """O que o systemd-analyze tem contra a unidade; None se não há systemd-analyze aqui, vazio se nada."""
    programa = shutil.which("systemd-analyze")
    if programa is None:
        return None
    # O programa da unidade não está instalado aqui: no lugar dele, este Python.
    conferida = re.sub(r"^ExecStart=\S+", f"ExecStart={sys.executable}", texto, flags=re.MULTILINE)
    with tempfile.TemporaryDirectory(prefix="formigueiro-unidade-") as pasta:
        arquivo = Path(pasta) / UNIDADE.name
        arquivo.write_text(conferida, encoding="utf-8")
        feito = subprocess.run([programa, "verify", str(arquivo)], capture_output=True, text=True, check=False)
    # Uma diretiva desconhecida é só um aviso para o systemd; aqui é um erro.
    return feito.stderr.strip() or (f"saída {feito.returncode}" if feito.returncode else "")


def principal() -> int:
    achadas = faltas(UNIDADE.read_text(encoding="utf-8"))
    if achadas:
        print(f"{UNIDADE.name}: {achadas}", file=sys.stderr)
        return 1
    print(f"{UNIDADE.name}: " + ("sem systemd-analyze aqui, não conferida" if achadas is None else "em ordem"))
    return 0


if __name__ == "__main__":
    sys.exit(principal())
