"""`formigueiro estado`: a saúde da rede, para gente cansada e para scripts."""

import json
from argparse import Namespace, _SubParsersAction
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from app.ajustes import Ajustes
from app.banco.erros import ErroBanco
from app.banco.sessao import conectar
from app.linha_de_comando.ambiente import abrir
from app.linha_de_comando.tabela import tabela

_ABERTO = (
    "Travas consultivas e objetos grandes: abertos a qualquer login deste banco (docs/como-fazer/sem-superusuario.md)."
)

SAUDAVEL, ATENCAO, NAO_SEI = 0, 1, 3

Estado = Mapping[str, Any]


def registrar(comandos: "_SubParsersAction[Any]") -> None:
    comando = comandos.add_parser(
        "estado",
        help="a saúde da rede num relance",
        epilog="Códigos de saída: 0, tudo em ordem; 1, algo pede atenção; 2, ajuste ou argumento errado; "
        "3, não deu para saber (banco fora de alcance, por migrar ou sem direito).",
    )
    comando.add_argument("--json", action="store_true", help="o mesmo, em JSON: o que core.estado() devolve")
    comando.set_defaults(executar=executar, falha=NAO_SEI)


def executar(ajustes: Ajustes, opcoes: Namespace) -> int:
    with abrir(ajustes) as ambiente, conectar(ambiente.dsn) as conexao:
        linha = conexao.execute("SELECT core.estado()").fetchone()
    assert linha is not None
    estado: Estado = linha[0]
    if "trabalhador" not in estado:
        raise ErroBanco("o banco é de uma versão anterior: rode formigueiro migrar")
    print(json.dumps(estado, ensure_ascii=False, indent=2) if opcoes.json else retrato(estado, datetime.now(UTC)))
    return ATENCAO if estado["problemas"] else SAUDAVEL


def retrato(estado: Estado, agora: datetime) -> str:
    """O estado em texto: primeiro o que pede atenção, depois os números."""
    partes = [
        "\n".join(["ATENÇÃO", *(f"  {problema}" for problema in estado["problemas"])])
        if estado["problemas"]
        else "Tudo em ordem.",
        f"Hora da rede: {estado['agora']}   Último evento: {estado['maior_sequence']}   "
        f"Trabalhador: {'na liderança' if estado['trabalhador']['lider'] else 'ninguém na liderança'}",
        _colonias(estado["colonias"]),
        _filas(estado, agora),
        _agenda(estado["agenda"], agora),
        _cursores(estado["cursores"]),
        _ABERTO if estado["aberto_ao_publico"] else "",
    ]
    return "\n\n".join(parte for parte in partes if parte)


def duracao(tempo: timedelta) -> str:
    """Uma duração na maior unidade que a diz sem enganar: 42 s, 12 min, 30 h, 5 d."""
    segundos = max(0, round(tempo.total_seconds()))
    for unidade, tamanho, ate in (("s", 1, 120), ("min", 60, 7200), ("h", 3600, 172800)):
        if segundos < ate:
            return f"{segundos // tamanho} {unidade}"
    return f"{segundos // 86400} d"


def _ha(quando: str | None, agora: datetime) -> str | None:
    return f"há {duracao(agora - datetime.fromisoformat(quando))}" if quando else None


def _colonias(colonias: Sequence[Estado]) -> str:
    linhas = [
        (
            colonia["colonia"],
            colonia["posicao"],
            colonia["atraso_eventos"],
            duracao(timedelta(seconds=colonia["atraso_segundos"])) if colonia["atraso_eventos"] else None,
            _detida(colonia),
            colonia["dlq_pendente"],
            colonia["dlq_em_espera"],
        )
        for colonia in colonias
    ]
    return tabela(("COLÔNIA", "LIDO ATÉ", "POR LER", "ATRASO", "DETIDA POR", "NA DLQ", "ATRÁS DELA"), linhas)


def _detida(colonia: Estado) -> str | None:
    quem = [
        f"pid {d['pid']} ({d['papel']})" if d["pid"] else f"transação preparada {d['preparada']} ({d['dono']})"
        for d in colonia["detentores"]
    ]
    tempo = duracao(timedelta(seconds=colonia["horizonte_retido_segundos"]))
    return f"{', '.join(quem)}, há {tempo}" if quem else None


def _cursores(cursores: Mapping[str, Mapping[str, int] | None]) -> str:
    linhas = [
        (colonia, tipo, cursor)
        for colonia, tipos in sorted(cursores.items())
        for tipo, cursor in sorted((tipos or {}).items())
    ]
    return tabela(("COLÔNIA", "CURSOR", "ATÉ"), linhas) if linhas else ""


def _filas(estado: Estado, agora: datetime) -> str:
    textos, saidas = estado["publicacoes"] or {}, estado["saidas_conclusao"] or {}
    # A conclusão tem a hora da rede, que numa simulação não é a do relógio.
    da_rede = datetime.fromisoformat(estado["agora"])
    linhas = [
        ("textos por publicar", textos.get("espera"), textos.get("com_erro"), _ha(textos.get("mais_antiga"), agora)),
        ("conclusões com saídas por publicar", saidas.get("espera"), None, _ha(saidas.get("mais_antiga"), da_rede)),
    ]
    return tabela(("FILA", "ESPERAM", "COM ERRO", "A MAIS ANTIGA"), linhas)


def _agenda(agenda: Sequence[Estado], agora: datetime) -> str:
    linhas = [
        (
            item["nome"],
            item["cron"],
            item["por"],
            _ha(item["ultima_execucao"], agora),
            _ha(item["ultima_conclusao"], agora) or "nunca",
            "ATRASADO" if item["atrasado"] else "",
        )
        for item in agenda
    ]
    return tabela(("AGENDAMENTO", "CRON (UTC)", "POR", "HORA MARCADA", "ACABOU BEM", ""), linhas)
