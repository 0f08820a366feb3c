-- Tudo o que aconteceu a uma demanda, em ordem, nas duas colônias.
--
-- SECURITY INVOKER: o núcleo não lê as colônias. Cada uma conta a sua parte por uma função dela, e core._linha_do_barramento
-- conta os eventos, a DLQ, as ocorrências e as redações. As partes têm, além das colunas finais, o número do evento que
-- causou cada linha e a ordem dela entre as que ele causou: horas iguais são comuns, pois o estado guarda a do evento.

CREATE OR REPLACE FUNCTION core.linha_do_tempo(p_demanda_id uuid)
RETURNS TABLE (quando timestamptz, origem text, o_que text, quem text, detalhe jsonb)
LANGUAGE sql
STABLE
AS $$
    SELECT core.exigir_valor(p_demanda_id, 'demanda_id');
    SELECT l.quando, l.origem, l.o_que, l.quem, l.detalhe
      FROM (SELECT * FROM core._linha_do_barramento(p_demanda_id)
            UNION ALL
            SELECT * FROM d6b.linha_do_tempo(p_demanda_id)
            UNION ALL
            SELECT * FROM d8.linha_do_tempo(p_demanda_id)) AS l
     -- As colunas da D-6b guardam centésimos: só o que passa disso separa duas horas. O que não veio de evento (a
     -- ratificação) é causa, e não efeito, do que sai na mesma hora.
     ORDER BY date_bin('10 milliseconds', l.quando, timestamptz '2000-01-01 00:00:00+00'), l.posicao NULLS FIRST,
              l.ordem, l.quando, l.o_que, l.detalhe
$$;

COMMENT ON FUNCTION core.linha_do_tempo(uuid) IS
'A história de uma demanda: eventos, mudanças de estado, prazos, publicações e o que espera na fila, DLQ com cada
tentativa, ocorrências e redações; da D-8, o projeto e os ciclos que nasceram dela, ou o ciclo que a gerou. quem é o
conselheiro, ou o papel que agiu ou registrou; detalhe traz os ids e o payload. Vazia se nada se sabe da demanda. A
hora de DLQ e ocorrências é a do servidor, ainda que o relógio da rede seja simulado. Erros: FM422 demanda
nula. Fonte: projeto, seção 3.';

CREATE OR REPLACE FUNCTION core._linha_do_barramento(p_demanda_id uuid)
RETURNS TABLE (
    quando timestamptz, posicao bigint, ordem int, origem text, o_que text, quem text, detalhe jsonb
)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
-- Um punhado de linhas por índice, sejam quais forem as estatísticas: nunca o log inteiro.
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
    SELECT core.exigir_valor(p_demanda_id, 'demanda_id');
    WITH da_chave AS MATERIALIZED (
        SELECT e.* FROM core.event_log AS e WHERE e.chave = p_demanda_id::text
    ), eventos AS MATERIALIZED (
        SELECT d.* FROM da_chave AS d
        UNION ALL
        SELECT e.*
          FROM (SELECT p_demanda_id::text
                UNION ALL
                SELECT d.event_id::text FROM da_chave AS d WHERE d.tipo = 'conselheiro.atualização_registrada') AS r (id)
          JOIN core.event_log AS e
            ON lower(coalesce(e.payload ->> 'demanda_original_id', e.payload ->> 'atualizacao_event_id')) = r.id
           AND e.chave = e.event_id::text
    ), entradas AS MATERIALIZED (
        SELECT d.*
          FROM (SELECT p_demanda_id::text UNION SELECT e.chave FROM eventos AS e) AS c (chave)
          JOIN core.dlq AS d ON d.chave = c.chave
    ), ocorrencias AS MATERIALIZED (
        SELECT o.* FROM core.ocorrencias AS o WHERE o.demanda_id = p_demanda_id
        UNION
        SELECT o.* FROM eventos AS e JOIN core.ocorrencias AS o ON o.event_id = e.event_id
    )
    SELECT e.publicado_em, e.sequence_number, 0, e.origem, 'evento ' || e.tipo || ' ' || e.versao_schema,
           coalesce(e.payload ->> 'conselheiro_id', e.payload ->> 'cidadao_id'),
           jsonb_build_object('sequence_number', e.sequence_number, 'event_id', e.event_id,
                              'correlacao_id', e.correlacao_id, 'payload', e.payload)
      FROM eventos AS e
    UNION ALL
    SELECT d.criado_em, d.sequence_number, 5, d.colonia,
           'DLQ ' || d.id || ': entrou ' || coalesce('a saída ' || (d.saida ->> 'tipo'), 'o evento ' || d.tipo), NULL,
           jsonb_build_object('dlq_id', d.id, 'event_id', d.event_id, 'estado', d.estado, 'tentativas', d.tentativas,
                              'proxima_tentativa', d.proxima_tentativa, 'sqlstate', d.sqlstate,
                              'ultimo_erro', d.ultimo_erro)
      FROM entradas AS d
    UNION ALL
    SELECT t.quando, d.sequence_number, 6, d.colonia,
           'DLQ ' || d.id || ': tentativa ' || t.numero || ', ' || t.resultado, t.por::text,
           jsonb_build_object('dlq_id', d.id, 'tentativa', t.numero, 'sqlstate', t.sqlstate)
      FROM entradas AS d
      JOIN core.dlq_tentativas AS t ON t.dlq_id = d.id
    UNION ALL
    SELECT d.atualizado_em, d.sequence_number, 7, d.colonia,
           'DLQ ' || d.id || ': ' || d.estado || coalesce(', ' || d.motivo, ''), NULL,
           jsonb_build_object('dlq_id', d.id, 'tentativas', d.tentativas)
      FROM entradas AS d
     WHERE d.estado IN ('resolvida', 'descartada')
    UNION ALL
    SELECT o.criado_em, e.sequence_number, 8, coalesce(o.colonia, 'núcleo'), o.nivel || ': ' || o.mensagem,
           o.contexto ->> 'por', o.contexto
      FROM ocorrencias AS o
      LEFT JOIN core.event_log AS e ON e.event_id = o.event_id
    UNION ALL
    SELECT r.redigido_em, r.sequence_number, 9, 'núcleo',
           'redação de ' || e.tipo || ': '
           || concat_ws('; ', nullif(array_to_string(r.campos, ', '), ''),
                              'mascarados ' || nullif(array_to_string(r.mascarados, ', '), '')),
           r.por::text,
           jsonb_build_object('sequence_number', r.sequence_number, 'event_id', e.event_id, 'campos', r.campos,
                              'mascarados', r.mascarados, 'antes_de', r.antes_de)
      FROM eventos AS e
      JOIN core.redacoes AS r ON r.sequence_number = e.sequence_number
$$;

COMMENT ON FUNCTION core._linha_do_barramento(uuid) IS
'A parte do núcleo em core.linha_do_tempo: os eventos da demanda, os que falam dela sem trazer demanda_id (transcrição,
encerramento de projeto), e o que a DLQ, as ocorrências e as redações dizem deles.';

GRANT EXECUTE ON FUNCTION core.linha_do_tempo(uuid), core._linha_do_barramento(uuid) TO formigueiro_dba;
