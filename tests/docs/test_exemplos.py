"""Os exemplos marcados das páginas rodam, em ordem, e dão a saída que a página mostra.

O que uma página supõe que já aconteceu está nela mesma, em blocos dentro de comentários HTML. O banco, como o de quem
lê, não é de simulação; o aplicativo, se ela o chama, está no ar.
"""

from contextlib import ExitStack
from pathlib import Path

import psycopg
import pytest

from app.banco.recursos import RAIZ
from tests.docs.blocos import DOCS, PAGINAS, SERVICO, confere, executaveis, rodar, rodar_juntos
from tests.docs.servico import no_ar

COM_EXEMPLOS = [pagina for pagina in [*PAGINAS, RAIZ / "README.md"] if executaveis(pagina)]


@pytest.mark.parametrize("pagina", COM_EXEMPLOS, ids=lambda pagina: pagina.stem)
def test_exemplos(pagina: Path, dsn: str, tmp_path: Path) -> None:
    _tirar_da_simulacao(dsn)
    ambiente = {"PASTA": str(tmp_path)}
    blocos = executaveis(pagina)
    with ExitStack() as pilha:
        if any(SERVICO.search(bloco.texto) for bloco in blocos):
            ambiente |= pilha.enter_context(no_ar(pagina, dsn, tmp_path))
        for bloco in blocos:
            saida = rodar(bloco, dsn, ambiente)
            if bloco.saida is not None:
                assert confere(saida, bloco.saida), f"{bloco}\n{saida}"


def test_o_tutorial_numa_sessao_so_do_psql(dsn: str) -> None:
    """Como quem o segue: o que uma sessão guarda (planos, preferências) não pode mudar o que se vê."""
    _tirar_da_simulacao(dsn)
    blocos = [b for b in executaveis(DOCS / "tutorial" / "primeiro-ciclo.md") if b.marcas[0] == "sql"]
    ate_o_python = blocos[: next(n for n, b in enumerate(blocos) if "publicacoes_em_espera" in b.texto) + 1]
    for bloco, saida in rodar_juntos(ate_o_python, dsn):
        if bloco.saida is not None:
            assert confere(saida, bloco.saida), f"{bloco}\n{saida}"


def _tirar_da_simulacao(dsn: str) -> None:
    with psycopg.connect(dsn) as conexao:
        conexao.execute("UPDATE core.relogio SET quando = NULL, simulacao = false")
        conexao.execute("SELECT core.marcar_simulacao(false)")
