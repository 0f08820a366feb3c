-- Trata um evento, ou o põe na DLQ: por ter falhado, ou por esperar outro de sua chave (regra 4).

CREATE OR REPLACE FUNCTION core._tratar_ou_guardar(p_colonia text, p_esquema name, p_evento core.event_log)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_erro      text;
    v_sqlstate  text;
    v_resultado text;
    v_contexto  jsonb;
BEGIN
    IF core._chave_detida(p_colonia, p_evento.chave, p_evento.sequence_number) THEN
        PERFORM core._guardar_evento(p_colonia, p_evento, 'em_espera', NULL, NULL);
        RETURN true;
    END IF;

    EXECUTE format('SELECT %I.tratar($1)', p_esquema) INTO v_resultado USING p_evento;
    IF v_resultado = 'duplicado' THEN
        EXECUTE format('SELECT %I.contexto($1)', p_esquema) INTO v_contexto USING p_evento;
        RAISE LOG USING
            MESSAGE = format('Evento já processado pela %s', p_colonia),
            DETAIL = v_contexto::text;
    END IF;
    RETURN true;
EXCEPTION WHEN OTHERS OR assert_failure THEN
    GET STACKED DIAGNOSTICS v_erro = MESSAGE_TEXT, v_sqlstate = RETURNED_SQLSTATE;
    PERFORM core._guardar_evento(p_colonia, p_evento, 'pendente', v_sqlstate, core._motivo_da_falha(v_sqlstate, v_erro));
    RETURN v_sqlstate <> '55P03';
END
$$;

COMMENT ON FUNCTION core._tratar_ou_guardar(text, name, core.event_log) IS
'Chama <esquema>.tratar(evento) num ponto de salvamento; se falha, ou se a chave está detida, o evento fica em
core.dlq. Devolve false se o que faltou foi uma trava, que fez esperar (N66). Fonte: regras 1 e 4.';

CREATE OR REPLACE FUNCTION core._motivo_da_falha(p_sqlstate text, p_erro text)
RETURNS text
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT CASE
               WHEN p_sqlstate = '55P03' THEN 'Outra sessão segura o que o evento precisa mudar; core.estado() diz quais.'
               ELSE core.citar(p_erro, 1000)
           END
$$;

COMMENT ON FUNCTION core._motivo_da_falha(text, text) IS
'O que se guarda na DLQ de um erro: o começo do texto dele (N72) ou, de uma trava que não veio a tempo, o que isso quer dizer.';

CREATE OR REPLACE FUNCTION core._chave_detida(p_colonia text, p_chave text, p_sequencia bigint)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN EXISTS (SELECT
                     FROM core.dlq AS d
                    WHERE d.colonia = p_colonia
                      AND d.chave = p_chave
                      AND d.estado IN ('pendente', 'em_espera')
                      AND d.sequence_number <= p_sequencia);
END
$$;

COMMENT ON FUNCTION core._chave_detida(text, text, bigint) IS
'Se há na DLQ da colônia algo em aberto desta chave, deste número ou anterior.';

CREATE OR REPLACE FUNCTION core._guardar_evento(
    p_colonia text, p_evento core.event_log, p_estado text, p_sqlstate text, p_erro text
)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    -- Depois de um recuo do cursor, o evento pode já estar aqui.
    INSERT INTO core.dlq (colonia, especie, event_id, sequence_number, tipo, chave, estado, proxima_tentativa,
                          sqlstate, ultimo_erro)
    VALUES (p_colonia, 'evento', p_evento.event_id, p_evento.sequence_number, p_evento.tipo, p_evento.chave, p_estado,
            CASE WHEN p_estado = 'pendente' THEN clock_timestamp() + core._recuo_da_tentativa(0) END,
            p_sqlstate, p_erro)
    ON CONFLICT (colonia, event_id) WHERE especie = 'evento' AND estado IN ('pendente', 'em_espera') DO NOTHING;
    IF p_estado = 'pendente' THEN
        -- Relido depois de outro de sua chave, vai na frente dele.
        UPDATE core.dlq AS d
           SET estado = 'em_espera',
               proxima_tentativa = NULL
         WHERE d.colonia = p_colonia
           AND d.chave = p_evento.chave
           AND d.estado = 'pendente'
           AND d.sequence_number > p_evento.sequence_number;
        RAISE WARNING USING
            MESSAGE = format(CASE WHEN p_sqlstate = '55P03' THEN '%s espera por uma trava na DLQ da %s'
                                  ELSE '%s foi para a DLQ da %s' END, p_evento.tipo, p_colonia),
            DETAIL = jsonb_build_object('colonia', p_colonia,
                                        'tipo', p_evento.tipo,
                                        'event_id', p_evento.event_id,
                                        'sequence', p_evento.sequence_number,
                                        'correlacao_id', p_evento.correlacao_id,
                                        'demanda_id', p_evento.payload -> 'demanda_id',
                                        'conselheiro_id', p_evento.payload -> 'conselheiro_id',
                                        'sqlstate', p_sqlstate,
                                        'erro', p_erro)::text,
            HINT = CASE WHEN p_sqlstate = '55P03' THEN 'aviso' ELSE 'erro' END;
    END IF;
END
$$;

COMMENT ON FUNCTION core._guardar_evento(text, core.event_log, text, text, text) IS
'Põe um evento em core.dlq, pendente (falhou) ou em_espera (atrás de outro de sua chave); uma vez só enquanto aberto.';

CREATE OR REPLACE FUNCTION core._recuo_da_tentativa(p_tentativas int)
RETURNS interval
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT make_interval(secs => least(3600, 0.5 * 2.0 ^ least(p_tentativas, 20)))
$$;

COMMENT ON FUNCTION core._recuo_da_tentativa(int) IS
'Espera até a próxima tentativa: 0,5, 1 e 2 s (o publicarComRetry da especificação) e o dobro até uma hora.';

GRANT EXECUTE ON FUNCTION core._tratar_ou_guardar(text, name, core.event_log),
                          core._chave_detida(text, text, bigint),
                          core._guardar_evento(text, core.event_log, text, text, text),
                          core._motivo_da_falha(text, text), core._recuo_da_tentativa(int)
   TO d6b_dono, d8_dono;
