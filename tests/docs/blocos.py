"""Os blocos de código das páginas de docs, e como rodá-los.

Um bloco com a marca `executável` roda: SQL pelo psql, sh pelo bash. Outras marcas: `falha`, se deve falhar;
`papel:NOME`, para entrar como NOME e não como superusuário. O bloco `text` logo abaixo é a saída esperada.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from app.banco.recursos import RAIZ
from tests.apoio.servidor import BINARIOS

DOCS = RAIZ / "docs"
PAGINAS = sorted(DOCS.rglob("*.md"))
PARAMETROS = ("host", "port", "dbname", "user")
PREFERENCIAS = "\\pset footer off\nSET timezone TO 'America/Sao_Paulo';\n"

_BLOCO = re.compile(r"^```(?P<marcas>[^\n`]*)\n(?P<texto>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Bloco:
    """Um bloco marcado para rodar e, se a página a mostra, a saída que ele deve dar."""

    pagina: Path
    linha: int
    marcas: list[str]
    texto: str
    saida: str | None

    @property
    def papel(self) -> str | None:
        return next((marca.removeprefix("papel:") for marca in self.marcas if marca.startswith("papel:")), None)

    def __str__(self) -> str:
        return f"{self.pagina.relative_to(DOCS)}:{self.linha}"


def executaveis(pagina: Path) -> list[Bloco]:
    """Os blocos `executável` da página, em ordem."""
    conteudo = pagina.read_text(encoding="utf-8")
    todos = list(_BLOCO.finditer(conteudo))
    blocos = []
    for bloco, seguinte in zip(todos, [*todos[1:], None], strict=False):
        marcas = bloco["marcas"].split()
        if "executável" in marcas:
            mostra = seguinte is not None and seguinte["marcas"] == "text" and seguinte.start() - bloco.end() <= 2
            linha = conteudo.count("\n", 0, bloco.start()) + 1
            saida = seguinte["texto"] if seguinte and mostra else None
            blocos.append(Bloco(pagina, linha, marcas, bloco["texto"], saida))
    return blocos


def endereco(dsn: str, papel: str | None = None) -> str:
    """O DSN só com o que importa: o psql pode ser mais velho que a libpq do psycopg, e não conhecer o resto."""
    partes: dict[str, Any] = conninfo_to_dict(dsn, user=papel)
    return make_conninfo(**{nome: partes[nome] for nome in PARAMETROS if nome in partes})


def rodar(bloco: Bloco, dsn: str, ambiente: dict[str, str]) -> str:
    """Roda o bloco e devolve o que ele escreveu; AssertionError se falhou (ou não falhou, se devia)."""
    onde = endereco(dsn, bloco.papel)
    sql = bloco.marcas[0] == "sql"
    feito = subprocess.run(
        [str(BINARIOS / "psql"), "-X", "-v", "ON_ERROR_STOP=1", onde] if sql else ["bash", "-e"],
        input=PREFERENCIAS + bloco.texto if sql else bloco.texto.replace(".venv/bin/python", sys.executable),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=RAIZ,
        check=False,
        env={
            **os.environ,
            "LC_ALL": "C.UTF-8",
            "PATH": f"{BINARIOS}:{os.environ['PATH']}",
            "PGOPTIONS": "-c client_min_messages=error",
            "DATABASE_URL": onde,
            **ambiente,
        },
    )
    devia_falhar = "falha" in bloco.marcas
    assert (feito.returncode != 0) == devia_falhar, f"{bloco}\n{feito.stdout}"
    if devia_falhar:  # só a mensagem: o psql a antecede do arquivo e a segue do contexto
        return re.sub(r"^.*?(ERROR:[^\n]*).*$", r"\1", feito.stdout, flags=re.DOTALL)
    return feito.stdout.removeprefix("SET\n") if sql else feito.stdout


def enxuta(saida: str) -> list[str]:
    """As linhas de uma saída, sem os espaços à direita nem as linhas vazias do fim."""
    return [linha.rstrip() for linha in saida.rstrip().splitlines()]
