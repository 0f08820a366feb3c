-- Todas as métricas do banco, para uma coleta do Prometheus: /metrics só lhes dá o formato.
--
-- SECURITY INVOKER: cada colônia mede o que é seu, em <esquema>.metricas(); o núcleo não lê as tabelas delas.
-- Uma coleta lê o que é pouco por natureza (o que está em aberto, por índices parciais) e o que já foi apurado; não
-- varre tabela que cresça com o uso.

CREATE OR REPLACE FUNCTION core.metricas()
RETURNS TABLE (nome text, rotulos jsonb, valor float8)
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_colonia record;
BEGIN
    RETURN QUERY SELECT * FROM core._metricas_do_barramento();
    RETURN QUERY SELECT * FROM core._metricas_da_agenda();
    RETURN QUERY SELECT * FROM core._metricas_da_copia();
    RETURN QUERY SELECT * FROM core._metricas_das_filas();

    RETURN QUERY
    SELECT m.nome, jsonb_build_object('colonia', f ->> 'colonia'), m.valor
      FROM jsonb_array_elements(core.filas_de_publicacao()) AS f
     CROSS JOIN LATERAL (VALUES ('formigueiro_publicacoes_pendentes', (f ->> 'pendentes')::float8),
                                ('formigueiro_publicacoes_atraso_segundos', (f ->> 'segundos')::float8))
                     AS m (nome, valor);

    FOR v_colonia IN SELECT c.esquema FROM core.consumidores AS c ORDER BY c.ordem LOOP
        RETURN QUERY EXECUTE format('SELECT m.nome, m.rotulos, m.valor FROM %I.metricas() AS m', v_colonia.esquema);
    END LOOP;
END
$$;

COMMENT ON FUNCTION core.metricas() IS
'Uma linha por série: nome, rótulos e valor das métricas do núcleo e das colônias; o que cada uma quer dizer está em
docs/referencia/metricas.md. Fonte: D-6b 8.3, D-8 8.3, projeto, seção 3.';

CREATE OR REPLACE FUNCTION core._metricas_do_barramento()
RETURNS TABLE (nome text, rotulos jsonb, valor float8)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    WITH colonias AS MATERIALIZED (
        SELECT c.colonia, p.retrato, c.lacuna_detentores
          FROM jsonb_array_elements(core.prontidao() -> 'colonias') AS p (retrato)
          JOIN core.consumidores AS c ON c.colonia = p.retrato ->> 'colonia'
    )
    SELECT 'formigueiro_barramento_sequencia', jsonb_build_object(), core.obter_maior_sequence()::float8
    UNION ALL
    SELECT 'formigueiro_barramento_' || m.nome, jsonb_build_object('colonia', c.colonia),
           (c.retrato ->> m.nome)::float8
      FROM colonias AS c
     CROSS JOIN (VALUES ('atraso_eventos'), ('atraso_segundos'), ('horizonte_retido_segundos')) AS m (nome)
    UNION ALL
    -- Por papel, e não por pid: um pid novo a cada lacuna faria crescer o número de séries. O pid está em core.estado().
    SELECT DISTINCT 'formigueiro_barramento_horizonte_detentor_segundos',
           jsonb_build_object('colonia', c.colonia, 'papel', coalesce(d ->> 'papel', 'transação preparada')),
           (c.retrato ->> 'horizonte_retido_segundos')::float8
      FROM colonias AS c
     CROSS JOIN LATERAL jsonb_array_elements(core._estado_dos_detentores(c.lacuna_detentores)) AS d
    UNION ALL
    SELECT 'formigueiro_barramento_leitura_detida', jsonb_build_object('colonia', c.colonia),
           (make_interval(secs => (c.retrato ->> 'horizonte_retido_segundos')::float8)
            > core._detencao_que_importa())::int::float8
      FROM colonias AS c
    UNION ALL
    SELECT 'formigueiro_dlq_entradas',
           jsonb_build_object('colonia', c.colonia, 'especie', e.especie, 'estado', s.estado),
           -- O que está em aberto tem um índice parcial, e o IN há de casar com ele. O encerrado só cresce: não se conta.
           (SELECT count(*)
              FROM core.dlq AS d
             WHERE d.estado IN ('pendente', 'em_espera')
               AND d.colonia = c.colonia
               AND d.especie = e.especie
               AND d.estado = s.estado)::float8
      FROM colonias AS c
     CROSS JOIN (VALUES ('evento'), ('saida')) AS e (especie)
     CROSS JOIN (VALUES ('pendente'), ('em_espera')) AS s (estado)
    UNION ALL
    SELECT 'formigueiro_dlq_idade_segundos', jsonb_build_object('colonia', c.colonia),
           coalesce((SELECT extract(epoch FROM clock_timestamp() - min(d.criado_em))
                       FROM core.dlq AS d
                      WHERE d.colonia = c.colonia
                        AND d.estado IN ('pendente', 'em_espera')), 0)::float8
      FROM colonias AS c
    UNION ALL
    SELECT 'formigueiro_ocorrencias_ultima_hora', jsonb_build_object('colonia', c.colonia, 'nivel', n.nivel),
           count(o.id)::float8
      FROM (SELECT colonia FROM colonias UNION ALL SELECT 'núcleo') AS c (colonia)
     CROSS JOIN (VALUES ('info'), ('aviso'), ('erro')) AS n (nivel)
      LEFT JOIN (SELECT o.id, o.nivel, coalesce(o.colonia, 'núcleo') AS colonia
                   FROM core.ocorrencias AS o
                  -- statement_timestamp, e não clock_timestamp: só uma função estável pode ser condição de índice.
                  WHERE o.criado_em > statement_timestamp() - interval '1 hour') AS o
             ON o.nivel = n.nivel
            AND o.colonia = c.colonia
     GROUP BY c.colonia, n.nivel
    UNION ALL
    SELECT 'formigueiro_trabalhador_lider', jsonb_build_object(), core.ha_lider()::int::float8
$$;

COMMENT ON FUNCTION core._metricas_do_barramento() IS
'As métricas do núcleo: leitura do barramento, horizonte e quem o detém, DLQ, ocorrências da última hora e liderança.';

CREATE OR REPLACE FUNCTION core._metricas_da_agenda()
RETURNS TABLE (nome text, rotulos jsonb, valor float8)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT m.nome, jsonb_build_object('agendamento', a.nome), m.valor
      FROM core.agendamentos AS a
     CROSS JOIN LATERAL (VALUES ('formigueiro_agendamento_idade_segundos',
                                 extract(epoch FROM clock_timestamp() - a.ultima_conclusao)::float8),
                                ('formigueiro_agendamento_atrasado', core.agendamento_atrasado(a)::int::float8))
                     AS m (nome, valor)
     WHERE m.valor IS NOT NULL
$$;

COMMENT ON FUNCTION core._metricas_da_agenda() IS
'Há quanto tempo cada agendamento acabou bem, e se passou da hora; o que ainda não acabou nenhuma vez não tem idade.';

CREATE OR REPLACE FUNCTION core.agendamento_atrasado(p_agendamento core.agendamentos)
RETURNS boolean
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    -- Duas horas marcadas perdidas, mais folga: uma só pode ser um reinício. O que nunca acabou tem um dia para começar.
    -- O percurso é dia por dia: o que passa de vinte anos não muda a resposta.
    SELECT CASE WHEN p_agendamento.nome IS NOT NULL THEN count(*) = 2 END
      FROM core.horas_marcadas(p_agendamento.cron,
                               greatest(CASE
                                            WHEN core.no_futuro(p_agendamento.ultima_conclusao) IS FALSE
                                                THEN p_agendamento.ultima_conclusao
                                            ELSE least(p_agendamento.criado_em, clock_timestamp()) + interval '1 day'
                                        END,
                                        clock_timestamp() - interval '20 years'),
                               clock_timestamp() - interval '10 minutes', 2)
$$;

COMMENT ON FUNCTION core.agendamento_atrasado(core.agendamentos) IS
'Se um agendamento não acabou bem desde antes de duas horas marcadas, a segunda há mais de dez minutos.';

GRANT EXECUTE ON FUNCTION core.metricas(), core._metricas_do_barramento(), core._metricas_da_agenda(),
                          core.agendamento_atrasado(core.agendamentos)
   TO formigueiro_app, formigueiro_dba;
