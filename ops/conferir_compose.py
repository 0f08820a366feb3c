"""Confere docker-compose.yml sem precisar do Docker: o esquema publicado do Compose, referências, segredos e imagens.

O esquema é o da especificação (compose-spec), como o check-jsonschema o traz, na versão que
requirements-dev.lock trava.
"""

import json
import re
import sys
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import yaml
from jsonschema.validators import validator_for

_SEGREDO = re.compile("SENHA|PASSWORD|SEGREDO|CHAVE")
_VARIAVEL = re.compile(r"\$\{(\w+)")
# ${NOME:?…} ou ${NOME?…}: sem ela o compose não sobe. Das chaves do JWT, alternativas, é o aplicativo que exige uma.
_EXIGIDA = re.compile(r"\$\{\w+:?\?")
_ALTERNATIVA = re.compile(r"\$\{FORMIGUEIRO_JWT_\w+:-\}")
_FIXADA = re.compile(r".+:v?\d+\.\d+\.\d+(@sha256:[0-9a-f]{64})?")


def _validador() -> Any:
    texto = (files("check_jsonschema") / "builtin_schemas" / "vendor" / "compose-spec.json").read_text(encoding="utf-8")
    esquema = json.loads(texto)
    return validator_for(esquema)(esquema)


def faltas(raiz: Path) -> Iterator[str]:
    """Tudo o que há de errado no docker-compose.yml de `raiz`."""
    texto = (raiz / "docker-compose.yml").read_text(encoding="utf-8")
    try:
        compose = yaml.safe_load(texto)
    except yaml.YAMLError as erro:
        yield f"não é YAML: {erro}"
        return
    malformado = False
    for falta in _validador().iter_errors(compose):
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
    else:
        if not _FIXADA.fullmatch(servico["image"]):
            yield f"a imagem {servico['image']} não está fixada numa versão"
        if str(servico.get("user", "root")).partition(":")[0] in ("root", "0"):
            yield "não define user: rodaria como root"
    if "restart" in servico and "healthcheck" not in servico:
        yield "fica no ar e não tem healthcheck"
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
        do_ambiente = _EXIGIDA.match(str(valor)) or _ALTERNATIVA.fullmatch(str(valor))
        if _SEGREDO.search(variavel) and not do_ambiente:
            yield f"{variavel} não é exigida do ambiente: teria um segredo escrito no arquivo, ou nenhum"


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
