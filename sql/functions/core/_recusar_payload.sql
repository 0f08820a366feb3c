-- O caminho lento da validação: nomeia todas as faltas e recusa.

CREATE OR REPLACE FUNCTION core._recusar_payload(p_tipo text, p_versao_schema text, p_payload jsonb)
RETURNS void
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_faltas text[] := registro.faltas(p_tipo, p_versao_schema, p_payload);
BEGIN
    IF v_faltas IS NULL THEN
        RAISE EXCEPTION 'O Registro não conhece o tipo % na versão %.', core.citar(p_tipo), core.citar(p_versao_schema)
            USING ERRCODE = 'FM422';
    END IF;
    RAISE EXCEPTION 'Payload de % % recusado: %.', p_tipo, p_versao_schema, core.citar_faltas(v_faltas)
        USING ERRCODE = 'FM422';
END
$$;

COMMENT ON FUNCTION core._recusar_payload(text, text, jsonb) IS
'Sempre levanta FM422: tipo ou versão que o Registro não conhece, ou cada falta do payload, até trinta e quantas mais.
Fonte: regra 11, N72.';

GRANT EXECUTE ON FUNCTION core._recusar_payload(text, text, jsonb) TO d6b_dono, d8_dono;
