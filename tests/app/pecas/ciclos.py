"""Dez ciclos de exemplo e o que o cidadão lê deles; `python -m tests.app.pecas.ciclos` refaz os textos dourados."""

import json
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import msgspec

from app.pecas.descricao import descrever
from app.pecas.resumo import Ciclo, Resumo, compor

PASTA = Path(__file__).parent / "dourados"


class Exemplo(NamedTuple):
    """Um ciclo com as descrições já publicadas, e o nome do arquivo dourado."""

    nome: str
    ciclo: Ciclo


def _id(sequencia: int) -> str:
    return str(UUID(int=sequencia))


def _montar(bruto: dict[str, Any]) -> Ciclo:
    """O ciclo como o SQL o entrega: JSON com datas ISO-8601 e descrições publicadas."""
    atualizacoes = [
        {
            "atualizacao_id": _id(a["sequencia"]),
            "sequencia": a["sequencia"],
            "tipo": a["tipo"],
            "criado_em": a["criado_em"],
            "descricao": descrever(a["tipo"], a["conteudo"], a["texto"]),
            "suspeita": a["suspeita"],
        }
        for a in bruto["atualizacoes"]
    ]
    desfecho = bruto["desfecho"] and {"atualizacao_id": _id(bruto["desfecho"]["sequencia"]), **bruto["desfecho"]}
    ciclo = {
        "data_inicio": bruto["data_inicio"],
        "data_fim": bruto["data_fim"],
        "fuso": "America/Sao_Paulo",
        "atualizacoes": atualizacoes,
        "desfecho": desfecho,
    }
    return msgspec.json.decode(json.dumps(ciclo), type=Ciclo)


def exemplos() -> list[Exemplo]:
    """Os dez ciclos."""
    brutos = json.loads((PASTA / "ciclos.json").read_text("utf-8"))
    return [Exemplo(bruto["nome"], _montar(bruto)) for bruto in brutos]


def como_se_le(ciclo: Ciclo, resumo: Resumo) -> str:
    """Descrições e resumo num texto só, para ler em voz alta."""
    descricoes = [f"[{a.sequencia}{' retida' if a.suspeita else ''}] {a.descricao}" for a in ciclo.atualizacoes]
    fontes = ", ".join(str(f.int) for f in resumo.fontes) or "nenhuma"
    return "\n".join(["DESCRIÇÕES", *descricoes, "", "RESUMO", resumo.texto, "", f"FONTES: {fontes}", ""])


def principal() -> None:
    """Escreve os textos dourados."""
    for exemplo in exemplos():
        texto = como_se_le(exemplo.ciclo, compor(exemplo.ciclo))
        (PASTA / f"{exemplo.nome}.txt").write_text(texto, "utf-8")


if __name__ == "__main__":
    principal()
