-- O dia no fuso civil, para o que as pessoas chamam de "hoje" (E10).

CREATE OR REPLACE FUNCTION core.dia_civico(p_quando timestamptz)
RETURNS date
LANGUAGE sql
STABLE
AS $$
    SELECT (CASE WHEN core.no_calendario(p_quando) THEN p_quando
                 WHEN p_quando IS NOT NULL THEN core.recusar(p_quando, 'quando', 'uma data-hora entre os anos 1 e 9999')
            END AT TIME ZONE (core.parametro('fuso_horario') #>> '{}'))::date
$$;

COMMENT ON FUNCTION core.dia_civico(timestamptz) IS
'Data de p_quando no fuso do parâmetro fuso_horario; NULL de nulo. Erros: FM422 hora infinita ou fora dos anos 1 a 9999.
Fonte: E10.';

GRANT EXECUTE ON FUNCTION core.dia_civico(timestamptz) TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
