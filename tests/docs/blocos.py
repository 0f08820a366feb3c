"""Os blocos de código das páginas de docs, e como rodá-los.

Um bloco com a marca `executável` roda: SQL pelo psql, sh pelo bash, que guarda as variáveis de um bloco para o outro,
como um terminal. Outras marcas: `falha`, se deve falhar; `papel:NOME`, para entrar como NOME e não como superusuário;
`embutido`, para que um comando se veja sem `DATABASE_URL`, como quem usa o banco de `make run`. O bloco `text` logo
abaixo é a saída esperada; nela, `…` está no lugar do que muda a cada vez.
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
SERVICO = re.compile(r"http://127\.0\.0\.1:800[01]\b")  # onde as páginas supõem que o aplicativo está
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
        return f"{self.pagina.relative_to(RAIZ)}:{self.linha}"


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
    """Roda o bloco e devolve o que ele escreveu; AssertionError se falhou (ou não falhou, se devia).

    `ambiente` traz `PASTA`, uma pasta só da página, e, se ela usa o aplicativo, `SERVICO`, onde ele está.
    """
    onde = endereco(dsn, bloco.papel)
    sql = bloco.marcas[0] == "sql"
    feito = subprocess.run(
        [str(BINARIOS / "psql"), "-X", "-v", "ON_ERROR_STOP=1", onde] if sql else ["bash", "-e"],
        input=PREFERENCIAS + bloco.texto if sql else _no_terminal(bloco, ambiente),
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
            "FORMIGUEIRO_DADOS": ambiente["PASTA"],
            "DATABASE_URL": onde,
            **ambiente,
        },
    )
    devia_falhar = "falha" in bloco.marcas
    assert (feito.returncode != 0) == devia_falhar, f"{bloco}\n{feito.stdout}"
    if devia_falhar:
        return _so_o_erro(feito.stdout)
    return feito.stdout.removeprefix("SET\n") if sql else feito.stdout


def rodar_juntos(blocos: list[Bloco], dsn: str) -> list[tuple[Bloco, str]]:
    """Roda blocos de SQL numa sessão só do psql e devolve cada um com o que escreveu."""
    marco = "-- fim do bloco --"
    feito = subprocess.run(
        [str(BINARIOS / "psql"), "-X", endereco(dsn)],
        input="".join(f"{bloco.texto}\\echo {marco}\n" for bloco in blocos),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
        env={**os.environ, "LC_ALL": "C.UTF-8", "PGOPTIONS": "-c client_min_messages=error"},
    )
    saidas = feito.stdout.split(f"{marco}\n")
    return [(bloco, _so_o_erro(s) if "falha" in bloco.marcas else s) for bloco, s in zip(blocos, saidas, strict=False)]


def _so_o_erro(saida: str) -> str:
    """A mensagem: o psql a antecede do arquivo e a segue do contexto."""
    return re.sub(r"^.*?(ERROR:[^\n]*).*$", r"\1", saida, flags=re.DOTALL)


def _no_terminal(bloco: Bloco, ambiente: dict[str, str]) -> str:
    """Os comandos do bloco, com as variáveis que os anteriores da página deixaram."""
    comandos = re.sub(r"(\.venv/bin/)?\bpython -m\b|\.venv/bin/python\b", _este_python, bloco.texto)
    comandos = SERVICO.sub(ambiente.get("SERVICO", ""), comandos)
    sem_banco = "unset DATABASE_URL\n" if "embutido" in bloco.marcas else ""
    variaveis = Path(ambiente["PASTA"], "variaveis")
    lembrar = f". {variaveis}\n" if variaveis.exists() else ""
    return f"set -a\n{lembrar}{sem_banco}{comandos}\nexport -p >{variaveis}\n"


def _este_python(achado: re.Match[str]) -> str:
    return f"{sys.executable} -m" if achado[0].endswith("-m") else sys.executable


def confere(saida: str, mostrada: str) -> bool:
    """Se a saída é a que a página mostra."""
    linhas, moldes = enxuta(saida), enxuta(mostrada)
    return len(linhas) == len(moldes) and all(
        re.fullmatch(".*".join(map(re.escape, molde.split("…"))), linha)
        for linha, molde in zip(linhas, moldes, strict=True)
    )


def enxuta(saida: str) -> list[str]:
    """As linhas de uma saída, sem os espaços à direita nem as linhas vazias do fim."""
    return [linha.rstrip() for linha in saida.rstrip().splitlines()]
