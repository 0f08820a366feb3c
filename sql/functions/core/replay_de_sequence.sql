-- Contrato do barramento (D-6b 5.1): eventos de certos tipos a partir de uma posição.

CREATE OR REPLACE FUNCTION core.replay_de_sequence(p_apos bigint, p_tipos text[], p_limite int DEFAULT 500)
RETURNS SETOF core.event_log
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM core.exigir_limite(p_limite, 'limite');
    IF p_apos IS NULL OR p_tipos IS NULL THEN
        RAISE EXCEPTION 'Campos obrigatórios: apos e tipos.' USING ERRCODE = 'FM422';
    END IF;
    RETURN QUERY
        SELECT e.*
          FROM core.event_log AS e
         WHERE e.sequence_number > p_apos
           AND e.tipo = ANY (p_tipos)
         ORDER BY e.sequence_number
         LIMIT p_limite;
END
$$;

COMMENT ON FUNCTION core.replay_de_sequence(bigint, text[], int) IS
'Até p_limite eventos dos tipos dados com sequence_number maior que p_apos, em ordem.
Erros: FM422 campo nulo ou limite menor que 1. Fonte: D-6b 5.1.';

GRANT EXECUTE ON FUNCTION core.replay_de_sequence(bigint, text[], int) TO d6b_dono, d8_dono, formigueiro_dba;
