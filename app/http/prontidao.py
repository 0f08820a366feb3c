"""O estado da rede visto pelo app: o que core.prontidao conta, e o que disso impede de atender."""

from functools import cache

import msgspec
from msgspec import Struct

from app.banco.recursos import MIGRACOES
from app.http.banco import Banco

EM_RECUPERACAO = "O banco está em recuperação (uma réplica?) e só se lê: espera-se que passe a aceitar escritas."


class Colonia(Struct, frozen=True):
    """A leitura do barramento por uma colônia."""

    colonia: str
    atraso_eventos: int
    atraso_segundos: float
    horizonte_retido_segundos: float
    dlq_pendente: int
    dlq_em_espera: int


class Fila(Struct, frozen=True):
    """Os textos de uma colônia à espera do trabalhador."""

    colonia: str
    pendentes: int
    segundos: float


class FilaCrescente(Struct, frozen=True):
    """Uma fila que enche mais depressa do que anda (core.filas_crescentes)."""

    colonia: str
    fila: str
    tamanho: int
    crescimento: int
    segundos: float


class Retrato(Struct, frozen=True):
    """Um olhar sobre o banco."""

    migracoes_ausentes: list[str]
    colonias: list[Colonia]
    filas: list[Fila] = []
    em_recuperacao: bool = False
    filas_crescentes: list[FilaCrescente] = []

    def motivos(self, atraso_maximo_s: float) -> list[str]:
        """O que impede de atender, uma frase por motivo; vazio é estar pronto."""
        motivos = [EM_RECUPERACAO] if self.em_recuperacao else []
        motivos += [f"Falta a migração {nome}: rode migrar." for nome in self.migracoes_ausentes]
        motivos += [
            f"A {c.colonia} está {c.atraso_segundos:.0f} s atrasada na leitura do barramento."
            for c in self.colonias
            if c.atraso_segundos > atraso_maximo_s
        ]
        motivos += [
            f"Há textos da {f.colonia} esperando o trabalhador há {f.segundos:.0f} s."
            for f in self.filas
            if f.segundos > atraso_maximo_s
        ]
        motivos += [
            f"A fila de {f.fila} da {f.colonia} cresce: {f.tamanho}, {f.crescimento} a mais que há {f.segundos:.0f} s."
            for f in self.filas_crescentes
        ]
        return motivos


async def retratar(banco: Banco) -> Retrato:
    """Pede o retrato ao banco. Levanta o que Banco.linha levanta."""
    retrato, filas, crescentes, em_recuperacao = await banco.linha(
        "SELECT core.prontidao(%s), core.filas_de_publicacao(), core.filas_crescentes(), pg_is_in_recovery()",
        [list(_migracoes_deste_codigo())],
    )
    return msgspec.structs.replace(
        msgspec.json.decode(retrato, type=Retrato),
        filas=msgspec.json.decode(filas, type=list[Fila]),
        em_recuperacao=em_recuperacao,
        filas_crescentes=msgspec.json.decode(crescentes, type=list[FilaCrescente]),
    )


@cache
def _migracoes_deste_codigo() -> tuple[str, ...]:
    return tuple(sorted(arquivo.stem for arquivo in MIGRACOES.glob("*.sql")))
