-- Quantos, no máximo: o que vem de fora numa função que toma um lote.

CREATE OR REPLACE FUNCTION core.exigir_limite(p_limite int)
RETURNS void
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    IF p_limite IS NULL OR p_limite < 1 THEN
        RAISE EXCEPTION 'O campo limite deve ser de pelo menos 1, e não %.', coalesce(p_limite::text, 'nulo')
            USING ERRCODE = 'FM422';
    END IF;
END
$$;

COMMENT ON FUNCTION core.exigir_limite(int) IS
'Levanta FM422 se o limite é nulo ou menor que 1.';

GRANT EXECUTE ON FUNCTION core.exigir_limite(int) TO d6b_dono, d8_dono;
