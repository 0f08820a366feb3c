"""`formigueiro estado`: a saúde da rede, para gente cansada e para scripts. Sai com 1 se algo pede atenção."""

import json
from argparse import Namespace, _SubParsersAction
from typing import Any

import psycopg

from app.ajustes import Ajustes
from app.linha_de_comando.ambiente import abrir
from app.linha_de_comando.tabela import tabela


def registrar(comandos: "_SubParsersAction[Any]") -> None:
    comando = comandos.add_parser("estado", help="a saúde da rede num relance; sai com 1 se algo pede atenção")
    comando.add_argument("--json", action="store_true", help="o mesmo, em JSON")
    comando.set_defaults(executar=executar)


def executar(ajustes: Ajustes, opcoes: Namespace) -> int:
    with abrir(ajustes) as ambiente, psycopg.connect(ambiente.dsn, autocommit=True) as conexao:
        linha = conexao.execute("SELECT core.estado()").fetchone()
    assert linha is not None
    estado: dict[str, Any] = linha[0]
    print(json.dumps(estado, ensure_ascii=False, indent=2) if opcoes.json else retrato(estado))
    return 1 if estado["problemas"] else 0


def retrato(estado: dict[str, Any]) -> str:
    """O estado em texto: primeiro o que pede atenção, depois os números."""
    partes = [
        "\n".join(["ATENÇÃO", *(f"  {problema}" for problema in estado["problemas"])])
        if estado["problemas"]
        else "Tudo em ordem.",
        f"Hora da rede: {estado['agora']}   Último evento: {estado['maior_sequence']}",
        _colonias(estado["colonias"]),
        _cursores(estado["cursores"]),
        _filas(estado),
        _agenda(estado["agenda"]),
    ]
    return "\n\n".join(parte for parte in partes if parte)


def _colonias(colonias: list[dict[str, Any]]) -> str:
    linhas = [
        (
            colonia["colonia"],
            colonia["posicao"],
            colonia["atraso_eventos"],
            round(colonia["atraso_segundos"]),
            _detida(colonia),
            colonia["dlq_pendente"],
            colonia["dlq_em_espera"],
        )
        for colonia in colonias
    ]
    return tabela(("COLÔNIA", "LIDO ATÉ", "POR LER", "ATRASO (s)", "DETIDA POR", "DLQ", "ATRÁS DELA"), linhas)


def _detida(colonia: dict[str, Any]) -> str | None:
    quem = [f"pid {d['pid']} ({d['papel']})" if d["pid"] else "transação preparada" for d in colonia["detentores"]]
    return f"{', '.join(quem)}, há {round(colonia['horizonte_retido_segundos'])} s" if quem else None


def _cursores(cursores: dict[str, dict[str, int] | None]) -> str:
    linhas = [
        (colonia, tipo, cursor) for colonia, tipos in cursores.items() for tipo, cursor in sorted((tipos or {}).items())
    ]
    return tabela(("COLÔNIA", "CURSOR", "ATÉ"), linhas) if linhas else ""


def _filas(estado: dict[str, Any]) -> str:
    textos, saidas = estado["publicacoes"] or {}, estado["saidas_conclusao"] or {}
    linhas = [
        ("textos por publicar", textos.get("espera"), textos.get("com_erro"), textos.get("mais_antiga")),
        ("conclusões com saídas por publicar", saidas.get("espera"), None, saidas.get("mais_antiga")),
    ]
    return tabela(("FILA", "ESPERAM", "COM ERRO", "MAIS ANTIGA"), linhas)


def _agenda(agenda: list[dict[str, Any]]) -> str:
    linhas = [(a["nome"], a["cron"], a["por"], a["ultima_execucao"]) for a in agenda]
    return tabela(("AGENDAMENTO", "CRON (UTC)", "POR", "ÚLTIMA EXECUÇÃO"), linhas)
