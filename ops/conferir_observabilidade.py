"""Confere o que o Prometheus e o Grafana vão ler: configuração, regras de alerta e seus testes, consultas do painel.

Precisa do promtool, que o pacote prometheus traz.
"""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RAIZ = Path(__file__).resolve().parents[1]
PROMETHEUS = RAIZ / "ops" / "prometheus"
PAINEL = RAIZ / "ops" / "grafana" / "paineis" / "formigueiro.json"


def consultas_do_painel() -> Iterator[tuple[str, str]]:
    """(título do quadro, consulta) de tudo o que o painel pergunta."""
    painel: dict[str, Any] = json.loads(PAINEL.read_text(encoding="utf-8"))
    for quadro in painel["panels"]:
        for alvo in quadro.get("targets", ()):
            yield quadro["title"], alvo["expr"]
    for anotacao in painel["annotations"]["list"]:
        yield anotacao["name"], anotacao["expr"]


def _como_regras(consultas: Iterator[tuple[str, str]], arquivo: Path) -> None:
    """As consultas, como regras de gravação, que é como o promtool as lê."""
    regras = [{"record": f"painel:consulta_{n}", "expr": expressao} for n, (_, expressao) in enumerate(consultas)]
    arquivo.write_text(json.dumps({"groups": [{"name": "painel", "rules": regras}]}), encoding="utf-8")


def principal() -> int:
    promtool = shutil.which("promtool")
    if promtool is None:
        print("formigueiro: falta o promtool; no Debian: apt-get install prometheus", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="formigueiro-painel-") as pasta:
        do_painel = Path(pasta) / "painel.yml"
        _como_regras(consultas_do_painel(), do_painel)
        for argumentos in (
            ("check", "config", PROMETHEUS / "prometheus.yml"),
            ("check", "rules", PROMETHEUS / "regras.yml"),
            ("test", "rules", PROMETHEUS / "regras_teste.yml"),
            ("check", "rules", do_painel),
        ):
            feito = subprocess.run([promtool, *argumentos], capture_output=True, text=True, check=False)
            if feito.returncode != 0:
                print(f"promtool {argumentos[0]} {argumentos[1]}: {feito.stdout}{feito.stderr}", file=sys.stderr)
                return 1
    print("prometheus e grafana: em ordem")
    return 0


if __name__ == "__main__":
    sys.exit(principal())
