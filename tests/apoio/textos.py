"""O que o trabalhador faria, sem ele: compõe qualquer coisa e publica o que está na fila."""

from typing import Any

import psycopg


def publicar_textos(bd: psycopg.Connection[Any], descricao: str = "Contato.", termos: tuple[str, ...] = ()) -> int:
    """Esvazia a fila de publicação e devolve quantos textos saíram."""
    total = 0
    while reservados := bd.execute("SELECT d6b.reservar_publicacoes()").fetchall():
        for (item,) in reservados:
            chave = [item["atualizacao_id"], item["reserva"]]
            if item["especie"] == "fecho":
                bd.execute("SELECT d6b.publicar_resumo(%s, %s, %s, '{}')", [*chave, descricao])
            else:
                bd.execute(
                    "SELECT d6b.publicar_atualizacao(%s, %s, %s, %s, '{\"orgao\": \"Sanasa\"}', %s, '{}')",
                    [*chave, list(termos), descricao, descricao],
                )
            total += 1
    return total
