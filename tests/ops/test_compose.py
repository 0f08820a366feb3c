"""docker-compose.yml está em ordem, e a conferência acha o que o estragaria."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from app.ajustes import ler
from app.banco.recursos import RAIZ
from ops.conferir_compose import faltas


def test_o_nosso_esta_em_ordem() -> None:
    assert list(faltas(RAIZ)) == []


@pytest.mark.parametrize("chave", ["FORMIGUEIRO_JWT_SEGREDO", "FORMIGUEIRO_JWT_CHAVE_PUBLICA"])
def test_o_ambiente_do_app_serve_com_uma_das_chaves_do_jwt(chave: str) -> None:
    app = yaml.safe_load((RAIZ / "docker-compose.yml").read_text(encoding="utf-8"))["services"]["app"]
    dadas = {"FORMIGUEIRO_APP_SENHA": "x", chave: "c" * 32}
    ambiente = {
        nome: re.sub(r"\$\{(\w+)[^}]*\}", lambda variavel: dadas.get(variavel[1], ""), valor)
        for nome, valor in app["environment"].items()
    }
    assert getattr(ler(ambiente), chave.lower()) == "c" * 32


@pytest.mark.parametrize(
    ("de", "para", "falta"),
    [
        ("read_only: true", "read_onli: true", "read_onli"),
        ("interval: 5s", "interval: [5]", "interval"),
        ("condition: service_healthy", "condition: talvez", "talvez"),
        ("prom/prometheus:v3.13.5", "prom/prometheus:latest", "não está fixada"),
        ('    user: "65534:65534"\n', "", "rodaria como root"),
        ("${GRAFANA_SENHA:?defina em .env}", "admin", "GF_SECURITY_ADMIN_PASSWORD não é exigida"),
        ("${GRAFANA_SENHA:?defina em .env}", "${GRAFANA_SENHA:-admin}", "GF_SECURITY_ADMIN_PASSWORD não é exigida"),
        ("${FORMIGUEIRO_JWT_SEGREDO:-}", "${FORMIGUEIRO_JWT_SEGREDO:-padrao}", "FORMIGUEIRO_JWT_SEGREDO não é exigida"),
        ("${GRAFANA_SENHA:?", "${OUTRA_SENHA:?", ".env.example não tem OUTRA_SENHA"),
        ("./ops/prometheus/regras.yml:", "./ops/prometheus/outras.yml:", "não existe"),
        ("      - series:/prometheus", "      - sumido:/prometheus", "não está declarado"),
        ("    healthcheck:\n      test: [CMD, wget, -q, --spider, \"http://127.0.0.1:3000", "    x-h:\n      test: [\"",
         "não tem healthcheck"),
    ],
)  # fmt: skip
def test_acha_o_que_o_estragaria(de: str, para: str, falta: str, tmp_path: Path) -> None:
    for nome in ("docker-compose.yml", ".env.example", "requirements.lock", "pyproject.toml"):
        shutil.copy(RAIZ / nome, tmp_path / nome)
    for pasta in ("ops", "app", "sql", "exemplos"):
        (tmp_path / pasta).symlink_to(RAIZ / pasta)
    texto = (RAIZ / "docker-compose.yml").read_text(encoding="utf-8")
    assert de in texto
    (tmp_path / "docker-compose.yml").write_text(texto.replace(de, para), encoding="utf-8")
    assert any(falta in achada for achada in faltas(tmp_path)), list(faltas(tmp_path))
