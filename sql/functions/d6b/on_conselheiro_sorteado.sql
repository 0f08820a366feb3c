-- conselheiro.sorteado abre um acompanhamento e encerra o anterior da mesma demanda (D-6b 3.8, 3.17).

CREATE OR REPLACE FUNCTION d6b.on_conselheiro_sorteado(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload  jsonb := p_evento.payload;
    v_demanda  uuid  := (v_payload ->> 'demanda_id')::uuid;
    v_sorteado uuid  := (v_payload ->> 'conselheiro_id')::uuid;
    v_faltas   text[] := d6b.campos_ausentes(v_payload, 'conselheiro_id', 'demanda_id', 'unidade_civica_id');
    v_ativo    d6b.acompanhamentos;
BEGIN
    IF d6b.ja_processado(p_evento)
       OR EXISTS (SELECT FROM d6b.acompanhamentos AS a WHERE a.event_id_sorteio = p_evento.event_id) THEN
        PERFORM d6b.marcar_processado(p_evento);
        RETURN 'duplicado';
    END IF;
    IF v_faltas <> '{}' THEN
        RETURN d6b.descartar(p_evento, 'erro', 'Payload incompleto', jsonb_build_object('faltam', v_faltas));
    END IF;

    -- Travado antes de perguntar se a demanda concluiu: quem a ratifica segura esta linha (E01).
    v_ativo := d6b.acompanhamento_ativo(v_demanda);
    IF d6b.demanda_concluida(v_demanda) THEN
        INSERT INTO d6b.sorteios_tardios (event_id, demanda_id, conselheiro_id, criado_em)
        VALUES (p_evento.event_id, v_demanda, v_sorteado, d6b.centesimo(p_evento.publicado_em))
        ON CONFLICT (event_id) DO NOTHING;
        RETURN d6b.descartar(p_evento, 'erro', 'Sorteio tardio: a demanda já foi concluída');
    END IF;

    IF v_ativo.conselheiro_id = v_sorteado THEN
        RETURN d6b.descartar(p_evento, 'aviso', 'Acompanhamento já ativo com o mesmo conselheiro',
                             jsonb_build_object('acompanhamento_id', v_ativo.id));
    END IF;
    IF v_ativo.id IS NOT NULL THEN
        PERFORM d6b.reatribuir(v_ativo, p_evento, v_sorteado);
    END IF;

    INSERT INTO d6b.acompanhamentos (demanda_id, conselheiro_id, unidade_civica_id, status, data_sorteio,
                                     pendencia_conclusao, event_id_sorteio, event_id_ultima_alteracao, criado_em,
                                     atualizado_em)
    VALUES (v_demanda, v_sorteado, (v_payload ->> 'unidade_civica_id')::uuid, 'aguardando_inicio',
            d6b.centesimo(coalesce((v_payload ->> 'timestamp')::timestamptz, p_evento.publicado_em)),
            v_ativo.pendencia_conclusao, p_evento.event_id, p_evento.event_id,
            d6b.centesimo(p_evento.publicado_em), d6b.centesimo(p_evento.publicado_em))
    ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        -- Outro sorteio da demanda confirmou entretanto: antes do primeiro não há linha a travar, e quem decide é o índice.
        RETURN d6b.on_conselheiro_sorteado(p_evento);
    END IF;
    PERFORM d6b.marcar_processado(p_evento);
    RETURN 'processado';
END
$$;

COMMENT ON FUNCTION d6b.on_conselheiro_sorteado(core.event_log) IS
'Handler de conselheiro.sorteado: cria o acompanhamento em aguardando_inicio; outro conselheiro ativo na demanda é
encerrado como reatribuido, e a pendência de ratificação passa ao novo ciclo (E08). Descarta, com ocorrência: payload
incompleto, mesmo conselheiro, demanda já concluída (E09). Fonte: D-6b 3.8 e 3.17.';

CREATE OR REPLACE FUNCTION d6b.demanda_concluida(p_demanda_id uuid)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM d6b.conclusoes_sociais AS c WHERE c.demanda_id = p_demanda_id)
        OR EXISTS (SELECT FROM d6b.acompanhamentos AS a
                    WHERE a.demanda_id = p_demanda_id
                      AND a.status = 'concluido');
END
$$;

COMMENT ON FUNCTION d6b.demanda_concluida(uuid) IS
'Se a demanda já foi concluída, pela comunidade ou por seu conselheiro: nada mais se abre para ela. Fonte: 3.17, E09.';

CREATE OR REPLACE FUNCTION d6b.reatribuir(p_anterior d6b.acompanhamentos, p_evento core.event_log, p_novo_conselheiro uuid)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE d6b.acompanhamentos AS a
       SET status = 'reatribuido',
           motivo_encerramento = 'reatribuido',
           data_conclusao = d6b.centesimo(p_evento.publicado_em),
           pendencia_conclusao = NULL,
           event_id_ultima_alteracao = p_evento.event_id,
           atualizado_em = d6b.centesimo(p_evento.publicado_em)
     WHERE a.id = p_anterior.id;
    PERFORM d6b.encerrar_prazos(p_anterior.id, p_evento.publicado_em, 'substituido');
    INSERT INTO d6b.processed_events (event_id, event_type, processed_at)
    VALUES (p_anterior.event_id_sorteio, 'conselheiro.sorteado', d6b.centesimo(core.agora()))
    ON CONFLICT (event_id) DO NOTHING;
    PERFORM core.registrar('info', 'Acompanhamento reatribuído',
                           jsonb_build_object('colonia', 'D-6b',
                                              'event_id', p_evento.event_id,
                                              'correlacao_id', p_evento.correlacao_id,
                                              'demanda_id', p_anterior.demanda_id,
                                              'acompanhamento_id', p_anterior.id,
                                              'conselheiro_id', p_anterior.conselheiro_id,
                                              'novo_conselheiro_id', p_novo_conselheiro));
END
$$;

COMMENT ON FUNCTION d6b.reatribuir(d6b.acompanhamentos, core.event_log, uuid) IS
'Encerra um acompanhamento como reatribuido, com seus prazos vigentes substituídos. Fonte: D-6b 3.8, E08.';
