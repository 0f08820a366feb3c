-- A parte da D-6b em core.linha_do_tempo: o que a demanda viveu aqui, por suas datas.

CREATE OR REPLACE FUNCTION d6b.linha_do_tempo(p_demanda_id uuid)
RETURNS TABLE (
    quando timestamptz, posicao bigint, ordem int, origem text, o_que text, quem text, detalhe jsonb
)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
-- O log se procura por event_id, sejam quais forem as estatísticas.
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
    SELECT core.exigir_valor(p_demanda_id, 'demanda_id');
    WITH ciclos AS MATERIALIZED (
        -- O que encerrou um concluído é sua última atualização: a transcrição dela ainda o altera depois.
        SELECT a.*,
               CASE a.status
                   WHEN 'concluido'
                   THEN (SELECT u.event_id_publicacao
                           FROM d6b.atualizacoes AS u
                          WHERE u.acompanhamento_id = a.id
                          ORDER BY u.sequencia DESC
                          LIMIT 1)
                   ELSE a.event_id_ultima_alteracao
               END AS encerrado_por
          FROM d6b.acompanhamentos AS a
         WHERE a.demanda_id = p_demanda_id
    ), atualizacoes AS MATERIALIZED (
        SELECT * FROM d6b.atualizacoes AS u WHERE u.demanda_id = p_demanda_id
    ), linhas (quando, causa, ordem, o_que, quem, detalhe) AS (
        SELECT a.criado_em, a.event_id_sorteio, 1, 'acompanhamento aberto', a.conselheiro_id::text,
               jsonb_build_object('acompanhamento_id', a.id, 'unidade_civica_id', a.unidade_civica_id,
                                  'data_sorteio', core.iso(a.data_sorteio))
          FROM ciclos AS a
        UNION ALL
        SELECT a.data_inicio, (SELECT u.event_id_publicacao
                                 FROM atualizacoes AS u
                                WHERE u.acompanhamento_id = a.id
                                  AND u.criado_em = a.data_inicio
                                ORDER BY u.sequencia
                                LIMIT 1),
               3, 'acompanhamento em andamento', a.conselheiro_id::text, jsonb_build_object('acompanhamento_id', a.id)
          FROM ciclos AS a
         WHERE a.data_inicio IS NOT NULL
        UNION ALL
        SELECT coalesce(a.data_conclusao, a.atualizado_em), a.encerrado_por, 4,
               'acompanhamento encerrado: ' || a.status, a.conselheiro_id::text,
               jsonb_build_object('acompanhamento_id', a.id, 'motivo', a.motivo_encerramento,
                                  'total_atualizacoes', a.total_atualizacoes)
          FROM ciclos AS a
         WHERE a.status NOT IN ('aguardando_inicio', 'em_andamento')
        UNION ALL
        SELECT coalesce(a.data_conclusao, a.atualizado_em), a.encerrado_por, 5,
               'saída de conclusão por publicar: ' || (s.saida ->> 'tipo'), NULL,
               jsonb_build_object('acompanhamento_id', a.id, 'event_id', s.saida -> 'event_id')
          FROM ciclos AS a
         CROSS JOIN LATERAL jsonb_array_elements(a.saidas_conclusao) AS s (saida)
         WHERE a.saidas_conclusao_pendentes
           AND s.saida -> 'publicada' = 'false'
        UNION ALL
        SELECT u.criado_em, u.event_id_publicacao, 2,
               'atualização ' || u.sequencia || ' gravada: ' || u.tipo
               || coalesce(', transcrição ' || (u.conteudo_estruturado ->> 'transcricao_status'), ''),
               CASE u.origem_estruturacao WHEN 'sistema' THEN 'sistema' ELSE u.conselheiro_id::text END,
               jsonb_build_object('atualizacao_id', u.id, 'acompanhamento_id', u.acompanhamento_id,
                                  'event_id', u.event_id_publicacao, 'origem_estruturacao', u.origem_estruturacao)
          FROM atualizacoes AS u
        UNION ALL
        SELECT p.criado_em, p.event_id_atualizacao, 3, 'prazo registrado para ' || p.data_estimada || ', hoje ' || p.status,
               a.conselheiro_id::text, jsonb_build_object('prazo_id', p.id, 'acompanhamento_id', a.id)
          FROM ciclos AS a
          JOIN d6b.prazos AS p ON p.acompanhamento_id = a.id
        UNION ALL
        SELECT p.data_alerta, p.event_id_atualizacao, 5, 'prazo de ' || p.data_estimada || ' alertado', NULL,
               jsonb_build_object('prazo_id', p.id, 'acompanhamento_id', a.id)
          FROM ciclos AS a
          JOIN d6b.prazos AS p ON p.acompanhamento_id = a.id
         WHERE p.data_alerta IS NOT NULL
        UNION ALL
        SELECT f.criado_em, u.event_id_publicacao, 5,
               CASE f.especie WHEN 'fecho' THEN 'resumo de fecho' ELSE 'texto' END || ' na fila de publicação, atualização '
               || f.sequencia,
               NULL,
               jsonb_build_object('atualizacao_id', f.atualizacao_id, 'acompanhamento_id', f.acompanhamento_id,
                                  'tentativas', f.tentativas,
                                  'proxima_tentativa', f.proxima_tentativa, 'ultimo_erro', f.ultimo_erro)
          FROM atualizacoes AS u
          JOIN d6b.publicacoes_pendentes AS f ON f.atualizacao_id = u.id
        UNION ALL
        SELECT p.publicada_em, p.event_id, 1,
               'atualização ' || p.sequencia || ' publicada' || CASE WHEN p.conteudo_suspeito THEN ', suspeita' ELSE '' END,
               NULL,
               jsonb_build_object('atualizacao_id', p.atualizacao_id, 'acompanhamento_id', p.acompanhamento_id,
                                  'event_id', p.event_id, 'versao_schema', p.versao_schema)
          FROM atualizacoes AS u
          JOIN d6b.publicacoes AS p ON p.atualizacao_id = u.id
        UNION ALL
        SELECT x.criado_em, x.event_id, 2, 'atualização descartada: acima do limite do acompanhamento',
               a.conselheiro_id::text, jsonb_build_object('event_id', x.event_id, 'acompanhamento_id', a.id)
          FROM ciclos AS a
          JOIN d6b.atualizacoes_excedentes AS x ON x.acompanhamento_id = a.id
        UNION ALL
        SELECT c.criado_em, c.evento_id, 5, 'conclusão social registrada', NULL,
               jsonb_build_object('event_id', c.evento_id)
          FROM d6b.conclusoes_sociais AS c
         WHERE c.demanda_id = p_demanda_id
        UNION ALL
        SELECT m.criado_em, m.evento_id, 1, 'demanda de manutenção guardada', NULL,
               jsonb_build_object('event_id', m.evento_id, 'projeto_original_id', m.projeto_original_id,
                                  'profundidade', m.profundidade)
          FROM d6b.demandas_manutencao AS m
         WHERE m.demanda_id = p_demanda_id
        UNION ALL
        SELECT a.redigido_em, NULL, 9, 'textos do ciclo removidos pela retenção', a.redigido_por::text,
               jsonb_build_object('acompanhamento_id', a.id)
          FROM ciclos AS a
         WHERE a.redigido_em IS NOT NULL
    )
    SELECT l.quando, e.sequence_number, l.ordem, 'D-6b', l.o_que, l.quem, l.detalhe
      FROM linhas AS l
      LEFT JOIN core.event_log AS e ON e.event_id = l.causa
$$;

COMMENT ON FUNCTION d6b.linha_do_tempo(uuid) IS
'O que a D-6b sabe de uma demanda: acompanhamentos, atualizações, prazos, textos na fila e publicados, saídas por
publicar, conclusão social; com o número do evento que causou cada linha. Ver core.linha_do_tempo.
Erros: FM422 demanda nula.';

GRANT EXECUTE ON FUNCTION d6b.linha_do_tempo(uuid) TO formigueiro_dba;
