-- demanda.conclusao_confirmada: a comunidade concluiu; o conselheiro há de ratificar (D-6b 3.15).

CREATE OR REPLACE FUNCTION d6b.on_demanda_conclusao_confirmada(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload        jsonb := p_evento.payload;
    v_demanda        uuid  := (v_payload ->> 'demanda_id')::uuid;
    v_faltas         text[] := d6b.campos_ausentes(v_payload, 'demanda_id', 'conclusao_id', 'data_conclusao',
                                                   'total_conclusoes', 'ratificacao_necessaria');
    v_acompanhamento d6b.acompanhamentos;
BEGIN
    IF d6b.ja_processado(p_evento) OR d6b.tem_atualizacao(p_evento) THEN
        PERFORM d6b.marcar_processado(p_evento);
        RETURN 'duplicado';
    END IF;
    IF v_faltas <> '{}' THEN
        RETURN d6b.descartar(p_evento, 'erro', 'Payload incompleto', jsonb_build_object('faltam', v_faltas));
    END IF;
    IF length(v_payload ->> 'conclusao_id') > 200 THEN
        RETURN d6b.descartar(p_evento, 'erro', 'Confirmação inválida', jsonb_build_object(
            'erros', jsonb_build_array(d6b.erro('conclusao_id', 'Texto acima de 200 caracteres.'))));
    END IF;

    IF NOT (v_payload ->> 'ratificacao_necessaria')::boolean THEN
        PERFORM d6b.registrar_conclusao_social(v_demanda, p_evento.event_id, p_evento.publicado_em);
    END IF;

    v_acompanhamento := d6b.acompanhamento_ativo(v_demanda);
    IF v_acompanhamento.id IS NOT NULL THEN
        PERFORM d6b.inserir_atualizacao_de_sistema(
            v_acompanhamento,
            'A comunidade confirmou a conclusão desta demanda. Aguarda-se a ratificação do conselheiro.',
            jsonb_build_object('novo_status', 'conclusao_confirmada',
                               'total_conclusoes', v_payload -> 'total_conclusoes',
                               'data_conclusao', v_payload -> 'data_conclusao'),
            p_evento.event_id, p_evento.correlacao_id, p_evento.publicado_em);
        PERFORM d6b.contar_atualizacao(v_acompanhamento, p_evento.event_id, p_evento.publicado_em, false);
        UPDATE d6b.acompanhamentos AS a
           SET pendencia_conclusao = jsonb_build_object('conclusao_id', v_payload -> 'conclusao_id',
                                                        'total_conclusoes', v_payload -> 'total_conclusoes',
                                                        'data', v_payload -> 'data_conclusao')
         WHERE a.id = v_acompanhamento.id;
    ELSE
        RAISE LOG USING
            MESSAGE = 'Conclusão coletiva sem acompanhamento ativo',
            DETAIL = jsonb_build_object('colonia', 'D-6b', 'demanda_id', v_demanda, 'event_id', p_evento.event_id,
                                        'correlacao_id', p_evento.correlacao_id)::text;
    END IF;
    PERFORM d6b.marcar_processado(p_evento);
    RETURN 'processado';
END
$$;

COMMENT ON FUNCTION d6b.on_demanda_conclusao_confirmada(core.event_log) IS
'Handler de demanda.conclusao_confirmada: com ratificação desnecessária, registra a conclusão social; com acompanhamento
ativo, grava a pendência e uma atualização de sistema, sem mudar o status. Fonte: D-6b 3.15, E16.';

CREATE OR REPLACE FUNCTION d6b.registrar_conclusao_social(p_demanda_id uuid, p_evento_id uuid, p_quando timestamptz)
RETURNS void
LANGUAGE sql
AS $$
    INSERT INTO d6b.conclusoes_sociais (demanda_id, evento_id, criado_em)
    VALUES (p_demanda_id, p_evento_id, d6b.centesimo(p_quando))
    ON CONFLICT DO NOTHING
$$;

COMMENT ON FUNCTION d6b.registrar_conclusao_social(uuid, uuid, timestamptz) IS
'Registra que a demanda concluiu por confirmação coletiva, uma vez só: a guarda de sorteio tardio. Fonte: 2.7, E17.';
