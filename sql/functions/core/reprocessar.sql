-- O operador roda de novo um evento descartado, depois de consertada a causa (regra 6).

CREATE OR REPLACE FUNCTION core.reprocessar(p_event_id uuid, p_colonia text)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_esquema   name;
    v_resultado text;
BEGIN
    SELECT c.esquema INTO v_esquema FROM core.consumidores AS c WHERE c.colonia = p_colonia;
    IF v_esquema IS NULL THEN
        RAISE EXCEPTION 'A colônia % não existe.', core.citar(p_colonia) USING ERRCODE = 'FM404';
    END IF;
    EXECUTE format('SELECT %I.reprocessar($1)', v_esquema) INTO v_resultado USING p_event_id;
    RETURN v_resultado;
END
$$;

COMMENT ON FUNCTION core.reprocessar(uuid, text) IS
'Passa um evento descartado de novo por seu handler e devolve o resultado; o que já teve efeito não se repete
(''duplicado''). Erros: FM404 colônia, ou evento que não existe ou ela não consome; FM409 evento
ainda não tratado, chave detida na DLQ, ou sorteio anterior ao último de sua demanda. Fonte: regra 6.';

CREATE OR REPLACE FUNCTION core._reprocessar(p_colonia text, p_event_id uuid)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_esquema   name;
    v_evento    core.event_log;
    v_consome   boolean;
    v_apagados  int;
    v_resultado text;
BEGIN
    SELECT c.esquema INTO STRICT v_esquema FROM core.consumidores AS c WHERE c.colonia = p_colonia FOR UPDATE;
    SELECT * INTO v_evento FROM core.event_log AS e WHERE e.event_id = p_event_id;
    EXECUTE format('SELECT $1 = ANY (%I.tipos_consumidos())', v_esquema) INTO v_consome USING v_evento.tipo;
    IF v_evento.event_id IS NULL OR NOT v_consome THEN
        RAISE EXCEPTION 'A % não consome evento % nenhum.', p_colonia, p_event_id USING ERRCODE = 'FM404';
    END IF;
    IF core._chave_detida(p_colonia, v_evento.chave, v_evento.sequence_number) THEN
        RAISE EXCEPTION 'A chave do evento % está detida na DLQ; resolva antes o que está lá.', p_event_id
            USING ERRCODE = 'FM409';
    END IF;
    EXECUTE format('DELETE FROM %I.processed_events AS p WHERE p.event_id = $1', v_esquema) USING p_event_id;
    GET DIAGNOSTICS v_apagados = ROW_COUNT;
    IF v_apagados = 0 THEN
        RAISE EXCEPTION 'O evento % ainda não foi tratado pela %; o despacho o fará em sua vez.', p_event_id, p_colonia
            USING ERRCODE = 'FM409';
    END IF;
    EXECUTE format('SELECT %I.tratar($1)', v_esquema) INTO v_resultado USING v_evento;
    RETURN v_resultado;
END
$$;

COMMENT ON FUNCTION core._reprocessar(text, uuid) IS
'Apaga a linha de processed_events do evento e o passa de novo pelo handler da colônia. Erros: FM404, FM409.';

GRANT EXECUTE ON FUNCTION core.reprocessar(uuid, text) TO formigueiro_dba;
GRANT EXECUTE ON FUNCTION core._reprocessar(text, uuid) TO d6b_dono, d8_dono;
