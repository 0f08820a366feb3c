"""Tamanhos que a API aceita."""

TEXTO_MAXIMO = 10_000  # caracteres (D-6b 6.2)

# O maior corpo legítimo: cada caractere do texto escrito como um par substituto em JSON (\ud83d\udc1c) ocupa 12 bytes.
CORPO_MAXIMO = 12 * TEXTO_MAXIMO + 8 * 1024
