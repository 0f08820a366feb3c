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
    v_erros          jsonb := d6b.erros_da_conclusao(v_payload);
    v_acompanhamento d6b.acompanhamentos;
BEGIN
    IF d6b.ja_processado(p_evento) OR d6b.tem_atualizacao(p_evento) THEN
        PERFORM d6b.marcar_processado(p_evento);
        RETURN 'duplicado';
    END IF;
    IF v_faltas <> '{}' THEN
        RETURN d6b.descartar(p_evento, 'erro', 'Payload incompleto', jsonb_build_object('faltam', v_faltas));
    END IF;
    IF v_erros <> '[]' THEN
        RETURN d6b.descartar(p_evento, 'erro', 'Conclusão coletiva inválida', jsonb_build_object('erros', v_erros));
    END IF;

    IF NOT (v_payload ->> 'ratificacao_necessaria')::boolean THEN
        PERFORM d6b.registrar_conclusao_social(v_demanda, p_evento.event_id, p_evento.publicado_em);
    END IF;

    v_acompanhamento := d6b.acompanhamento_ativo(v_demanda);
    IF v_acompanhamento.id IS NOT NULL AND d6b.conclusao_ja_gravada(v_demanda, v_payload ->> 'conclusao_id') THEN
        PERFORM d6b.marcar_processado(p_evento);
        RETURN 'duplicado';
    END IF;
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
ativo, grava a pendência e uma atualização de sistema, sem mudar o status. A mesma conclusão, noutro evento, não se
repete. Descarta, com ocorrência: payload incompleto, conclusao_id em branco ou de mais de 200 caracteres, total que não conta
ninguém. Fonte: D-6b 3.15, E12, E16, N48, N49.';

CREATE OR REPLACE FUNCTION d6b.erros_da_conclusao(p_payload jsonb)
RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    v_erros jsonb := '[]'::jsonb;
BEGIN
    IF NOT d6b.diz_algo(p_payload -> 'conclusao_id') THEN
        v_erros := v_erros || d6b.erro('conclusao_id', 'Campo obrigatório.');
    ELSIF length(p_payload ->> 'conclusao_id') > 200 THEN
        v_erros := v_erros || d6b.erro('conclusao_id', 'Texto acima de 200 caracteres.');
    END IF;
    IF NOT core._inteiro_entre(p_payload -> 'total_conclusoes', 1, 2147483647) THEN
        v_erros := v_erros || d6b.erro('total_conclusoes', 'Esperado um número inteiro de 1 a 2147483647.');
    END IF;
    RETURN v_erros;
END
$$;

COMMENT ON FUNCTION d6b.erros_da_conclusao(jsonb) IS
'O que o Registro deixa passar e não é uma conclusão coletiva: [{campo, mensagem}], vazio se é. Fonte: D-6b 3.15, N48.';

CREATE OR REPLACE FUNCTION d6b.conclusao_ja_gravada(p_demanda_id uuid, p_conclusao_id text)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN EXISTS (SELECT
                     FROM d6b.atualizacoes AS u
                     JOIN core.event_log AS e ON e.event_id = u.event_id_publicacao
                    WHERE u.demanda_id = p_demanda_id
                      AND u.origem_estruturacao = 'sistema'
                      AND e.tipo = 'demanda.conclusao_confirmada'
                      AND lower(e.payload ->> 'conclusao_id') = lower(p_conclusao_id));
END
$$;

COMMENT ON FUNCTION d6b.conclusao_ja_gravada(uuid, text) IS
'Se a mesma conclusão coletiva, sem distinguir maiúsculas, já deixou sua atualização de sistema, ainda que num ciclo
anterior da demanda. Quem chama travou o acompanhamento. Fonte: N49.';

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
