"""O caminho de uma atualização: os campos que ensinam a próxima pessoa por onde ir (E14)."""

from collections.abc import Mapping
from typing import Final

from app.pecas.campos import campo

CAMPOS_DO_CAMINHO: Final = {
    "contato_realizado": ("canal", "contato_orgao", "resultado"),
    "protocolo_aberto": ("orgao", "protocolo_numero", "data_protocolo"),
    "entrave_registrado": ("orgao_envolvido", "descricao_entrave", "gravidade"),
    "status_atualizado": ("novo_status", "fonte_informacao"),
    "prazo_registrado": ("data_estimada", "descricao_prazo", "fonte_estimativa"),
    "documento_anexado": ("tipo_documento", "descricao"),
}


def extrair_caminho(tipo: str, conteudo: Mapping[str, object]) -> dict[str, str] | None:
    """Os campos do caminho, sanitizados e no tamanho; None se nenhum está preenchido."""
    pares = ((nome, campo(conteudo, nome)) for nome in CAMPOS_DO_CAMINHO.get(tipo, ()))
    return {nome: valor for nome, valor in pares if valor} or None
