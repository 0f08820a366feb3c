-- O conselheiro ratifica a conclusão que a comunidade confirmou (D-6b 3.16).

CREATE OR REPLACE FUNCTION d6b.ratificar_conclusao(p_demanda_id uuid, p_cidadao_id uuid)
RETURNS jsonb
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_agora          timestamptz := core.agora();
    v_event_id       uuid        := gen_random_uuid();
    v_acompanhamento d6b.acompanhamentos;
    v_atualizacao    d6b.atualizacoes;
    v_causa          core.event_log;
    v_saidas         jsonb;
BEGIN
    v_acompanhamento := d6b.acompanhamento_ativo(p_demanda_id);
    IF v_acompanhamento.id IS NULL THEN
        RAISE EXCEPTION 'Acompanhamento ativo não encontrado para a demanda' USING ERRCODE = 'FM404';
    END IF;
    IF v_acompanhamento.pendencia_conclusao IS NULL THEN
        RAISE EXCEPTION 'Demanda sem pendência de conclusão' USING ERRCODE = 'FM409';
    END IF;
    IF v_acompanhamento.conselheiro_id IS DISTINCT FROM p_cidadao_id THEN
        RAISE EXCEPTION 'Apenas o conselheiro do acompanhamento pode ratificar' USING ERRCODE = 'FM403';
    END IF;

    IF d6b.ha_relato_por_processar(p_demanda_id) THEN
        -- Concluir agora faria o relato que espera chegar a um ciclo encerrado.
        RAISE EXCEPTION 'Há um relato desta demanda por processar; tente de novo mais tarde' USING ERRCODE = 'FM409';
    END IF;

    v_causa := d6b.confirmacao_pendente(p_demanda_id);
    v_atualizacao := d6b.inserir_atualizacao_de_sistema(
        v_acompanhamento, 'O conselheiro ratificou a conclusão confirmada pela comunidade.',
        '{"novo_status": "concluido"}', v_event_id, v_causa.correlacao_id, v_agora);
    v_acompanhamento := d6b.contar_atualizacao(v_acompanhamento, v_event_id, v_agora, true);
    v_saidas := d6b.concluir_demanda(v_acompanhamento, v_atualizacao, v_event_id, v_agora, v_causa.correlacao_id);
    -- A confirmação é antiga: o que a demanda tenha em aberto na DLQ, ainda que posterior, sai antes.
    PERFORM d6b.publicar_conclusao(v_causa, v_acompanhamento.id, v_saidas, core.obter_maior_sequence());
    PERFORM d6b.registrar_conclusao_social(p_demanda_id, (v_saidas -> 0 ->> 'event_id')::uuid, v_agora);
    RETURN jsonb_build_object('demanda_id', p_demanda_id, 'status', 'concluida');
END
$$;

COMMENT ON FUNCTION d6b.ratificar_conclusao(uuid, uuid) IS
'Ratifica a conclusão coletiva pendente e conclui a demanda: {demanda_id, status: concluida}.
Erros: FM404 sem acompanhamento ativo; FM409 sem pendência, ou com evento da demanda por ler ou na DLQ; FM403 outro cidadão que não o conselheiro.
Fonte: D-6b 3.16, E16, E17, N19.';

CREATE OR REPLACE FUNCTION d6b.ha_relato_por_processar(p_demanda_id uuid)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    -- Por ler é o que passa da posição da colônia, abaixo ou acima do horizonte: só desta demanda, pelo índice da chave. O
    -- que um despachante está a tratar ainda não moveu a posição, ou já segura o acompanhamento, que quem chama travou.
    RETURN EXISTS (SELECT
                     FROM core.dlq AS d
                    WHERE d.colonia = 'D-6b'
                      AND d.chave = p_demanda_id::text
                      AND d.especie = 'evento'
                      AND d.estado IN ('pendente', 'em_espera'))
        OR EXISTS (SELECT
                     FROM core.event_log AS e
                    WHERE e.chave = p_demanda_id::text
                      AND e.sequence_number > (SELECT c.posicao FROM core.consumidores AS c WHERE c.colonia = 'D-6b')
                      AND e.tipo = ANY (d6b.tipos_consumidos()));
END
$$;

COMMENT ON FUNCTION d6b.ha_relato_por_processar(uuid) IS
'Se a D-6b ainda não tratou algum evento já publicado da demanda: por ler, ou em aberto na DLQ. Quem chama travou o
acompanhamento. Fonte: N19.';

CREATE OR REPLACE FUNCTION d6b.confirmacao_pendente(p_demanda_id uuid)
RETURNS core.event_log
LANGUAGE sql
STABLE
AS $$
    SELECT e
      FROM core.event_log AS e
      JOIN d6b.atualizacoes AS u ON u.event_id_publicacao = e.event_id
     WHERE u.demanda_id = p_demanda_id
       AND u.origem_estruturacao = 'sistema'
       AND e.tipo = 'demanda.conclusao_confirmada'
     ORDER BY e.sequence_number DESC
     LIMIT 1
$$;

COMMENT ON FUNCTION d6b.confirmacao_pendente(uuid) IS
'O demanda.conclusao_confirmada que deixou a pendência da demanda, ainda que num ciclo anterior (E08).';

GRANT EXECUTE ON FUNCTION d6b.ratificar_conclusao(uuid, uuid) TO formigueiro_app;
