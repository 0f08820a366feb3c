-- demanda.recebida: a D-6b guarda as de manutenção programada, para quando forem concluídas (E06).

CREATE OR REPLACE FUNCTION d6b.on_demanda_recebida(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload jsonb := p_evento.payload;
    v_faltas  text[] := d6b.campos_ausentes(v_payload, 'demanda_id', 'projeto_original_id');
BEGIN
    IF d6b.ja_processado(p_evento) THEN
        RETURN 'duplicado';
    END IF;
    IF v_payload ->> 'origem' IS DISTINCT FROM 'manutenção_programada' THEN
        PERFORM d6b.marcar_processado(p_evento);
        RETURN 'ignorado';
    END IF;
    -- Um produtor de demandas de cidadãos não inventa obras da D-8: o Registro não sabe ligar um campo a uma origem.
    IF p_evento.origem <> 'D-8' THEN
        RETURN d6b.descartar(p_evento, 'erro', 'Demanda de manutenção que não vem da D-8',
                             jsonb_build_object('origem', p_evento.origem));
    END IF;
    IF v_faltas <> '{}' THEN
        RETURN d6b.descartar(p_evento, 'erro', 'Payload incompleto', jsonb_build_object('faltam', v_faltas));
    END IF;

    INSERT INTO d6b.demandas_manutencao (demanda_id, projeto_original_id, profundidade, categoria, subcategoria,
                                         localizacao, evento_id, criado_em)
    VALUES ((v_payload ->> 'demanda_id')::uuid,
            (v_payload ->> 'projeto_original_id')::uuid,
            CASE WHEN core._inteiro_entre(v_payload #> '{metadata,profundidade}', 0, 2)
                 THEN (v_payload #> '{metadata,profundidade}')::int ELSE 0 END,
            d6b.texto_ou_nulo(v_payload -> 'categoria_id'),
            d6b.texto_ou_nulo(v_payload -> 'subcategoria_id'),
            nullif(v_payload -> 'localizacao_bruta', 'null'),
            p_evento.event_id,
            d6b.centesimo(p_evento.publicado_em))
    ON CONFLICT (demanda_id) DO NOTHING;
    PERFORM d6b.marcar_processado(p_evento);
    RETURN 'processado';
END
$$;

COMMENT ON FUNCTION d6b.on_demanda_recebida(core.event_log) IS
'Handler de demanda.recebida: guarda em demandas_manutencao a de origem manutenção_programada que a D-8 publicou;
descarta a que outra colônia diz ser dessa origem, e ignora as de cidadãos. Fonte: E06, D-8 5.7.';
