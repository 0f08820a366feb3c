"""O que vem de fora aparece numa mensagem até um tamanho, e nunca inteiro; no banco, core.citar."""


def citar(texto: str, limite: int = 4000) -> str:
    """O texto ou, se passa do limite, seu começo e o tamanho inteiro."""
    return texto if len(texto) <= limite else f"{texto[:limite]}… ({len(texto)} caracteres)"
