-- O dia no fuso civil, para o que as pessoas chamam de "hoje" (E10).

CREATE OR REPLACE FUNCTION core.dia_civico(p_quando timestamptz)
RETURNS date
LANGUAGE sql
STABLE
AS $$
    SELECT (p_quando AT TIME ZONE (core.parametro('fuso_horario') #>> '{}'))::date
$$;

COMMENT ON FUNCTION core.dia_civico(timestamptz) IS
'Data de p_quando no fuso do parâmetro fuso_horario. Fonte: E10.';

GRANT EXECUTE ON FUNCTION core.dia_civico(timestamptz) TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
