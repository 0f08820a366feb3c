"""A denylist dos ajustes. Não tem padrão: só o banco embutido, que é de desenvolvimento, usa a lista de exemplo."""

import structlog
from msgspec import UNSET

from app.ajustes import Ajustes, ErroAjuste
from app.banco.recursos import EXEMPLOS
from app.pecas.denylist import Denylist

_log = structlog.get_logger(__name__)


def denylist_dos_ajustes(ajustes: Ajustes) -> Denylist:
    """Levanta ErroAjuste se a lista falta; vazia, é aceita e dita no log."""
    texto = ajustes.moderacao_denylist_texto
    if texto is UNSET:
        if not ajustes.embutido:
            raise ErroAjuste("defina MODERACAO_DENYLIST_TEXTO (vazia, se nenhum texto deve ser retido)")
        texto = (EXEMPLOS / "denylist.txt").read_text(encoding="utf-8")
    if not texto.strip():
        _log.warning("a denylist está vazia: nenhum texto será retido para moderação")
    return Denylist.de_texto(texto)
