-- As filas da rede, e se crescem: o que cada colônia tem por ler, e os textos que tem por publicar.
--
-- A idade do mais antigo diz que uma fila para; de uma que anda, mas mais devagar do que enche, só fala quando ela já é
-- enorme. Por isso um trabalho as mede a cada minuto, e uma fila cresce se é grande e cada medida passa a anterior: um
-- pico, por maior que seja, baixa em algum minuto.

CREATE OR REPLACE FUNCTION core.filas()
RETURNS TABLE (colonia text, fila text, tamanho bigint)
LANGUAGE sql
STABLE
AS $$
    -- SECURITY INVOKER, como core.filas_de_publicacao: cada colônia conta os seus textos.
    SELECT c.colonia, 'eventos', greatest(core.obter_maior_sequence() - c.posicao, 0)
      FROM core.consumidores AS c
    UNION ALL
    SELECT f ->> 'colonia', 'textos', (f ->> 'pendentes')::bigint
      FROM jsonb_array_elements(core.filas_de_publicacao()) AS f
$$;

COMMENT ON FUNCTION core.filas() IS
'O tamanho de cada fila, agora: eventos, os números de sequência que a colônia ainda não leu; textos, os que esperam o
trabalhador.';

CREATE OR REPLACE FUNCTION core.medir_filas()
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
    v_total int := 0;
    v_fila  record;
BEGIN
    FOR v_fila IN SELECT * FROM core.filas() LOOP
        PERFORM core._guardar_medida(v_fila.colonia, v_fila.fila, v_fila.tamanho);
        v_total := v_total + 1;
    END LOOP;
    PERFORM core.marcar_execucao('core-filas');
    RETURN v_total;
END
$$;

COMMENT ON FUNCTION core.medir_filas() IS
'Anota em core.medidas_das_filas o tamanho de cada fila, e esquece o que tem mais de uma hora; devolve quantas. Fonte: N70.';

CREATE OR REPLACE FUNCTION core._guardar_medida(p_colonia text, p_fila text, p_tamanho bigint)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF (p_colonia <> '' AND p_fila IN ('eventos', 'textos') AND p_tamanho >= 0) IS NOT TRUE THEN
        RAISE EXCEPTION 'O campo colonia é obrigatório; o campo fila, eventos ou textos; o campo tamanho, de pelo menos 0.'
            USING ERRCODE = 'FM422';
    END IF;
    DELETE FROM core.medidas_das_filas AS m
     WHERE m.colonia = p_colonia
       AND m.fila = p_fila
       -- A do futuro ficou de um relógio que depois recuou.
       AND (m.quando < clock_timestamp() - interval '1 hour' OR m.quando > clock_timestamp());
    INSERT INTO core.medidas_das_filas (colonia, fila, tamanho)
    SELECT c.colonia, p_fila, p_tamanho
      FROM core.consumidores AS c
     WHERE c.colonia = p_colonia
        ON CONFLICT DO NOTHING;
END
$$;

COMMENT ON FUNCTION core._guardar_medida(text, text, bigint) IS
'Uma medida de core.medir_filas. Erros: FM422 colônia nula ou vazia, fila que não há, ou tamanho nulo ou negativo.';

CREATE OR REPLACE FUNCTION core.crescimento_das_filas()
RETURNS TABLE (colonia text, fila text, tamanho bigint, crescimento bigint, segundos float8, crescente boolean)
LANGUAGE sql
STABLE
AS $$
    SELECT f.colonia, f.fila, f.tamanho, f.tamanho - m.primeira, m.segundos,
           coalesce(f.tamanho >= core._numero('fila_tamanho_atencao', 1e15)
                    AND m.medidas > core._numero('fila_minutos_crescente', 525600)::int
                    AND m.sempre
                    AND f.tamanho > m.ultima, false)
      FROM core.filas() AS f
     CROSS JOIN LATERAL core._medidas_recentes(f.colonia, f.fila) AS m
$$;

COMMENT ON FUNCTION core.crescimento_das_filas() IS
'De cada fila: tamanho, quanto cresceu desde a primeira das últimas medidas, há quantos segundos esta foi feita, e se é
crescente: com pelo menos fila_tamanho_atencao, e maior a cada minuto dos últimos fila_minutos_crescente. Sem medida
recente, crescimento e segundos são nulos. Fonte: N70.';

CREATE OR REPLACE FUNCTION core._medidas_recentes(
    p_colonia text, p_fila text, OUT medidas bigint, OUT primeira bigint, OUT ultima bigint, OUT sempre boolean,
    OUT segundos float8
)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT count(*),
           (array_agg(r.tamanho ORDER BY r.quando))[1],
           (array_agg(r.tamanho ORDER BY r.quando DESC))[1],
           coalesce(bool_and(r.tamanho > r.anterior), true),
           extract(epoch FROM clock_timestamp() - min(r.quando))::float8
      FROM (SELECT m.quando, m.tamanho, lag(m.tamanho) OVER (ORDER BY m.quando) AS anterior
              FROM (SELECT t.quando, t.tamanho
                      FROM core.medidas_das_filas AS t
                     WHERE t.colonia = p_colonia
                       AND t.fila = p_fila
                       -- Com folga: o trabalho atrasa, e o que foi medido há muito já não diz nada.
                       AND t.quando > clock_timestamp()
                                      - make_interval(mins => core._numero('fila_minutos_crescente', 525600)::int + 2)
                     ORDER BY t.quando DESC
                     LIMIT core._numero('fila_minutos_crescente', 525600)::int + 1) AS m) AS r
$$;

COMMENT ON FUNCTION core._medidas_recentes(text, text) IS
'As últimas medidas de uma fila: quantas, a primeira e a última, se cada uma passa a anterior e há quanto tempo foi a
primeira.';

CREATE OR REPLACE FUNCTION core.filas_crescentes()
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('colonia', c.colonia, 'fila', c.fila, 'tamanho', c.tamanho,
                                                 'crescimento', c.crescimento, 'segundos', c.segundos)
                              ORDER BY c.colonia, c.fila), '[]')
      FROM core.crescimento_das_filas() AS c
     WHERE c.crescente
$$;

COMMENT ON FUNCTION core.filas_crescentes() IS
'As filas que crescem: [{colonia, fila: eventos | textos, tamanho, crescimento, segundos}]; ver
core.crescimento_das_filas.';

CREATE OR REPLACE FUNCTION core._metricas_das_filas()
RETURNS TABLE (nome text, rotulos jsonb, valor float8)
LANGUAGE sql
STABLE
AS $$
    SELECT m.nome, jsonb_build_object('colonia', c.colonia, 'fila', c.fila), m.valor
      FROM core.crescimento_das_filas() AS c
     CROSS JOIN LATERAL (VALUES ('formigueiro_fila_crescimento', c.crescimento::float8),
                                ('formigueiro_fila_crescente', c.crescente::int::float8)) AS m (nome, valor)
     WHERE m.valor IS NOT NULL
$$;

COMMENT ON FUNCTION core._metricas_das_filas() IS
'De quanto cada fila cresceu nas últimas medidas, e se é crescente.';

GRANT EXECUTE ON FUNCTION core.filas(), core.medir_filas(), core._guardar_medida(text, text, bigint),
                          core.crescimento_das_filas(), core._medidas_recentes(text, text), core.filas_crescentes(),
                          core._metricas_das_filas()
   TO formigueiro_app, formigueiro_dba;
