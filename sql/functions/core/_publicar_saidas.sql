-- As saídas de um evento (regra 5): publicadas juntas ou, se alguma não puder, guardadas inteiras na DLQ sem desfazer
-- o estado. Um só ponto de salvamento no caminho comum.
--
-- Recebe   o evento que causou as saídas, a colônia, o vetor de
--          {tipo, versao_schema, event_id, correlacao_id, payload}, na ordem de publicação, e, se não for o do evento,
--          o número até o qual o que estiver em aberto na chave vai na frente delas
-- Devolve  se todas foram publicadas
-- Escreve  core.event_log (por core._publicar) ou core.dlq

CREATE OR REPLACE FUNCTION core._publicar_saidas(
    p_causa core.event_log, p_colonia text, p_saidas jsonb, p_ate bigint DEFAULT NULL
)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_ate      bigint := coalesce(p_ate, p_causa.sequence_number);
    v_saida    jsonb;
    v_todas    boolean := true;
    v_erro     text;
    v_sqlstate text;
BEGIN
    IF NOT core._chave_detida(p_colonia, p_causa.chave, v_ate) THEN
        BEGIN
            FOR v_saida IN SELECT s.saida FROM jsonb_array_elements(p_saidas) WITH ORDINALITY AS s (saida, n) ORDER BY s.n
            LOOP
                PERFORM core._publicar_saida(p_colonia, v_saida);
            END LOOP;
            RETURN true;
        EXCEPTION
            WHEN lock_not_available THEN
                RAISE;  -- alguém segura o log: nenhuma saída o teria, e quem chama espera inteiro (N66)
            WHEN OTHERS OR assert_failure THEN
                PERFORM core._exigir_log_proprio();  -- alguma não pôde: adiante, uma a uma; mas não numa réplica
        END;
    END IF;

    FOR v_saida IN SELECT s.saida FROM jsonb_array_elements(p_saidas) WITH ORDINALITY AS s (saida, n) ORDER BY s.n
    LOOP
        IF core._chave_detida(p_colonia, p_causa.chave, v_ate) THEN
            PERFORM core._guardar_saida(p_causa, p_colonia, v_saida, 'em_espera', NULL, NULL);
            v_todas := false;
        ELSE
            BEGIN
                PERFORM core._publicar_saida(p_colonia, v_saida);
            EXCEPTION WHEN OTHERS OR assert_failure THEN
                GET STACKED DIAGNOSTICS v_erro = MESSAGE_TEXT, v_sqlstate = RETURNED_SQLSTATE;
                PERFORM core._guardar_saida(p_causa, p_colonia, v_saida, 'pendente', v_sqlstate, core.citar(v_erro, 1000));
                v_todas := false;
            END;
        END IF;
    END LOOP;
    RETURN v_todas;
END
$$;

COMMENT ON FUNCTION core._publicar_saidas(core.event_log, text, jsonb, bigint) IS
'Publica as saídas de um evento, em ordem; a que não puder, e as que vêm depois dela, ficam em core.dlq (espécie
saida), detendo a chave e o cursor do evento que as causou. Devolve se todas saíram. A trava do log que não vem no
lock_timeout de quem chama não é de uma saída: o erro sobe, e nada fica feito. Fonte: regra 5, N66.';

CREATE OR REPLACE FUNCTION core._publicar_saida(p_colonia text, p_saida jsonb)
RETURNS bigint
LANGUAGE sql
AS $$
    SELECT core._publicar(p_saida ->> 'tipo', p_saida -> 'payload', p_colonia, p_saida ->> 'versao_schema',
                          (p_saida ->> 'event_id')::uuid, (p_saida ->> 'correlacao_id')::uuid)
$$;

COMMENT ON FUNCTION core._publicar_saida(text, jsonb) IS
'Publica uma saída {tipo, versao_schema, event_id, correlacao_id, payload} da colônia. Erros: os de core._publicar.';

CREATE OR REPLACE FUNCTION core._exigir_saida(p_saida jsonb)
RETURNS void
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    IF registro.valido(p_saida ->> 'tipo', p_saida ->> 'versao_schema', p_saida -> 'payload') IS NOT TRUE THEN
        PERFORM core._recusar_payload(p_saida ->> 'tipo', p_saida ->> 'versao_schema', p_saida -> 'payload');
    END IF;
END
$$;

COMMENT ON FUNCTION core._exigir_saida(jsonb) IS
'Levanta FM422, com as faltas, se o Registro recusaria a saída: para quem a compõe do que veio de fora, e não há de a
deixar na DLQ a deter a chave. Fonte: N74.';

CREATE OR REPLACE FUNCTION core._guardar_saida(
    p_causa core.event_log, p_colonia text, p_saida jsonb, p_estado text, p_sqlstate text, p_erro text
)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_marca bigint := core._marca_do_tipo(p_colonia, p_causa.tipo);
BEGIN
    INSERT INTO core.dlq (colonia, especie, event_id, sequence_number, tipo, chave, estado, proxima_tentativa,
                          sqlstate, ultimo_erro, saida)
    VALUES (p_colonia, 'saida', p_causa.event_id, p_causa.sequence_number, p_causa.tipo, p_causa.chave, p_estado,
            CASE WHEN p_estado = 'pendente' THEN clock_timestamp() + core._recuo_da_tentativa(0) END,
            p_sqlstate, p_erro, p_saida);
    IF p_estado = 'pendente' THEN
        PERFORM core.registrar('erro', 'Falha ao publicar ' || (p_saida ->> 'tipo'),
                               jsonb_build_object('colonia', p_colonia,
                                                  'event_id', p_causa.event_id,
                                                  'correlacao_id', p_causa.correlacao_id,
                                                  'demanda_id', p_saida -> 'payload' -> 'demanda_id',
                                                  'conselheiro_id', p_saida -> 'payload' -> 'conselheiro_id',
                                                  'saida_event_id', p_saida -> 'event_id',
                                                  'sqlstate', p_sqlstate,
                                                  'erro', p_erro));
    END IF;
    PERFORM core._acertar_cursor(p_colonia, p_causa.tipo, v_marca);
    IF p_estado = 'em_espera' THEN
        PERFORM core._por_na_vez(p_colonia, p_causa.chave);
    END IF;
END
$$;

COMMENT ON FUNCTION core._guardar_saida(core.event_log, text, jsonb, text, text, text) IS
'Guarda em core.dlq uma saída que não pôde ser publicada (pendente, com ocorrência de nível erro) ou que espera a
anterior (em_espera), e recua o cursor do tipo que a causou. Fonte: regra 5.';

GRANT EXECUTE ON FUNCTION core._publicar_saidas(core.event_log, text, jsonb, bigint), core._publicar_saida(text, jsonb),
                          core._exigir_saida(jsonb),
                          core._guardar_saida(core.event_log, text, jsonb, text, text, text)
   TO d6b_dono, d8_dono;
