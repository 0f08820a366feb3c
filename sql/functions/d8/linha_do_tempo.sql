-- A parte da D-8 em core.linha_do_tempo: o projeto e os ciclos de uma obra, ou o ciclo que gerou uma manutenção.

CREATE OR REPLACE FUNCTION d8.linha_do_tempo(p_demanda_id uuid)
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
    WITH projetos AS MATERIALIZED (
        SELECT p.*, d8.proxima_manutencao(p) AS proxima
          FROM d8.projetos_monitorados AS p
         WHERE p.demanda_original_id = p_demanda_id
    ), ciclos AS MATERIALIZED (
        SELECT h.* FROM projetos AS p JOIN d8.historico_manutencoes AS h ON h.projeto_id = p.id
        UNION ALL
        SELECT h.* FROM d8.historico_manutencoes AS h WHERE h.demanda_manutencao_id = p_demanda_id
    ), linhas (quando, causa, ordem, o_que, quem, detalhe) AS (
        SELECT p.criado_em, p.event_id_origem, 1, 'projeto monitorado', NULL,
               jsonb_build_object('projeto_id', p.id, 'plano_manutencao', p.plano_manutencao, 'status', p.status,
                                  'ciclo_atual', p.ciclo_atual, 'proximo_ciclo', core.iso(p.proxima))
          FROM projetos AS p
        UNION ALL
        SELECT p.data_encerramento, p.event_id_ultima_alteracao, 3, 'projeto encerrado: ' || p.motivo_encerramento, NULL,
               jsonb_build_object('projeto_id', p.id, 'ciclo_atual', p.ciclo_atual)
          FROM projetos AS p
         WHERE p.data_encerramento IS NOT NULL
        UNION ALL
        SELECT c.data_geracao, c.event_id_geracao, 1, 'ciclo ' || c.ciclo_numero || ' gerado', NULL,
               jsonb_build_object('projeto_id', c.projeto_id, 'demanda_manutencao_id', c.demanda_manutencao_id,
                                  'data_prevista', core.iso(c.data_prevista), 'peso_atraso', c.peso_atraso)
          FROM ciclos AS c
        UNION ALL
        SELECT c.atualizado_em, c.event_id_ultima_alteracao, 2,
               'ciclo ' || c.ciclo_numero || ': ' || c.status
               || CASE WHEN c.status_execucao <> c.status THEN ' (' || c.status_execucao || ')' ELSE '' END,
               c.conselheiro_id::text,
               jsonb_build_object('projeto_id', c.projeto_id, 'demanda_manutencao_id', c.demanda_manutencao_id,
                                  'data_conclusao', core.iso(c.data_conclusao))
          FROM ciclos AS c
         WHERE c.status <> 'gerada'
    )
    SELECT l.quando, e.sequence_number, l.ordem, 'D-8', l.o_que, l.quem, l.detalhe
      FROM linhas AS l
      LEFT JOIN core.event_log AS e ON e.event_id = l.causa
$$;

COMMENT ON FUNCTION d8.linha_do_tempo(uuid) IS
'O que a D-8 sabe de uma demanda: o projeto que nasceu dela, com cada ciclo e a demanda que ele gerou; de uma demanda de
manutenção, o ciclo que a gerou. Com o número do evento que causou cada linha. Ver core.linha_do_tempo.
Erros: FM422 demanda nula.';

GRANT EXECUTE ON FUNCTION d8.linha_do_tempo(uuid) TO formigueiro_dba;
