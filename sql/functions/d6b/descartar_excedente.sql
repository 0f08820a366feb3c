-- Acima do teto do ciclo, um conselheiro (ou um programa) que insiste daria um aviso por evento: diz-se uma vez (E12).

CREATE OR REPLACE FUNCTION d6b.descartar_excedente(p_evento core.event_log, p_acompanhamento d6b.acompanhamentos)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    c_mensagem CONSTANT text := 'Limite de atualizações do acompanhamento atingido';
    v_primeira CONSTANT boolean := NOT EXISTS (SELECT
                                                 FROM d6b.atualizacoes_excedentes AS x
                                                WHERE x.acompanhamento_id = p_acompanhamento.id);
BEGIN
    INSERT INTO d6b.atualizacoes_excedentes (event_id, acompanhamento_id, criado_em)
    VALUES (p_evento.event_id, p_acompanhamento.id, d6b.centesimo(p_evento.publicado_em))
    ON CONFLICT (event_id) DO NOTHING;
    IF v_primeira THEN
        RETURN d6b.descartar(p_evento, 'aviso', c_mensagem,
                             jsonb_build_object('acompanhamento_id', p_acompanhamento.id,
                                                'total_atualizacoes', p_acompanhamento.total_atualizacoes,
                                                'as_seguintes', 'd6b.atualizacoes_excedentes'));
    END IF;
    PERFORM d6b.marcar_processado(p_evento);
    RETURN 'descartado: ' || c_mensagem;
END
$$;

COMMENT ON FUNCTION d6b.descartar_excedente(core.event_log, d6b.acompanhamentos) IS
'Descarta uma atualização acima do teto do acompanhamento, que quem chama travou: uma linha em atualizacoes_excedentes e,
na primeira do ciclo, a ocorrência. Devolve o resultado ''descartado: …'' do handler. Fonte: E12, regra 6.';
