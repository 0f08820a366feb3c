-- A hora que uma varredura recebe: um instante de verdade.

CREATE OR REPLACE FUNCTION core.exigir_hora(p_agora timestamptz)
RETURNS void
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
AS $$
BEGIN
    IF p_agora IS NULL OR p_agora NOT BETWEEN timestamptz '0001-01-02 00:00:00+00' AND timestamptz '9999-12-30 00:00:00+00' THEN
        RAISE EXCEPTION 'O campo agora deve ser uma data-hora entre os anos 1 e 9999, e não %.', coalesce(p_agora::text, 'nulo')
            USING ERRCODE = 'FM422';
    END IF;
END
$$;

COMMENT ON FUNCTION core.exigir_hora(timestamptz) IS
'Levanta FM422 se a hora dada a uma varredura é nula, infinita ou fora dos anos 1 a 9999.';

GRANT EXECUTE ON FUNCTION core.exigir_hora(timestamptz) TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
