-- O operador tenta de novo, agora, uma entrada da DLQ.

CREATE OR REPLACE FUNCTION core.dlq_reprocessar(p_id bigint)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_resultado text;
BEGIN
    PERFORM core._contar_tentativa(p_id);
    EXECUTE format('SELECT %I.tentar_dlq($1)', core._esquema_da_dlq(p_id)) INTO v_resultado USING p_id;
    RETURN v_resultado;
END
$$;

COMMENT ON FUNCTION core.dlq_reprocessar(bigint) IS
'Tenta de novo uma entrada pendente da DLQ e devolve o resultado do handler, ''publicada'' ou ''falhou: …''.
Erros: FM404 entrada inexistente; FM409 entrada que espera outra ou já encerrada. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core.dlq_descartar(p_id bigint, p_motivo text)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    EXECUTE format('SELECT %I.descartar_dlq($1, $2)', core._esquema_da_dlq(p_id)) USING p_id, p_motivo;
END
$$;

COMMENT ON FUNCTION core.dlq_descartar(bigint, text) IS
'Encerra uma entrada em aberto da DLQ sem tratá-la; as seguintes de sua chave voltam a andar, em ordem.
Erros: FM404 entrada inexistente; FM409 já encerrada; FM422 sem motivo. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._contar_tentativa(p_id bigint)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- A linha da colônia primeiro, como no dreno.
    PERFORM FROM core.consumidores AS c WHERE c.colonia = (SELECT d.colonia FROM core.dlq AS d WHERE d.id = p_id) FOR UPDATE;
    UPDATE core.dlq AS d SET tentativas = d.tentativas + 1 WHERE d.id = p_id AND d.estado = 'pendente';
END
$$;

COMMENT ON FUNCTION core._contar_tentativa(bigint) IS
'Conta a tentativa que um operador vai fazer de uma entrada pendente; vale se a tentativa terminar, dê no que der.';

CREATE OR REPLACE FUNCTION core._esquema_da_dlq(p_id bigint)
RETURNS name
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_esquema name;
BEGIN
    SELECT c.esquema INTO v_esquema
      FROM core.dlq AS d
      JOIN core.consumidores AS c ON c.colonia = d.colonia
     WHERE d.id = p_id;
    IF v_esquema IS NULL THEN
        RAISE EXCEPTION 'A entrada % não existe na DLQ.', p_id USING ERRCODE = 'FM404';
    END IF;
    RETURN v_esquema;
END
$$;

COMMENT ON FUNCTION core._esquema_da_dlq(bigint) IS
'Esquema da colônia dona de uma entrada da DLQ. Erros: FM404 inexistente.';

GRANT EXECUTE ON FUNCTION core.dlq_reprocessar(bigint), core.dlq_descartar(bigint, text),
                          core._contar_tentativa(bigint), core._esquema_da_dlq(bigint)
   TO formigueiro_dba;
