"""Uma tabela de texto, alinhada, para o terminal."""

from collections.abc import Iterable, Sequence


def tabela(cabecalho: Sequence[str], linhas: Iterable[Sequence[object]]) -> str:
    """Colunas separadas por dois espaços; um valor ausente é um travessão."""
    textos = [list(cabecalho), *(["—" if valor is None else str(valor) for valor in linha] for linha in linhas)]
    larguras = [max(len(linha[coluna]) for linha in textos) for coluna in range(len(cabecalho))]
    return "\n".join(
        "  ".join(texto.ljust(largura) for texto, largura in zip(linha, larguras, strict=True)).rstrip()
        for linha in textos
    )
