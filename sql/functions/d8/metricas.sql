-- As métricas da D-8 (8.3), apuradas a cada cinco minutos: a coleta só lê o resultado.

CREATE OR REPLACE FUNCTION d8.apurar_medidas()
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_total int;
BEGIN
    INSERT INTO d8.medidas AS m (nome, valor, apurada_em)
    SELECT a.nome, a.valor, clock_timestamp()
      FROM d8.contadores AS c
     CROSS JOIN LATERAL (VALUES ('d8_projetos_ativos', c.projetos_ativos::float8),
                                ('d8_demandas_geradas_total', c.demandas_geradas::float8),
                                ('d8_ciclos_encerrados_total', c.ciclos_encerrados::float8),
                                ('d8_atraso_medio_dias', coalesce(c.atraso_medio_dias, 'NaN')::float8),
                                ('d8_peso_atraso_medio', coalesce(c.peso_atraso_medio, 'NaN')::float8))
                     AS a (nome, valor)
     ORDER BY a.nome  -- a mesma ordem em toda sessão: duas apurações juntas não se travam
        ON CONFLICT (nome, rotulos) DO UPDATE
       SET valor = EXCLUDED.valor,
           apurada_em = EXCLUDED.apurada_em;
    GET DIAGNOSTICS v_total = ROW_COUNT;
    PERFORM core.marcar_execucao('d8-medidas');
    RETURN v_total;
END
$$;

COMMENT ON FUNCTION d8.apurar_medidas() IS
'Apura em d8.medidas as métricas da D-8, de d8.contadores; devolve quantas. Pode rodar em várias sessões.
Fonte: D-8 8.1 e 8.3.';

CREATE OR REPLACE FUNCTION d8.metricas()
RETURNS TABLE (nome text, rotulos jsonb, valor float8)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT m.nome, m.rotulos, m.valor FROM d8.medidas AS m
    UNION ALL
    SELECT 'formigueiro_medidas_idade_segundos', jsonb_build_object('colonia', 'D-8'),
           extract(epoch FROM clock_timestamp() - m.apurada_em)::float8
      FROM (SELECT min(apurada_em) FROM d8.medidas) AS m (apurada_em)
     WHERE m.apurada_em IS NOT NULL
$$;

COMMENT ON FUNCTION d8.metricas() IS
'As métricas da D-8, para core.metricas(): as apuradas e a idade da apuração. Fonte: D-8 8.3.';

GRANT EXECUTE ON FUNCTION d8.apurar_medidas(), d8.metricas() TO formigueiro_app, formigueiro_dba;
