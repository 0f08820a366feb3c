"""O que vale sempre na D-6b, depois de posta em repouso: cada consulta devolve o que o contradiz."""

from tests.apoio.rede import Rede

INVARIANTES: dict[str, str] = {
    "dois acompanhamentos ativos da mesma demanda": """
        SELECT demanda_id FROM d6b.acompanhamentos WHERE status IN ('aguardando_inicio', 'em_andamento')
         GROUP BY demanda_id HAVING count(*) > 1
    """,
    "sequência com falha, ou contador que não é o número de linhas": """
        SELECT a.id, a.total_atualizacoes, u.n, u.maior
          FROM d6b.acompanhamentos AS a
          LEFT JOIN (SELECT acompanhamento_id, count(*) AS n, max(sequencia) AS maior,
                            count(DISTINCT sequencia) AS distintas
                       FROM d6b.atualizacoes GROUP BY 1) AS u ON u.acompanhamento_id = a.id
         WHERE (coalesce(u.n, 0), coalesce(u.maior, 0), coalesce(u.distintas, 0))
               <> (a.total_atualizacoes, a.total_atualizacoes, a.total_atualizacoes)
    """,
    "demanda iniciada mais vezes que ciclos começados": """
        SELECT i.demanda, i.conselheiro, i.n
          FROM (SELECT e.chave, e.payload ->> 'conselheiro_id', count(*)
                  FROM core.event_log AS e
                 WHERE e.tipo = 'conselheiro.demanda_iniciada'
                 GROUP BY 1, 2) AS i (demanda, conselheiro, n)
         WHERE i.n > (SELECT count(*) FROM d6b.acompanhamentos AS a
                       WHERE a.demanda_id::text = i.demanda
                         AND a.conselheiro_id::text = i.conselheiro
                         AND a.data_inicio IS NOT NULL)
    """,
    "conclusão sem suas saídas, repetidas ou fora de ordem": """
        SELECT a.demanda_id
          FROM d6b.acompanhamentos AS a
         WHERE a.status = 'concluido'
           AND (SELECT array_agg(e.tipo ORDER BY e.sequence_number)
                  FROM core.event_log AS e
                 WHERE e.chave = a.demanda_id::text
                   AND e.tipo IN ('demanda.concluída', 'conselheiro.ciclo_concluído'))
               IS DISTINCT FROM ARRAY['demanda.concluída', 'conselheiro.ciclo_concluído']
    """,
    "snapshot pendente, ou que não é o que foi publicado": """
        SELECT a.demanda_id
          FROM d6b.acompanhamentos AS a
         CROSS JOIN LATERAL jsonb_array_elements(a.saidas_conclusao) AS s (saida)
          LEFT JOIN core.event_log AS e ON e.event_id = (s.saida ->> 'event_id')::uuid
         WHERE a.saidas_conclusao_pendentes OR e.payload IS DISTINCT FROM s.saida -> 'payload'
    """,
    "publicação sem linha, repetida ou de quem não devia": """
        SELECT e.event_id
          FROM core.event_log AS e
          LEFT JOIN d6b.publicacoes AS p ON p.event_id = e.event_id
          LEFT JOIN d6b.atualizacoes AS u ON u.id = p.atualizacao_id
         WHERE e.tipo = 'conselheiro.atualização_publicada'
           AND (u.id IS NULL OR u.origem_estruturacao = 'sistema'
                OR u.conteudo_estruturado ->> 'novo_status' = 'concluido' OR u.texto_estruturado = '')
    """,
    "atualização pronta que não foi publicada": """
        SELECT u.id
          FROM d6b.atualizacoes AS u
          LEFT JOIN d6b.publicacoes AS p ON p.atualizacao_id = u.id
         WHERE p.atualizacao_id IS NULL
           AND u.origem_estruturacao <> 'sistema'
           AND NOT (u.tipo = 'status_atualizado' AND u.conteudo_estruturado ->> 'novo_status' = 'concluido')
           AND coalesce(u.conteudo_estruturado ->> 'transcricao_status', 'concluida') = 'concluida'
    """,
    "publicações de um acompanhamento fora de ordem, salvo a transcrição tardia": """
        SELECT p.acompanhamento_id
          FROM d6b.publicacoes AS p
          JOIN core.event_log AS e ON e.event_id = p.event_id
          JOIN d6b.publicacoes AS q ON q.acompanhamento_id = p.acompanhamento_id AND q.sequencia > p.sequencia
          JOIN core.event_log AS f ON f.event_id = q.event_id
         WHERE f.sequence_number < e.sequence_number AND NOT e.payload ? 'origem_texto'
    """,
    "resumo de um ciclo depois do de outro mais novo": """
        WITH resumos AS (
            SELECT e.chave, e.sequence_number AS saiu, s.sequence_number AS sorteio
              FROM core.event_log AS e
              JOIN d6b.acompanhamentos AS a ON a.id::text = e.payload ->> 'acompanhamento_id'
              JOIN core.event_log AS s ON s.event_id = a.event_id_sorteio
             WHERE e.tipo = 'demanda.resumo_ciclo_atualizado')
        SELECT r.chave FROM resumos AS r JOIN resumos AS antes ON antes.chave = r.chave
         WHERE antes.saiu < r.saiu AND antes.sorteio > r.sorteio
    """,
    "resumo público que não é o do último sorteado": """
        SELECT p.demanda_id
          FROM d6b.demandas_publicas AS p
          JOIN LATERAL (SELECT a.texto_resumo_ciclo, a.status
                          FROM d6b.acompanhamentos AS a
                          JOIN core.event_log AS s ON s.event_id = a.event_id_sorteio
                         WHERE a.demanda_id = p.demanda_id
                         ORDER BY s.sequence_number DESC
                         LIMIT 1) AS u ON true
         WHERE (p.resumo, p.status) IS DISTINCT FROM (u.texto_resumo_ciclo, u.status)
    """,
    "a mesma conclusão coletiva gravada duas vezes": """
        SELECT e.chave, e.payload ->> 'conclusao_id'
          FROM d6b.atualizacoes AS u
          JOIN core.event_log AS e ON e.event_id = u.event_id_publicacao
         WHERE e.tipo = 'demanda.conclusao_confirmada'
         GROUP BY 1, 2 HAVING count(*) > 1
    """,
    "evento descartado que deixou atualização": """
        SELECT o.event_id FROM core.ocorrencias AS o
          JOIN d6b.atualizacoes AS u ON u.event_id_publicacao = o.event_id
         WHERE o.colonia = 'D-6b' AND NOT starts_with(o.mensagem, 'Plano')
    """,
    "evento consumido sem linha em processed_events": """
        SELECT e.event_id FROM core.event_log AS e
          JOIN d6b.consumer_offset AS c ON c.tipo_evento = e.tipo
         WHERE NOT EXISTS (SELECT FROM d6b.processed_events AS p WHERE p.event_id = e.event_id)
    """,
    "mais de um prazo vigente no acompanhamento, ou vigente em ciclo encerrado": """
        SELECT p.acompanhamento_id FROM d6b.prazos AS p JOIN d6b.acompanhamentos AS a ON a.id = p.acompanhamento_id
         WHERE p.status = 'vigente'
         GROUP BY p.acompanhamento_id, a.status
        HAVING count(*) > 1 OR a.status NOT IN ('aguardando_inicio', 'em_andamento')
    """,
    "mais de um alerta do mesmo prazo": """
        SELECT e.payload ->> 'prazo_id' FROM core.event_log AS e WHERE e.tipo = 'conselheiro.prazo_próximo'
         GROUP BY 1 HAVING count(*) > 1
    """,
    "algo em aberto na DLQ": "SELECT id, ultimo_erro FROM core.dlq WHERE estado IN ('pendente', 'em_espera')",
    "algo por publicar": """
        SELECT atualizacao_id FROM d6b.publicacoes_pendentes WHERE proxima_tentativa <= clock_timestamp()
    """,
    "cursor que não chegou ao fim": """
        SELECT c.tipo_evento, c.last_sequence FROM d6b.consumer_offset AS c
         WHERE c.last_sequence < (SELECT coalesce(max(e.sequence_number), 0) FROM core.event_log AS e
                                   WHERE e.tipo = c.tipo_evento)
    """,
}


def conferir(rede: Rede) -> None:
    """Falha com o nome e as linhas da primeira coisa que não vale."""
    for nome, consulta in INVARIANTES.items():
        assert rede.linhas(consulta) == [], nome
