-- conselheiro.atualização_registrada: o coração da relatoria (D-6b 3.9).

CREATE OR REPLACE FUNCTION d6b.on_conselheiro_atualizacao_registrada(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload        jsonb := p_evento.payload;
    v_recusa         jsonb;
    v_acompanhamento d6b.acompanhamentos;
    v_atualizacao    d6b.atualizacoes;
    v_primeira       boolean;
    v_conclui        boolean;
    v_saidas         jsonb := '[]'::jsonb;
BEGIN
    IF d6b.ja_processado(p_evento) OR d6b.tem_atualizacao(p_evento) THEN
        PERFORM d6b.marcar_processado(p_evento);
        RETURN 'duplicado';
    END IF;
    v_recusa := d6b.recusa_da_atualizacao(p_evento);
    IF v_recusa IS NOT NULL THEN
        RETURN d6b.descartar(p_evento, 'erro', v_recusa ->> 'mensagem', v_recusa - 'mensagem');
    END IF;

    v_acompanhamento := d6b.acompanhamento_ativo((v_payload ->> 'demanda_id')::uuid,
                                                 (v_payload ->> 'conselheiro_id')::uuid);
    IF v_acompanhamento.id IS NULL THEN
        RETURN d6b.descartar(p_evento, 'aviso', 'Sem acompanhamento ativo para o conselheiro e a demanda');
    END IF;

    v_conclui := d6b.conclui(v_payload);
    IF v_acompanhamento.total_atualizacoes >= (core.parametro('limite_atualizacoes'))::int AND NOT v_conclui THEN
        RETURN d6b.descartar_excedente(p_evento, v_acompanhamento);
    END IF;

    v_primeira := v_acompanhamento.status = 'aguardando_inicio';
    v_atualizacao := d6b.inserir_atualizacao(v_acompanhamento, d6b.atualizacao_do_evento(p_evento),
                                             p_evento.publicado_em);
    v_acompanhamento := d6b.contar_atualizacao(v_acompanhamento, p_evento.event_id, p_evento.publicado_em, true);
    IF v_atualizacao.tipo = 'prazo_registrado' THEN
        PERFORM d6b.registrar_prazo(v_atualizacao);
    END IF;

    IF v_primeira THEN
        v_saidas := v_saidas || d6b.saida_demanda_iniciada(v_acompanhamento, v_atualizacao);
    END IF;
    IF v_conclui THEN
        v_saidas := v_saidas || d6b.concluir_demanda(v_acompanhamento, v_atualizacao, p_evento.event_id,
                                                     p_evento.publicado_em, p_evento.correlacao_id);
        PERFORM d6b.publicar_conclusao(p_evento, v_acompanhamento.id, v_saidas);
    ELSE
        IF v_atualizacao.conteudo_estruturado ->> 'transcricao_status' IS NULL THEN
            PERFORM d6b.enfileirar_publicacao(v_atualizacao);
        END IF;
        PERFORM core._publicar_saidas(p_evento, 'D-6b', v_saidas);
    END IF;
    PERFORM d6b.marcar_processado(p_evento);
    RETURN 'processado';
END
$$;

COMMENT ON FUNCTION d6b.on_conselheiro_atualizacao_registrada(core.event_log) IS
'Handler de conselheiro.atualização_registrada: grava a atualização, conta-a, registra o prazo, inicia a demanda na
primeira (E03), conclui com novo_status concluido (E04) ou põe o texto na fila do Python (E02); com áudio, o texto
espera a transcrição. Descarta, com ocorrência, o que não vale. Fonte: D-6b 3.9, E12, E15, E18.';

CREATE OR REPLACE FUNCTION d6b.conclui(p_payload jsonb)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT p_payload ->> 'tipo' = 'status_atualizado'
       AND coalesce(p_payload #>> '{conteudo_estruturado,novo_status}', '') = 'concluido'
$$;

COMMENT ON FUNCTION d6b.conclui(jsonb) IS
'Se o payload (ou a linha, em JSON) é a atualização que conclui a demanda. Fonte: D-6b 3.9, passo 9.';

CREATE OR REPLACE FUNCTION d6b.tem_atualizacao(p_evento core.event_log)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM d6b.atualizacoes AS u WHERE u.event_id_publicacao = p_evento.event_id);
END
$$;

COMMENT ON FUNCTION d6b.tem_atualizacao(core.event_log) IS
'Se o evento já deixou uma atualização: a idempotência que a própria tabela dá. Fonte: D-6b 3.13.';
