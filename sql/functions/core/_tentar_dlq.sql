-- Uma nova tentativa de uma entrada da DLQ, e o que ela solta (regra 4). SECURITY INVOKER: roda como a colônia.

CREATE OR REPLACE FUNCTION core._tentar_dlq(p_colonia text, p_id bigint)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_dlq       core.dlq := core._travar_dlq(p_colonia, p_id);
    v_evento    core.event_log;
    v_esquema   name;
    v_resultado text := 'publicada';
    v_erro      text;
    v_sqlstate  text;
BEGIN
    IF v_dlq.estado <> 'pendente' THEN
        RAISE EXCEPTION 'A entrada % da DLQ não está pendente, e sim %.', p_id, v_dlq.estado
            USING ERRCODE = 'FM409';
    END IF;

    BEGIN
        IF v_dlq.especie = 'saida' THEN
            PERFORM core._publicar_saida(p_colonia, v_dlq.saida);
        ELSE
            SELECT * INTO STRICT v_evento FROM core.event_log AS e WHERE e.event_id = v_dlq.event_id;
            SELECT c.esquema INTO STRICT v_esquema FROM core.consumidores AS c WHERE c.colonia = p_colonia;
            -- Resolve antes de tratar: as saídas do próprio evento não hão de esperar por ele.
            UPDATE core.dlq AS d SET estado = 'resolvida' WHERE d.id = p_id;
            EXECUTE format('SELECT %I.tratar($1)', v_esquema) INTO v_resultado USING v_evento;
        END IF;
    EXCEPTION WHEN OTHERS OR assert_failure THEN
        GET STACKED DIAGNOSTICS v_erro = MESSAGE_TEXT, v_sqlstate = RETURNED_SQLSTATE;
        v_erro := core._motivo_da_falha(v_sqlstate, v_erro);
        UPDATE core.dlq AS d
           SET sqlstate = v_sqlstate,
               ultimo_erro = v_erro,
               atualizado_em = clock_timestamp()
         WHERE d.id = p_id;
        v_resultado := 'falhou: ' || v_erro;
    END;

    INSERT INTO core.dlq_tentativas (dlq_id, numero, resultado, sqlstate)
    SELECT p_id, greatest(v_dlq.tentativas, coalesce(max(t.numero), 0) + 1), v_resultado, v_sqlstate
      FROM core.dlq_tentativas AS t
     WHERE t.dlq_id = p_id;
    IF v_sqlstate IS NULL THEN
        PERFORM core._fechar_dlq(v_dlq, 'resolvida', NULL);
    END IF;
    RETURN v_resultado;
END
$$;

COMMENT ON FUNCTION core._tentar_dlq(text, bigint) IS
'Trata ou publica de novo uma entrada pendente e, se der certo, resolve-a e solta a seguinte de sua chave; a tentativa
fica em core.dlq_tentativas. Devolve o resultado do handler, ''publicada'' ou ''falhou: …''. Erros: FM404 inexistente; FM409 não pendente. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._descartar_dlq(p_colonia text, p_id bigint, p_motivo text)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_dlq core.dlq := core._travar_dlq(p_colonia, p_id);
BEGIN
    IF coalesce(btrim(p_motivo), '') = '' THEN
        RAISE EXCEPTION 'O campo motivo é obrigatório para descartar.' USING ERRCODE = 'FM422';
    END IF;
    IF v_dlq.estado NOT IN ('pendente', 'em_espera') THEN
        RAISE EXCEPTION 'A entrada % da DLQ já está %.', p_id, v_dlq.estado USING ERRCODE = 'FM409';
    END IF;
    PERFORM core._fechar_dlq(v_dlq, 'descartada', p_motivo);
    PERFORM core.registrar('aviso', 'Entrada da DLQ descartada',
                           jsonb_build_object('colonia', p_colonia, 'event_id', v_dlq.event_id, 'dlq_id', p_id,
                                              'motivo', p_motivo));
END
$$;

COMMENT ON FUNCTION core._descartar_dlq(text, bigint, text) IS
'Encerra sem tratar uma entrada em aberto, com motivo, e solta a seguinte de sua chave. Erros: FM404 inexistente;
FM409 já encerrada; FM422 sem motivo. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._travar_dlq(p_colonia text, p_id bigint)
RETURNS core.dlq
LANGUAGE plpgsql
AS $$
DECLARE
    v_dlq core.dlq;
BEGIN
    -- A linha da colônia primeiro, como no dreno: quem lê a chave e quem a solta se alternam.
    PERFORM FROM core.consumidores AS c WHERE c.colonia = p_colonia FOR UPDATE;
    SELECT * INTO v_dlq FROM core.dlq AS d WHERE d.id = p_id AND d.colonia = p_colonia FOR UPDATE;
    IF v_dlq.id IS NULL THEN
        RAISE EXCEPTION 'A entrada % não existe na DLQ da %.', p_id, p_colonia USING ERRCODE = 'FM404';
    END IF;
    RETURN v_dlq;
END
$$;

COMMENT ON FUNCTION core._travar_dlq(text, bigint) IS
'Trava a colônia e a entrada, e devolve a entrada. Erros: FM404 inexistente.';

CREATE OR REPLACE FUNCTION core._fechar_dlq(p_dlq core.dlq, p_estado text, p_motivo text)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_marca bigint;
BEGIN
    -- A tentativa que deu certo já a resolveu, mas até aqui ela segurava o cursor.
    v_marca := least(core._marca_do_tipo(p_dlq.colonia, p_dlq.tipo), p_dlq.sequence_number - 1);
    UPDATE core.dlq AS d
       SET estado = p_estado,
           motivo = p_motivo,
           proxima_tentativa = NULL,
           atualizado_em = clock_timestamp()
     WHERE d.id = p_dlq.id;
    PERFORM core._acertar_cursor(p_dlq.colonia, p_dlq.tipo, v_marca);
    PERFORM core._por_na_vez(p_dlq.colonia, p_dlq.chave);
END
$$;

COMMENT ON FUNCTION core._fechar_dlq(core.dlq, text, text) IS
'Encerra uma entrada, leva os cursores adiante e põe na vez a seguinte de sua chave. Fonte: regra 4.';

-- Quem guarda uma saída não segura a colônia, e pode ver em aberto a entrada que outro está encerrando, o qual ainda não
-- vê a guardada. Por isso os dois travam os cursores antes de olhar de quem é a vez: o segundo a travá-los vê tudo.
CREATE OR REPLACE FUNCTION core._por_na_vez(p_colonia text, p_chave text)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE core.dlq AS d
       SET estado = 'pendente',
           proxima_tentativa = clock_timestamp(),
           atualizado_em = clock_timestamp()
     WHERE d.id = (SELECT e.id
                     FROM core.dlq AS e
                    WHERE e.colonia = p_colonia
                      AND e.chave = p_chave
                      AND e.estado IN ('pendente', 'em_espera')
                    ORDER BY e.estado DESC, e.sequence_number, e.id  -- 'pendente' antes de 'em_espera'
                    LIMIT 1)
       AND d.estado = 'em_espera';
END
$$;

COMMENT ON FUNCTION core._por_na_vez(text, text) IS
'Se nenhuma entrada da chave está pendente, faz pendente a primeira das que esperam. Quem chama já travou os cursores da
colônia (core._acertar_cursor). Fonte: regra 4.';

GRANT EXECUTE ON FUNCTION core._tentar_dlq(text, bigint), core._descartar_dlq(text, bigint, text),
                          core._travar_dlq(text, bigint), core._fechar_dlq(core.dlq, text, text),
                          core._por_na_vez(text, text)
   TO d6b_dono, d8_dono;
