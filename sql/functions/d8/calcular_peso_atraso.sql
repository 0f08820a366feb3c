-- O peso que a D-8 sugere à D-4 por atraso (D-8 4.2): sobe em linha reta até 30 dias, devagar até 90, e então é o teto.

CREATE OR REPLACE FUNCTION d8.calcular_peso_atraso(p_dias_atraso int)
RETURNS numeric
LANGUAGE sql
STABLE
AS $$
    SELECT d8.peso_atraso(p_dias_atraso,
                          (core.parametro('peso_atraso_fase1_max'))::float8,
                          (core.parametro('peso_atraso_fase2_max'))::float8,
                          (core.parametro('peso_atraso_teto'))::float8)
$$;

COMMENT ON FUNCTION d8.calcular_peso_atraso(int) IS
'Peso adicional sugerido por dias de atraso, com 4 casas, segundo os parâmetros peso_atraso_*; 0 no prazo, nulo
de nulo. Fonte: D-8 4.2, E30.';

CREATE OR REPLACE FUNCTION d8.peso_atraso(p_dias int, p_fase1_max float8, p_fase2_max float8, p_teto float8)
RETURNS numeric
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT round(CASE
                     WHEN p_dias <= 0 THEN 0
                     WHEN p_dias <= 30 THEN p_dias / 30.0::float8 * p_fase1_max
                     WHEN p_dias <= 90 THEN p_fase1_max + log(p_dias - 29.0::float8) / log(61.0::float8)
                                                          * (p_fase2_max - p_fase1_max)
                     WHEN p_dias > 90 THEN p_teto
                 END::numeric, 4)
$$;

COMMENT ON FUNCTION d8.peso_atraso(int, float8, float8, float8) IS
'A conta de d8.calcular_peso_atraso, com os parâmetros já lidos: a varredura os lê uma vez por lote.';

GRANT EXECUTE ON FUNCTION d8.calcular_peso_atraso(int), d8.peso_atraso(int, float8, float8, float8) TO formigueiro_dba;
