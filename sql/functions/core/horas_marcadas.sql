-- As horas que uma linha de cron marca: dia por dia, e não minuto por minuto, pois entre duas pode haver anos.

CREATE OR REPLACE FUNCTION core.horas_marcadas(p_cron text, p_apos timestamptz, p_ate timestamptz, p_limite int)
RETURNS SETOF timestamptz
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    v_campos   CONSTANT text[] := string_to_array(p_cron, ' ');
    v_minutos  CONSTANT int[] := core._valores_do_cron(v_campos[1], 0, 59);
    v_horas    CONSTANT int[] := core._valores_do_cron(v_campos[2], 0, 23);
    v_dias     CONSTANT int[] := core._valores_do_cron(v_campos[3], 1, 31);
    v_meses    CONSTANT int[] := core._valores_do_cron(v_campos[4], 1, 12);
    v_semana   CONSTANT int[] := core._valores_do_cron(v_campos[5], 0, 7);
    -- Como no cron: dados os dois, o dia do mês ou o da semana; se um deles é *, o outro.
    v_um_deles CONSTANT boolean := NOT (starts_with(v_campos[3], '*') OR starts_with(v_campos[5], '*'));
    v_faltam   int := p_limite;
    v_dia      timestamp;
    v_do_mes   boolean;
    v_da_semana boolean;
    v_hora     timestamptz;
BEGIN
    FOR v_dia IN SELECT generate_series(date_trunc('day', p_apos AT TIME ZONE 'UTC'), p_ate AT TIME ZONE 'UTC', '1 day')
    LOOP
        v_do_mes := extract(day FROM v_dia) = ANY (v_dias);
        v_da_semana := extract(dow FROM v_dia) = ANY (v_semana) OR extract(isodow FROM v_dia) = ANY (v_semana);
        CONTINUE WHEN NOT extract(month FROM v_dia) = ANY (v_meses)
                      OR NOT CASE WHEN v_um_deles THEN v_do_mes OR v_da_semana ELSE v_do_mes AND v_da_semana END;
        FOR v_hora IN
            SELECT h.hora
              FROM unnest(v_horas) AS o (hora)
             CROSS JOIN unnest(v_minutos) AS m (minuto)
             CROSS JOIN LATERAL (SELECT (v_dia + make_interval(hours => o.hora, mins => m.minuto)) AT TIME ZONE 'UTC')
                             AS h (hora)
             WHERE h.hora > p_apos
               AND h.hora <= p_ate
             ORDER BY h.hora
             LIMIT v_faltam
        LOOP
            RETURN NEXT v_hora;
            v_faltam := v_faltam - 1;
        END LOOP;
        EXIT WHEN v_faltam = 0;
    END LOOP;
END
$$;

COMMENT ON FUNCTION core.horas_marcadas(text, timestamptz, timestamptz, int) IS
'As primeiras p_limite horas, em ordem, que uma linha de cron válida marca (em UTC) depois de p_apos e até p_ate.';
