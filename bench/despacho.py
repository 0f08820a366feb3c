"""O despacho dentro do banco, contra os mesmos passos dados um comando de cada vez do Python.

Uma fila de sorteios e depois uma de atualizações (três por demanda; a primeira inicia e publica conselheiro.
demanda_iniciada), tratadas por CALL core.despachar() e, em outro banco do mesmo servidor, por um consumidor em Python
com psycopg: uma transação por evento, com as leituras, as travas e as escritas do handler, sem nenhuma validação, nem a
DLQ, nem o horizonte. Rodadas intercaladas, fsync ligado; mede-se com synchronous_commit ligado e desligado, porque um
COMMIT por evento contra um por lote de 30 é só parte da diferença. Meta: ao menos 4 vezes, com ele ligado.

    python -m bench.despacho [--eventos N] [--rodadas N]
"""

import argparse
import hashlib
import json
import statistics
import time
from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

import psycopg
from psycopg.rows import namedtuple_row
from psycopg.types.json import Jsonb

from bench.apoio import SORTEIO, Conexao, cluster_duravel, criar_formigueiro, tabela

SORTEADO = "conselheiro.sorteado"
REGISTRADA = "conselheiro.atualização_registrada"
TEXTO = "Liguei para a Sabesp e a vistoria ficou marcada para a semana que vem, na parte da manhã."
COMUNS = ("conselheiro_id", "demanda_id", "unidade_civica_id", "timestamp")
CONTEUDO = {"canal": "telefone", "contato_orgao": "Sabesp", "resultado": "vistoria marcada"}

# sessão → segundos para esvaziar a fila
Despacho = Callable[[Conexao], float]


def sorteios(rodada: int, quantos: int) -> list[dict[str, Any]]:
    return [
        {"tipo": SORTEADO, "origem": "D-6a", "payload": json.loads(SORTEIO % f"{rodada:04}{n:08}")}
        for n in range(quantos)
    ]


def atualizacoes(rodada: int, quantas: int) -> list[dict[str, Any]]:
    """Três por demanda sorteada na mesma rodada."""
    return [
        {
            "tipo": REGISTRADA,
            "origem": "D-1a",
            "versao_schema": "1.1.0",
            "payload": {
                **{nome: sorteio["payload"][nome] for nome in COMUNS},
                "tipo": "contato_realizado",
                "texto_bruto": TEXTO,
                "texto_estruturado": TEXTO,
                "conteudo_estruturado": CONTEUDO,
            },
        }
        for sorteio in sorteios(rodada, quantas // 3)
        for _ in range(3)
    ]


def no_banco(bd: Conexao) -> float:
    inicio = time.perf_counter()
    bd.execute("CALL core.despachar()")
    return time.perf_counter() - inicio


def em_python(bd: Conexao) -> float:
    inicio = time.perf_counter()
    posicao = um(bd, "SELECT max(last_sequence) FROM d6b.consumer_offset WHERE tipo_evento = ANY (%s)", TIPOS)
    while True:
        with bd.cursor(row_factory=namedtuple_row) as cursor:
            lote: list[Any] = cursor.execute(
                "SELECT * FROM core.event_log WHERE sequence_number > %s AND tipo = ANY (%s)"
                " ORDER BY sequence_number LIMIT 30",
                [posicao, TIPOS],
            ).fetchall()
        if not lote:
            return time.perf_counter() - inicio
        for evento in lote:
            with bd.transaction():
                if um(bd, "SELECT event_id FROM d6b.processed_events WHERE event_id = %s", evento.event_id) is None:
                    HANDLERS[evento.tipo](bd, evento)
                    bd.execute(
                        "INSERT INTO d6b.processed_events (event_id, event_type) VALUES (%s, %s)"
                        " ON CONFLICT (event_id) DO NOTHING",
                        [evento.event_id, evento.tipo],
                    )
                bd.execute(
                    "UPDATE d6b.consumer_offset SET last_sequence = %s, updated_at = now() WHERE tipo_evento = %s",
                    [evento.sequence_number, evento.tipo],
                )
            posicao = evento.sequence_number


def sortear(bd: Conexao, evento: Any) -> None:
    """Os passos de d6b.on_conselheiro_sorteado."""
    demanda = UUID(evento.payload["demanda_id"])
    if um(bd, "SELECT id FROM d6b.acompanhamentos WHERE event_id_sorteio = %s", evento.event_id):
        return
    if um(bd, "SELECT demanda_id FROM d6b.conclusoes_sociais WHERE demanda_id = %s", demanda) or um(
        bd, "SELECT id FROM d6b.acompanhamentos WHERE demanda_id = %s AND status = 'concluido'", demanda
    ):
        return
    if ativo(bd, demanda):
        return
    bd.execute(
        "INSERT INTO d6b.acompanhamentos (demanda_id, conselheiro_id, unidade_civica_id, status, data_sorteio,"
        " event_id_sorteio, event_id_ultima_alteracao, criado_em, atualizado_em)"
        " VALUES (%s, %s, %s, 'aguardando_inicio', %s, %s, %s, %s, %s)",
        [
            demanda,
            UUID(evento.payload["conselheiro_id"]),
            UUID(evento.payload["unidade_civica_id"]),
            evento.payload["timestamp"],
            evento.event_id,
            evento.event_id,
            evento.publicado_em,
            evento.publicado_em,
        ],
    )


def atualizar(bd: Conexao, evento: Any) -> None:
    """Os passos de d6b.on_conselheiro_atualizacao_registrada."""
    payload = evento.payload
    if um(bd, "SELECT id FROM d6b.atualizacoes WHERE event_id_publicacao = %s", evento.event_id):
        return
    acompanhamento = ativo(bd, UUID(payload["demanda_id"]))
    if acompanhamento is None or acompanhamento.conselheiro_id != UUID(payload["conselheiro_id"]):
        return
    sequencia = acompanhamento.total_atualizacoes + 1
    atualizacao = um(
        bd,
        "INSERT INTO d6b.atualizacoes (acompanhamento_id, demanda_id, conselheiro_id, tipo, texto_bruto,"
        " texto_estruturado, conteudo_estruturado, origem_estruturacao, sequencia, event_id_publicacao, correlacao_id,"
        " criado_em) VALUES (%s, %s, %s, %s, %s, %s, %s, 'conselheiro', %s, %s, %s, %s) RETURNING id",
        acompanhamento.id,
        acompanhamento.demanda_id,
        acompanhamento.conselheiro_id,
        payload["tipo"],
        payload["texto_bruto"],
        payload["texto_estruturado"],
        Jsonb(payload["conteudo_estruturado"]),
        sequencia,
        evento.event_id,
        evento.correlacao_id,
        evento.publicado_em,
    )
    bd.execute(
        "UPDATE d6b.acompanhamentos SET total_atualizacoes = total_atualizacoes + 1, status = 'em_andamento',"
        " data_inicio = coalesce(data_inicio, %s), event_id_ultima_alteracao = %s, atualizado_em = %s WHERE id = %s",
        [evento.publicado_em, evento.event_id, evento.publicado_em, acompanhamento.id],
    )
    if acompanhamento.status == "aguardando_inicio":
        publicar_iniciada(bd, evento, acompanhamento)
    bd.execute(
        "INSERT INTO d6b.publicacoes_pendentes (atualizacao_id, acompanhamento_id, sequencia, especie)"
        " VALUES (%s, %s, %s, 'atualizacao')",
        [atualizacao, acompanhamento.id, sequencia],
    )


def publicar_iniciada(bd: Conexao, evento: Any, acompanhamento: Any) -> None:
    saida = {
        "demanda_id": str(acompanhamento.demanda_id),
        "conselheiro_id": str(acompanhamento.conselheiro_id),
        "unidade_civica_id": str(acompanhamento.unidade_civica_id),
        "tipo_primeira_acao": evento.payload["tipo"],
        "timestamp_inicio": evento.publicado_em.isoformat(),
    }
    bd.execute(
        "INSERT INTO core.event_log (event_id, tipo, origem, versao_schema, correlacao_id, chave, payload,"
        " publicado_em, impressao) VALUES (%s, 'conselheiro.demanda_iniciada', 'D-6b', '1.0.0', %s, %s, %s, now(), %s)",
        [
            uuid4(),
            evento.correlacao_id,
            saida["demanda_id"],
            Jsonb(saida),
            hashlib.sha256(json.dumps(saida).encode()).digest(),
        ],
    )


HANDLERS = {SORTEADO: sortear, REGISTRADA: atualizar}
TIPOS = list(HANDLERS)


def ativo(bd: Conexao, demanda: UUID) -> Any:
    with bd.cursor(row_factory=namedtuple_row) as cursor:
        return cursor.execute(
            "SELECT * FROM d6b.acompanhamentos WHERE demanda_id = %s"
            " AND status IN ('aguardando_inicio', 'em_andamento') FOR UPDATE",
            [demanda],
        ).fetchone()


def um(bd: Conexao, consulta: str, *valores: object) -> Any:
    linha = bd.execute(consulta, valores).fetchone()
    return linha[0] if linha else None


def taxa(bd: Conexao, despachar: Despacho, eventos: list[dict[str, Any]]) -> float:
    """Eventos por segundo; confere que todos foram tratados."""
    bd.execute("SELECT count(*) FROM core.publicar_lote(%s)", [Jsonb(eventos)])
    bd.execute("ANALYZE")
    antes = um(bd, "SELECT count(*) FROM d6b.processed_events")
    duracao = despachar(bd)
    feitos = um(bd, "SELECT count(*) FROM d6b.processed_events") - antes
    assert feitos == len(eventos), (feitos, len(eventos))
    return len(eventos) / duracao


def medir(banco: Conexao, python: Conexao, eventos: int, rodadas: range) -> list[list[str]]:
    taxas: dict[str, list[tuple[float, float]]] = {"sorteios": [], "atualizações": []}
    for rodada in rodadas:
        for o_que, fila in (("sorteios", sorteios(rodada, eventos)), ("atualizações", atualizacoes(rodada, eventos))):
            if rodada % 2:
                no_python, no_sql = taxa(python, em_python, fila), taxa(banco, no_banco, fila)
            else:
                no_sql, no_python = taxa(banco, no_banco, fila), taxa(python, em_python, fila)
            taxas[o_que].append((no_sql, no_python))
    return [
        [
            o_que,
            f"{statistics.median(a for a, _ in pares):.0f}",
            f"{statistics.median(b for _, b in pares):.0f}",
            f"{statistics.median(a / b for a, b in pares):.1f}",
        ]
        for o_que, pares in taxas.items()
    ]


def principal() -> None:
    opcoes = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    opcoes.add_argument("--eventos", type=int, default=1_500)
    opcoes.add_argument("--rodadas", type=int, default=5)
    escolha = opcoes.parse_args()
    linhas = []
    with cluster_duravel() as cluster:
        dsn_banco, dsn_python = (criar_formigueiro(cluster, nome) for nome in ("banco", "python"))
        with (
            psycopg.connect(dsn_banco, autocommit=True) as banco,
            psycopg.connect(dsn_python, autocommit=True) as python,
        ):
            medir(banco, python, 300, range(9000, 9001))  # aquece
            for confirma, primeira in (("on", 0), ("off", 1000)):
                for bd in (banco, python):
                    bd.execute("SELECT set_config('synchronous_commit', %s, false)", [confirma])
                for linha in medir(banco, python, escolha.eventos, range(primeira, primeira + escolha.rodadas)):
                    linhas.append([f"{linha[0]}, synchronous_commit {confirma}", *linha[1:]])
    print(f"Despachar uma fila de {escolha.eventos} eventos, por segundo (fsync ligado)")
    tabela(["", "core.despachar", "comando a comando", "razão"], linhas)
    print("meta: 4 com synchronous_commit on")


if __name__ == "__main__":
    principal()
