"""Confere docker-compose.yml sem precisar do Docker: forma, referências, segredos e imagens.

O esquema abaixo é a parte da especificação do Compose que o arquivo usa; uma chave nova entra aqui ao ser usada.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from jsonschema import Draft202012Validator

_TEXTO = {"type": "string"}
_TEXTOS = {"type": "array", "items": _TEXTO}
_NOME = "^[a-zA-Z0-9._-]+$"


def _objeto(chaves: dict[str, Any], *obrigatorias: str) -> dict[str, Any]:
    return {"type": "object", "properties": chaves, "required": list(obrigatorias), "additionalProperties": False}


def _mapa(valor: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "patternProperties": {_NOME: valor}, "additionalProperties": False}


_DURACAO = {"type": "string", "pattern": "^([0-9]+(us|ms|s|m|h))+$"}
_CONDICOES = ["service_started", "service_healthy", "service_completed_successfully"]
_SERVICO = _objeto(
    {
        "build": {"anyOf": [_TEXTO, _objeto({"context": _TEXTO, "dockerfile": _TEXTO})]},
        "image": _TEXTO,
        "profiles": _TEXTOS,
        "restart": {"enum": ["no", "always", "on-failure", "unless-stopped"]},
        "environment": _mapa({"type": ["string", "number", "null"]}),
        "command": {"anyOf": [_TEXTO, _TEXTOS]},
        "volumes": _TEXTOS,
        "ports": _TEXTOS,
        "read_only": {"type": "boolean"},
        "user": _TEXTO,
        "cap_drop": _TEXTOS,
        "security_opt": _TEXTOS,
        "tmpfs": _TEXTOS,
        "depends_on": _mapa(_objeto({"condition": {"enum": _CONDICOES}}, "condition")),
        "healthcheck": _objeto(
            {
                "test": {"type": "array", "prefixItems": [{"enum": ["CMD", "CMD-SHELL"]}], "items": _TEXTO},
                "interval": _DURACAO,
                "timeout": _DURACAO,
                "start_period": _DURACAO,
                "retries": {"type": "integer", "minimum": 1},
            },
            "test",
        ),
    }
)
ESQUEMA = _objeto(
    {"name": _TEXTO, "services": _mapa(_SERVICO), "volumes": _mapa({"type": "null"})},
    "services",
)

_SEGREDO = re.compile("SENHA|PASSWORD|SEGREDO|CHAVE")
_VARIAVEL = re.compile(r"\$\{(\w+)")


def faltas(raiz: Path) -> Iterator[str]:
    """Tudo o que há de errado no docker-compose.yml de `raiz`."""
    texto = (raiz / "docker-compose.yml").read_text(encoding="utf-8")
    try:
        compose = yaml.safe_load(texto)
    except yaml.YAMLError as erro:
        yield f"não é YAML: {erro}"
        return
    malformado = False
    for falta in Draft202012Validator(ESQUEMA).iter_errors(compose):
        malformado = True
        yield f"{falta.json_path}: {falta.message}"
    if malformado:
        return
    servicos: dict[str, dict[str, Any]] = compose["services"]
    for nome, servico in servicos.items():
        for falta in _faltas_do_servico(raiz, servico, set(servicos), set(compose.get("volumes") or {})):
            yield f"serviço {nome}: {falta}"
    exemplo = (raiz / ".env.example").read_text(encoding="utf-8")
    for variavel in sorted(set(_VARIAVEL.findall(texto))):
        if not re.search(rf"^{variavel}=", exemplo, re.MULTILINE):
            yield f".env.example não tem {variavel}"


def _faltas_do_servico(raiz: Path, servico: dict[str, Any], servicos: set[str], volumes: set[str]) -> Iterator[str]:
    if "build" in servico:
        yield from _faltas_da_imagem(raiz, servico["build"])
    elif "image" not in servico:
        yield "sem build nem image"
    for outro in servico.get("depends_on", {}):
        if outro not in servicos:
            yield f"depends_on cita {outro}, que não existe"
    for volume in servico.get("volumes", []):
        origem = volume.split(":")[0]
        if origem.startswith("."):
            if not (raiz / origem).exists():
                yield f"o volume {origem} não existe"
        elif not origem.startswith("/") and origem not in volumes:
            yield f"o volume {origem} não está declarado"
    for variavel, valor in servico.get("environment", {}).items():
        if _SEGREDO.search(variavel) and not _VARIAVEL.match(str(valor)):
            yield f"{variavel} tem um segredo escrito no arquivo"


def _faltas_da_imagem(raiz: Path, build: str | dict[str, str]) -> Iterator[str]:
    contexto, arquivo = (build, "Dockerfile") if isinstance(build, str) else (build["context"], build["dockerfile"])
    pasta = raiz / contexto
    if not (pasta / arquivo).exists():
        yield f"{contexto}/{arquivo} não existe"
        return
    linhas = (pasta / arquivo).read_text(encoding="utf-8").splitlines()
    if not any(linha.startswith("USER ") for linha in linhas):
        yield f"{contexto}/{arquivo} não define USER: rodaria como root"
    for linha in linhas:
        if linha.startswith("COPY "):
            *origens, _ = [parte for parte in linha.split()[1:] if not parte.startswith("--")]
            for origem in origens:
                if not (pasta / origem).exists():
                    yield f"{arquivo} copia {origem}, que não existe"


def principal() -> int:
    achadas = list(faltas(Path(__file__).resolve().parents[1]))
    for falta in achadas:
        print(f"docker-compose.yml: {falta}", file=sys.stderr)
    if not achadas:
        print("docker-compose.yml: em ordem")
    return 1 if achadas else 0


if __name__ == "__main__":
    sys.exit(principal())
