"""Como a cidade de exemplo há de acabar: cada conferência é uma pergunta ao banco, com a resposta esperada."""

from typing import Any

import psycopg

from app.demo.roteiro import Cidade

# Onde um texto fica público: o que a D-7 lê.
_PUBLICO = """
    SELECT e.payload ->> 'descricao_sanitizada' FROM core.event_log AS e
     WHERE e.tipo = 'conselheiro.atualização_publicada'
    UNION ALL
    SELECT e.payload ->> 'caminho' FROM core.event_log AS e WHERE e.tipo = 'conselheiro.atualização_publicada'
    UNION ALL
    SELECT e.payload ->> 'resumo' FROM core.event_log AS e WHERE e.tipo = 'demanda.resumo_ciclo_atualizado'
"""

CONFERENCIAS: list[tuple[str, str, object]] = [
    (
        "o bueiro, o poste e o parquinho foram concluídos por quem os acompanhava",
        "SELECT count(*) FROM d6b.acompanhamentos WHERE status = 'concluido'"
        " AND demanda_id IN (%(bueiro)s, %(poste)s, %(parquinho)s)",
        3,
    ),
    (
        "no poste, o sorteado que não começou deu lugar a outro",
        "SELECT array_agg(status::text ORDER BY criado_em) FROM d6b.acompanhamentos WHERE demanda_id = %(poste)s",
        ["reatribuido", "concluido"],
    ),
    (
        "o prazo do bueiro foi alertado e substituído, e o segundo foi cumprido antes do alerta",
        "SELECT array_agg(status || ' ' || alerta_enviado ORDER BY criado_em) FROM d6b.prazos"
        " WHERE demanda_id = %(bueiro)s",
        ["substituido true", "cumprido false"],
    ),
    (
        "cada demanda iniciada o foi uma vez",
        "SELECT bool_and(n = 1) FROM (SELECT count(*) FROM core.event_log"
        " WHERE tipo = 'conselheiro.demanda_iniciada' GROUP BY chave) AS t (n)",
        True,
    ),
    (
        "demanda.concluída saiu sempre antes de conselheiro.ciclo_concluído",
        "SELECT bool_and(c.sequence_number < f.sequence_number) FROM core.event_log AS c JOIN core.event_log AS f"
        " USING (chave) WHERE c.tipo = 'demanda.concluída' AND f.tipo = 'conselheiro.ciclo_concluído'",
        True,
    ),
    (
        "o relato ofensivo saiu marcado como suspeito, e só ele",
        "SELECT array_agg(versao_schema || ' ' || (payload ->> 'termos_suspeitos')) FROM core.event_log"
        " WHERE tipo = 'conselheiro.atualização_publicada' AND payload ? 'conteudo_suspeito'",
        ['1.2.0 ["idiota"]'],
    ),
    (
        "nenhum telefone ou e-mail aparece em público",
        f"SELECT count(*) FROM ({_PUBLICO}) AS t (texto)"
        " WHERE texto LIKE '%%98765%%' OR texto LIKE '%%ouvidoria.teste%%' OR texto LIKE '%%Osvaldo%%'",
        0,
    ),
    (
        "o número do protocolo não se perdeu",
        f"SELECT count(*) > 0 FROM ({_PUBLICO}) AS t (texto) WHERE texto LIKE '%%2024/0031877-5%%'",
        True,
    ),
    (
        "o parquinho teve dois ciclos de manutenção, cumpridos",
        "SELECT array_agg(h.ciclo_numero || ' ' || h.status ORDER BY h.ciclo_numero)"
        " FROM d8.historico_manutencoes AS h JOIN d8.projetos_monitorados AS p ON p.id = h.projeto_id"
        " WHERE p.demanda_original_id = %(parquinho)s",
        ["1 concluida", "2 concluida"],
    ),
    (
        "e seu monitoramento acabou com a vida útil",
        "SELECT p.status || ' ' || p.motivo_encerramento FROM d8.projetos_monitorados AS p"
        " WHERE p.demanda_original_id = %(parquinho)s",
        "encerrado vida_util_esgotada",
    ),
    (
        "o dossiê do segundo ciclo conta o primeiro",
        "SELECT h.dossie_montado #>> '{historico_manutencoes,0,observacoes}' FROM d8.historico_manutencoes AS h"
        " JOIN d8.projetos_monitorados AS p ON p.id = h.projeto_id"
        " WHERE p.demanda_original_id = %(parquinho)s AND h.ciclo_numero = 2",
        "Trocar a corrente do balanço no próximo ciclo.",
    ),
    (
        "o relato em áudio saiu transcrito, com a marca automática",
        "SELECT versao_schema || ' ' || (payload ->> 'origem_texto') FROM core.event_log"
        " WHERE tipo = 'conselheiro.atualização_publicada' AND chave = %(mato)s::text",
        "1.1.0 automatico",
    ),
    (
        "a conclusão confirmada pela comunidade foi ratificada pelo conselheiro",
        "SELECT a.status || ' ' || (c.demanda_id IS NOT NULL) FROM d6b.acompanhamentos AS a"
        " LEFT JOIN d6b.conclusoes_sociais AS c USING (demanda_id) WHERE a.demanda_id = %(mato)s",
        "concluido true",
    ),
    ("nada ficou na DLQ", "SELECT count(*) FROM core.dlq", 0),
    ("nada ficou por publicar", "SELECT espera FROM d6b.publicacoes_em_espera()", 0),
    ("nenhum evento foi descartado", "SELECT count(*) FROM core.ocorrencias WHERE nivel = 'erro'", 0),
]


def imprimir(admin: psycopg.Connection[Any], cidade: Cidade) -> int:
    """Faz as perguntas, imprime uma linha por resposta e devolve 0 se todas são as esperadas, 1 se não."""
    demandas = {nome: demanda.id for nome, demanda in cidade.demandas.items()}
    erradas = 0
    print()
    for frase, consulta, esperado in CONFERENCIAS:
        linha = admin.execute(consulta, demandas).fetchone()
        obtido = linha[0] if linha else None
        certo = obtido == esperado
        erradas += not certo
        print(f"{'certo ' if certo else 'ERRADO'}  {frase}" + ("" if certo else f": {obtido!r}, e não {esperado!r}"))
    return min(erradas, 1)
