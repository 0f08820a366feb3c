"""A linha de comando, chamada no próprio processo, com o banco do teste."""

from collections.abc import Callable

import pytest

from app.linha_de_comando.principal import principal

# Código de saída, saída e saída de erro.
Resultado = tuple[int, str, str]
Formigueiro = Callable[..., Resultado]


@pytest.fixture
def comando(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Formigueiro:
    """Roda um comando sem nenhum ajuste além dos dados."""

    def rodar(*argumentos: str, **ajustes: str) -> Resultado:
        for nome in ("DATABASE_URL", "DATABASE_URL_MIGRACAO", "MODERACAO_DENYLIST_TEXTO", "FORMIGUEIRO_JWT_SEGREDO"):
            monkeypatch.delenv(nome, raising=False)
        for nome, valor in ajustes.items():
            monkeypatch.setenv(nome, valor)
        try:
            codigo = principal(argumentos)
        except SystemExit as saida:
            codigo = int(saida.code or 0)
        return (codigo, *capsys.readouterr())

    return rodar


@pytest.fixture
def formigueiro(comando: Formigueiro, dsn: str) -> Formigueiro:
    """Roda um comando no banco do teste."""

    def rodar(*argumentos: str, **ajustes: str) -> Resultado:
        return comando(*argumentos, **{"DATABASE_URL": dsn} | ajustes)

    return rodar
