"""Os exemplos marcados das páginas rodam, em ordem, e dão a saída que a página mostra.

O que uma página supõe que já aconteceu está nela mesma, em blocos dentro de comentários HTML.
"""

from pathlib import Path

import pytest

from tests.docs.blocos import PAGINAS, enxuta, executaveis, rodar

COM_EXEMPLOS = [pagina for pagina in PAGINAS if executaveis(pagina)]


@pytest.mark.parametrize("pagina", COM_EXEMPLOS, ids=lambda pagina: pagina.stem)
def test_exemplos(pagina: Path, dsn: str, tmp_path: Path) -> None:
    for bloco in executaveis(pagina):
        saida = rodar(bloco, dsn, {"PASTA": str(tmp_path)})
        if bloco.saida is not None:
            assert enxuta(saida) == enxuta(bloco.saida), str(bloco)
