"""O resumo público do ciclo, pelo modelo `resumo_v1`: determinístico, marcado como automático, sem conselhos."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo

from msgspec import Struct

from app.pecas.corte import cortar
from app.pecas.sanitizador import sanitizar

VERSAO_METODO: Final = "resumo_v1"
TETO_RESUMO: Final = 6000
TETO_TRECHO: Final = 400

_ABERTURA = (
    "Resumo automático, montado a partir das atualizações publicadas deste acompanhamento. "
    "Ninguém o revisou: em caso de dúvida, vale o que está em cada atualização."
)


class AtualizacaoDoCiclo(Struct, frozen=True):
    """Uma atualização publicada; a `suspeita` está retida pela denylist e não entra no resumo."""

    atualizacao_id: UUID
    sequencia: int
    tipo: str
    criado_em: datetime
    descricao: str
    suspeita: bool


class Desfecho(Struct, frozen=True):
    """A conclusão do ciclo, com o texto como o conselheiro o escreveu."""

    atualizacao_id: UUID
    sequencia: int
    criado_em: datetime
    texto: str
    suspeita: bool


class Ciclo(Struct, frozen=True):
    """O ciclo a resumir; datas em UTC, mostradas no fuso cívico."""

    data_inicio: datetime | None
    data_fim: datetime | None
    fuso: str
    atualizacoes: list[AtualizacaoDoCiclo]
    desfecho: Desfecho | None


class Resumo(Struct, frozen=True):
    """O texto e, exatamente, as atualizações usadas nele."""

    texto: str
    fontes: list[UUID]


def _data(quando: datetime, fuso: ZoneInfo) -> str:
    ciente = quando if quando.tzinfo else quando.replace(tzinfo=UTC)
    local = ciente.astimezone(fuso)
    return f"{local.day:02}/{local.month:02}/{local.year:04}"


def _periodo(ciclo: Ciclo, fuso: ZoneInfo) -> str:
    inicio = _data(ciclo.data_inicio, fuso) if ciclo.data_inicio else ""
    fim = ciclo.data_fim or (ciclo.desfecho.criado_em if ciclo.desfecho else None)
    if fim:
        encerrado = f"foi encerrado em {_data(fim, fuso)}"
        return f"O acompanhamento começou em {inicio} e {encerrado}." if inicio else f"O acompanhamento {encerrado}."
    return f"O acompanhamento começou em {inicio} e continua." if inicio else "O acompanhamento ainda não começou."


def _linha(a: AtualizacaoDoCiclo, fuso: ZoneInfo) -> str:
    prefixo = f"- {_data(a.criado_em, fuso)}: "
    descricao = a.descricao.replace("\n", " ").strip() or "Atualização sem descrição."
    return prefixo + cortar(descricao, TETO_TRECHO - len(prefixo))


def _final(ciclo: Ciclo, fuso: ZoneInfo) -> tuple[str, list[UUID]]:
    """A linha do desfecho e sua fonte; de um texto retido fica só o fato."""
    desfecho = ciclo.desfecho
    if desfecho is None:
        return "", []
    fato = f"Desfecho: demanda concluída em {_data(desfecho.criado_em, fuso)}."
    texto = "" if desfecho.suspeita else " ".join(sanitizar(desfecho.texto).split())
    if not texto:
        return fato, []
    return f"{fato} {cortar(texto, TETO_TRECHO - len(fato) - 1)}", [desfecho.atualizacao_id]


def _omissao(omitidas: Sequence[AtualizacaoDoCiclo], fuso: ZoneInfo) -> str:
    de, a = _data(omitidas[0].criado_em, fuso), _data(omitidas[-1].criado_em, fuso)
    if len(omitidas) == 1:
        return f"- Mais 1 atualização, de {de}, não coube neste resumo."
    return f"- Mais {len(omitidas)} atualizações, de {de} a {a}, não couberam neste resumo."


def _selecionar(publicas: Sequence[AtualizacaoDoCiclo], fuso: ZoneInfo, espaco: int) -> tuple[list[str], list[UUID]]:
    """Todas as linhas, se cabem; senão a primeira, quantas foram deixadas, e as últimas que couberem."""
    primeira = _linha(publicas[0], fuso)
    reserva = len(_omissao(publicas, fuso)) + 1
    usado = len(primeira) + 1
    finais: list[str] = []
    omitidas = list(publicas[1:])
    while omitidas:
        linha = _linha(omitidas[-1], fuso)
        usado += len(linha) + 1
        if usado + (reserva if len(omitidas) > 1 else 0) > espaco:
            break
        omitidas.pop()
        finais.insert(0, linha)
    meio = [_omissao(omitidas, fuso)] if omitidas else []
    usadas = [publicas[0], *publicas[1 + len(omitidas) :]]
    return [primeira, *meio, *finais], [a.atualizacao_id for a in usadas]


def compor(ciclo: Ciclo) -> Resumo:
    """O resumo do ciclo, em até 6.000 caracteres."""
    fuso = ZoneInfo(ciclo.fuso)
    publicas = sorted((a for a in ciclo.atualizacoes if not a.suspeita), key=lambda a: a.sequencia)
    final, fontes_do_final = _final(ciclo, fuso)
    cabeca = f"{_ABERTURA}\n\n{_periodo(ciclo, fuso)}"
    corpo = "" if final else "Ainda não há atualizações publicadas."
    fontes: list[UUID] = []
    if publicas:
        titulo = "Atualizações publicadas:"
        espaco = TETO_RESUMO - len(cabeca) - len(titulo) - len(final) - len("\n\n") * 3
        linhas, fontes = _selecionar(publicas, fuso, espaco)
        corpo = "\n".join([titulo, *linhas])
    texto = sanitizar("\n\n".join(parte for parte in (cabeca, corpo, final) if parte))
    return Resumo(cortar(texto, TETO_RESUMO), [*fontes, *fontes_do_final])
