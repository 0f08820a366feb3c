-- O fim do monitoramento: à mão, aqui; por fim de vida útil, no handler da execução e na varredura (D-8 3.6, 3.9, E21).

CREATE OR REPLACE FUNCTION d8.encerrar_monitoramento(p_projeto_id uuid, p_motivo text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_event_id CONSTANT uuid := gen_random_uuid();
    v_quando   timestamptz;
    v_projeto  d8.projetos_monitorados;
BEGIN
    IF p_motivo IS NULL OR p_motivo NOT IN ('encerramento_manual', 'projeto_removido') THEN
        RAISE EXCEPTION 'O campo motivo deve ser encerramento_manual ou projeto_removido.' USING ERRCODE = 'FM422';
    END IF;
    PERFORM d8.exigir_log_conhecido();
    SELECT * INTO v_projeto FROM d8.projetos_monitorados AS p WHERE p.id = p_projeto_id FOR UPDATE;
    IF v_projeto.id IS NULL THEN
        RAISE EXCEPTION 'O projeto % não é monitorado.', p_projeto_id USING ERRCODE = 'FM404';
    END IF;
    IF v_projeto.status = 'encerrado' THEN
        RETURN;
    END IF;

    v_quando := d8.sem_recuar(core.agora(), v_projeto.atualizado_em);
    PERFORM core._publicar('manutenção.ciclo_encerrado', d8.payload_encerrado(v_projeto, p_motivo, v_quando), 'D-8',
                           '1.0.0', v_event_id, NULL);
    PERFORM d8.gravar_encerramento(p_projeto_id, p_motivo, v_quando, v_event_id);
    PERFORM d8.marcar_processado(v_event_id, 'manutenção.ciclo_encerrado');
    PERFORM core.registrar('info', 'Monitoramento de manutenção encerrado.',
                           d8.contexto_do_encerramento(v_projeto, p_motivo, v_event_id));
END
$$;

COMMENT ON FUNCTION d8.encerrar_monitoramento(uuid, text) IS
'Encerra à mão o monitoramento de um projeto e publica manutenção.ciclo_encerrado; já encerrado, nada faz. p_motivo é
encerramento_manual ou projeto_removido. Erros: FM404 projeto desconhecido; FM422 motivo; FM409 o log tem eventos da D-8
que ela não conhece. Fonte: D-8 1.4, 3.6 e 4.6.';

CREATE OR REPLACE FUNCTION d8.gravar_encerramento(
    p_projeto_id uuid, p_motivo text, p_quando timestamptz, p_event_id uuid
)
RETURNS void
LANGUAGE sql
AS $$
    UPDATE d8.projetos_monitorados AS p
       SET status = 'encerrado',
           data_encerramento = p_quando,
           motivo_encerramento = p_motivo,
           event_id_ultima_alteracao = p_event_id,
           atualizado_em = p_quando
     WHERE p.id = p_projeto_id
       AND (p.status, p.motivo_encerramento, p.data_encerramento) IS DISTINCT FROM ('encerrado', p_motivo, p_quando)
$$;

COMMENT ON FUNCTION d8.gravar_encerramento(uuid, text, timestamptz, uuid) IS
'Marca o projeto como encerrado por esse motivo e nessa hora, se já não está. Fonte: D-8 3.9 e 4.6.';

CREATE OR REPLACE FUNCTION d8.payload_encerrado(p_projeto d8.projetos_monitorados, p_motivo text, p_quando timestamptz)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_build_object(
               'projeto_id', p_projeto.id,
               'demanda_original_id', p_projeto.demanda_original_id,
               'categoria', p_projeto.categoria,
               'uc_id', p_projeto.uc_id,
               'motivo', p_motivo,
               'total_ciclos', p_projeto.ciclo_atual,
               'data_inicio_monitoramento', core.iso(p_projeto.criado_em),
               'data_encerramento', core.iso(p_quando))
$$;

COMMENT ON FUNCTION d8.payload_encerrado(d8.projetos_monitorados, text, timestamptz) IS
'Payload de manutenção.ciclo_encerrado 1.0.0. Fonte: D-8 3.6, E20.';

CREATE OR REPLACE FUNCTION d8.contexto_do_encerramento(
    p_projeto d8.projetos_monitorados, p_motivo text, p_event_id uuid
)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_build_object('colonia', 'D-8',
                              'event_id', p_event_id,
                              'demanda_id', p_projeto.demanda_original_id,
                              'projeto_id', p_projeto.id,
                              'demanda_original_id', p_projeto.demanda_original_id,
                              'motivo', p_motivo)
$$;

COMMENT ON FUNCTION d8.contexto_do_encerramento(d8.projetos_monitorados, text, uuid) IS
'O contexto da linha "Monitoramento de manutenção encerrado.". Fonte: D-8 8.1.';

GRANT EXECUTE ON FUNCTION d8.encerrar_monitoramento(uuid, text) TO formigueiro_dba;
