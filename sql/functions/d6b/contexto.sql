-- De que e de quem é um evento consumido, para as ocorrências e as linhas de log (D-6b 8.1).

CREATE OR REPLACE FUNCTION d6b.contexto(p_evento core.event_log)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    -- A transcrição, e só ela, fala de uma atualização que outro evento gravou.
    v_gravou CONSTANT uuid := CASE p_evento.tipo
                                  WHEN 'conselheiro.atualização_transcrita'
                                  THEN core._uuid_ou_nulo(p_evento.payload ->> 'atualizacao_event_id')
                                  ELSE p_evento.event_id
                              END;
    v_ciclo  jsonb;
BEGIN
    SELECT jsonb_build_object('demanda_id', a.demanda_id,
                              'conselheiro_id', a.conselheiro_id,
                              'acompanhamento_id', a.id)
      INTO v_ciclo
      FROM d6b.acompanhamentos AS a
     WHERE a.id = coalesce((SELECT u.acompanhamento_id FROM d6b.atualizacoes AS u WHERE u.event_id_publicacao = v_gravou),
                           (SELECT s.id FROM d6b.acompanhamentos AS s WHERE s.event_id_sorteio = p_evento.event_id LIMIT 1));
    RETURN jsonb_build_object('colonia', 'D-6b',
                              'tipo', p_evento.tipo,
                              'event_id', p_evento.event_id,
                              'correlacao_id', p_evento.correlacao_id,
                              'demanda_id', p_evento.payload -> 'demanda_id',
                              'conselheiro_id', p_evento.payload -> 'conselheiro_id') || coalesce(v_ciclo, '{}');
END
$$;

COMMENT ON FUNCTION d6b.contexto(core.event_log) IS
'{colonia, tipo, event_id, correlacao_id, demanda_id, conselheiro_id, acompanhamento_id} de um evento: os três últimos, do
ciclo em que ele já teve efeito ou, sem um, os dois que seu payload traz. Fonte: D-6b 8.1.';
