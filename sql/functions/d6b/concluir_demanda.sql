-- A conclusão (D-6b 3.10): encerra o acompanhamento e guarda, antes de publicar, as saídas no snapshot.
--
-- Recebe   o acompanhamento, já com a atualização de conclusão contada; essa atualização; o event_id e a hora do que a
--          causou; a correlação das saídas
-- Devolve  as saídas, em ordem (E04), para quem chama publicar
-- Escreve  acompanhamentos, prazos, processed_events e a fila do resumo de fecho

CREATE OR REPLACE FUNCTION d6b.concluir_demanda(
    p_acompanhamento d6b.acompanhamentos,
    p_atualizacao    d6b.atualizacoes,
    p_event_id       uuid,
    p_quando         timestamptz,
    p_correlacao_id  uuid
)
RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_quando timestamptz := d6b.centesimo(p_quando);
    v_resumo text        := d6b.resumo_final(p_atualizacao);
    v_saidas jsonb;
BEGIN
    v_saidas := jsonb_build_array(d6b.saida_demanda_concluida(p_acompanhamento, p_atualizacao, v_quando, p_correlacao_id))
             || d6b.saidas_manutencao_executada(p_acompanhamento, p_atualizacao, v_quando, p_correlacao_id)
             || d6b.saida_ciclo_concluido(p_acompanhamento, v_resumo, v_quando, p_correlacao_id);

    UPDATE d6b.acompanhamentos AS a
       SET status = 'concluido',
           motivo_encerramento = 'demanda_concluida',
           data_conclusao = v_quando,
           texto_resumo_final = v_resumo,
           pendencia_conclusao = NULL,
           saidas_conclusao = d6b.por_publicar(v_saidas),
           saidas_conclusao_pendentes = true,
           event_id_ultima_alteracao = p_event_id,
           atualizado_em = v_quando
     WHERE a.id = p_acompanhamento.id;
    INSERT INTO d6b.processed_events (event_id, event_type, processed_at)
    VALUES (p_event_id, 'conclusao_demanda', d6b.centesimo(core.agora()))
    ON CONFLICT (event_id) DO NOTHING;

    PERFORM d6b.encerrar_prazos(p_acompanhamento.id, v_quando, 'cumprido');
    PERFORM d6b.enfileirar_fecho(p_atualizacao);
    RETURN v_saidas;
END
$$;

COMMENT ON FUNCTION d6b.concluir_demanda(d6b.acompanhamentos, d6b.atualizacoes, uuid, timestamptz, uuid) IS
'Encerra o acompanhamento como concluido e devolve as saídas da conclusão, já no snapshot e por publicar:
demanda.concluída, manutenção.executada (se a demanda é de manutenção) e conselheiro.ciclo_concluído.
Fonte: D-6b 3.10, E04, E08.';

CREATE OR REPLACE FUNCTION d6b.resumo_final(p_atualizacao d6b.atualizacoes)
RETURNS text
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT CASE
               WHEN p_atualizacao.conteudo_estruturado ->> 'transcricao_status' = 'aguardando'
               THEN 'Conclusão relatada em áudio; transcrição em andamento.'
               ELSE p_atualizacao.texto_estruturado
           END
$$;

COMMENT ON FUNCTION d6b.resumo_final(d6b.atualizacoes) IS
'O resumo_final da conclusão: o texto do conselheiro ou, relatada em áudio, o aviso de que a transcrição corre (E15).';
