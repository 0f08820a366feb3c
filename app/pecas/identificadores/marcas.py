"""As marcas que ficam no lugar do que foi removido."""

import re
from typing import Final

MARCAS: Final = {
    "cpf": "[CPF removido]",
    "cnpj": "[CNPJ removido]",
    "telefone": "[telefone removido]",
    "email": "[e-mail removido]",
    "cns": "[cartão SUS removido]",
    "pis": "[PIS removido]",
    "titulo": "[título de eleitor removido]",
    "cnh": "[CNH removida]",
    "rg": "[RG removido]",
    "placa": "[placa removida]",
    "cartao": "[cartão removido]",
    "pix": "[chave Pix removida]",
    "nome": "[nome removido]",
}

MAIOR_MARCA: Final = max(map(len, MARCAS.values()))
MARCA: Final = re.compile("|".join(re.escape(marca) for marca in MARCAS.values()))
