-- O snapshot saidas_conclusao: as saídas da conclusão, cada uma com a marca publicada (D-6b 3.10, E04).

CREATE OR REPLACE FUNCTION d6b.por_publicar(p_saidas jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT jsonb_agg(s.saida || '{"publicada": false}' ORDER BY s.n)
      FROM jsonb_array_elements(p_saidas) WITH ORDINALITY AS s (saida, n)
$$;

COMMENT ON FUNCTION d6b.por_publicar(jsonb) IS
'As mesmas saídas, cada uma com publicada: false, a forma de um elemento do snapshot. Fonte: E04.';

CREATE OR REPLACE FUNCTION d6b.marcar_publicadas(p_acompanhamento_id uuid, p_saidas jsonb)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE d6b.acompanhamentos AS a
       SET saidas_conclusao = n.snapshot,
           saidas_conclusao_pendentes = n.snapshot @> '[{"publicada": false}]'
      FROM (SELECT jsonb_agg(CASE
                                 WHEN p_saidas @> jsonb_build_array(jsonb_build_object('event_id', s.saida -> 'event_id'))
                                 THEN s.saida || '{"publicada": true}'
                                 ELSE s.saida
                             END ORDER BY s.n)
              FROM d6b.acompanhamentos AS b
             CROSS JOIN LATERAL jsonb_array_elements(b.saidas_conclusao) WITH ORDINALITY AS s (saida, n)
             WHERE b.id = p_acompanhamento_id) AS n (snapshot)
     WHERE a.id = p_acompanhamento_id;
END
$$;

COMMENT ON FUNCTION d6b.marcar_publicadas(uuid, jsonb) IS
'Marca no snapshot as saídas dadas como publicadas e desliga a pendência quando não sobra nenhuma. Fonte: E04.';

CREATE OR REPLACE FUNCTION d6b.publicar_conclusao(
    p_causa core.event_log, p_acompanhamento_id uuid, p_saidas jsonb, p_ate bigint DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF core._publicar_saidas(p_causa, 'D-6b', p_saidas, p_ate) THEN
        PERFORM d6b.marcar_publicadas(p_acompanhamento_id, p_saidas);
    END IF;
END
$$;

COMMENT ON FUNCTION d6b.publicar_conclusao(core.event_log, uuid, jsonb, bigint) IS
'Publica saídas de uma conclusão e, se todas saíram, marca-as no snapshot; senão ele fica pendente para a varredura.
Fonte: D-6b 3.10, regra 5.';

CREATE OR REPLACE FUNCTION d6b.causa_da_conclusao(p_atualizacao d6b.atualizacoes)
RETURNS core.event_log
LANGUAGE sql
STABLE
AS $$
    -- A atualização da ratificação não veio de um evento: sua causa é a confirmação que ela ratifica.
    SELECT e
      FROM core.event_log AS e
     WHERE e.event_id = p_atualizacao.event_id_publicacao
        OR (p_atualizacao.origem_estruturacao = 'sistema'
            AND e.chave = p_atualizacao.demanda_id::text
            AND e.tipo = 'demanda.conclusao_confirmada'
            AND e.correlacao_id = p_atualizacao.correlacao_id)
     ORDER BY e.sequence_number DESC
     LIMIT 1
$$;

COMMENT ON FUNCTION d6b.causa_da_conclusao(d6b.atualizacoes) IS
'O evento que causou a conclusão: o que registrou a atualização ou, na ratificação, demanda.conclusao_confirmada. E17.';

CREATE OR REPLACE FUNCTION d6b.marcar_descartada(p_dlq core.dlq)
RETURNS void
LANGUAGE sql
AS $$
    -- A varredura não há de publicar, depois e fora de ordem, o que um operador mandou não publicar.
    SELECT d6b.marcar_publicadas(a.id, jsonb_build_array(p_dlq.saida))
      FROM d6b.acompanhamentos AS a
     WHERE p_dlq.especie = 'saida'
       AND a.demanda_id::text = p_dlq.chave
       AND a.saidas_conclusao @> jsonb_build_array(jsonb_build_object('event_id', p_dlq.saida -> 'event_id'))
$$;

COMMENT ON FUNCTION d6b.marcar_descartada(core.dlq) IS
'Tira da varredura a saída de conclusão que um operador descartou na DLQ. Fonte: regra 4.';
