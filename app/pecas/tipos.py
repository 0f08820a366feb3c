"""Os tipos de atualização e os valores que a especificação fixa para eles (D-6b, 2.11 e 4.2)."""

from typing import Final

TIPOS_ATUALIZACAO: Final = (
    "contato_realizado",
    "protocolo_aberto",
    "documento_anexado",
    "entrave_registrado",
    "status_atualizado",
    "prazo_registrado",
)

# Nome que o cidadão lê, por valor do enum de cada campo.
CANAIS: Final = {
    "telefone": "por telefone",
    "email": "por e-mail",
    "presencial": "presencialmente",
    "oficio": "por ofício",
}
GRAVIDADES: Final = {"baixa": "baixa", "media": "média", "alta": "alta"}
SITUACOES: Final = {
    "pendente": "pendente",
    "em_andamento": "em andamento",
    "aguardando": "aguardando",
    "concluido": "concluída",
    "bloqueado": "bloqueada",
}
