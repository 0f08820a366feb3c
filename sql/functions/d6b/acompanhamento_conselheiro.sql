-- O que o conselheiro vê de seu trabalho (D-6b 1.5): pronto em JSON, o app só repassa.

CREATE OR REPLACE FUNCTION d6b.acompanhamento_conselheiro(p_conselheiro_id uuid)
RETURNS jsonb
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT core.exigir_valor(p_conselheiro_id, 'conselheiro_id');
    WITH ativo AS (
        SELECT a.*
          FROM d6b.acompanhamentos AS a
         WHERE a.conselheiro_id = p_conselheiro_id
           AND a.status IN ('aguardando_inicio', 'em_andamento')
         ORDER BY a.data_sorteio DESC, a.criado_em DESC, a.id
         LIMIT 1
    )
    SELECT jsonb_build_object(
               'acompanhamento', (
                   SELECT jsonb_build_object('id', a.id,
                                             'demanda_id', a.demanda_id,
                                             'conselheiro_id', a.conselheiro_id,
                                             'unidade_civica_id', a.unidade_civica_id,
                                             'status', a.status,
                                             'data_sorteio', core.iso(a.data_sorteio),
                                             'data_inicio', core.iso(a.data_inicio),
                                             'total_atualizacoes', a.total_atualizacoes,
                                             'texto_resumo_ciclo', a.texto_resumo_ciclo,
                                             'pendencia_conclusao', a.pendencia_conclusao,
                                             'criado_em', core.iso(a.criado_em),
                                             'atualizado_em', core.iso(a.atualizado_em))
                     FROM ativo AS a),
               'prazos', (
                   SELECT coalesce(jsonb_agg(jsonb_build_object('id', p.id,
                                                                'data_estimada', to_char(p.data_estimada, 'YYYY-MM-DD'),
                                                                'descricao', p.descricao,
                                                                'status', p.status,
                                                                'alerta_enviado', p.alerta_enviado,
                                                                'data_alerta', core.iso(p.data_alerta),
                                                                'criado_em', core.iso(p.criado_em))
                                             ORDER BY p.criado_em DESC, p.data_estimada, p.id), '[]')
                     FROM ativo AS a
                     JOIN d6b.prazos AS p ON p.acompanhamento_id = a.id),
               'atualizacoes', (
                   SELECT coalesce(jsonb_agg(d6b.atualizacao_do_conselheiro(u) ORDER BY u.criado_em DESC, u.sequencia DESC),
                                   '[]')
                     FROM ativo AS a
                    CROSS JOIN LATERAL (SELECT *
                                          FROM d6b.atualizacoes AS x
                                         WHERE x.acompanhamento_id = a.id
                                         ORDER BY x.criado_em DESC, x.sequencia DESC
                                         LIMIT 50) AS u))
$$;

COMMENT ON FUNCTION d6b.acompanhamento_conselheiro(uuid) IS
'{acompanhamento, prazos, atualizacoes} do acompanhamento ativo mais recente do conselheiro: todos os prazos do ciclo e
as 50 últimas atualizações, da mais nova à mais antiga; acompanhamento nulo e listas vazias se não há. Erros: FM422
conselheiro nulo. Fonte: D-6b 1.5.';

CREATE OR REPLACE FUNCTION d6b.atualizacao_do_conselheiro(p_atualizacao d6b.atualizacoes)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_build_object(
               'id', p_atualizacao.id,
               'tipo', p_atualizacao.tipo,
               'status', CASE p_atualizacao.conteudo_estruturado ->> 'transcricao_status'
                             WHEN 'aguardando' THEN 'aguardando_transcricao'
                             WHEN 'falha' THEN 'falha_transcricao'
                             ELSE 'publicada'
                         END,
               'texto_bruto', p_atualizacao.texto_bruto,
               'texto_estruturado', p_atualizacao.texto_estruturado,
               'conteudo_estruturado', p_atualizacao.conteudo_estruturado - 'audio_object_key',
               'origem_estruturacao', p_atualizacao.origem_estruturacao,
               'sequencia', p_atualizacao.sequencia,
               'criado_em', core.iso(p_atualizacao.criado_em))
$$;

COMMENT ON FUNCTION d6b.atualizacao_do_conselheiro(d6b.atualizacoes) IS
'Uma atualização como o conselheiro a vê: status publicada, aguardando_transcricao ou falha_transcricao, e a marca e a
confiança da transcrição no conteúdo; nunca a chave do áudio. Fonte: D-6b 1.5.';

GRANT EXECUTE ON FUNCTION d6b.acompanhamento_conselheiro(uuid) TO formigueiro_app, formigueiro_dba;
