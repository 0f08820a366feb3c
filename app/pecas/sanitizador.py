"""O sanitizador: nada privado em público, nenhum protocolo perdido."""

from app.pecas.identificadores.localizar import localizar
from app.pecas.identificadores.marcas import MARCAS
from app.pecas.neutralizar import neutralizar


def sanitizar(texto: str) -> str:
    """`texto` inerte e sem identificadores pessoais; aplicar outra vez não muda nada."""
    limpo = neutralizar(texto)
    partes: list[str] = []
    ate = 0
    for achado in localizar(limpo):
        partes += (limpo[ate : achado.inicio], MARCAS[achado.especie])
        ate = achado.fim
    partes.append(limpo[ate:])
    return "".join(partes)
