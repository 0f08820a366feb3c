-- As métricas da D-6b (8.3): as que custam ler tabelas inteiras são apuradas a cada cinco minutos; as outras, na hora.

CREATE OR REPLACE FUNCTION d6b.apurar_medidas()
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_total int;
BEGIN
    WITH ciclos AS MATERIALIZED (
        SELECT a.status,
               count(*) AS quantos,
               avg(extract(epoch FROM a.data_conclusao - a.data_sorteio)) / 86400 AS dias
          FROM d6b.acompanhamentos AS a
         GROUP BY a.status
    ), relatos AS MATERIALIZED (
        SELECT u.tipo, count(*) AS quantos FROM d6b.atualizacoes AS u GROUP BY u.tipo
    ), apuradas AS (
        SELECT 'd6b_acompanhamentos_ativos' AS nome, jsonb_build_object('status', s.status) AS rotulos,
               coalesce(c.quantos, 0)::float8 AS valor
          FROM (VALUES ('aguardando_inicio'), ('em_andamento')) AS s (status)
          LEFT JOIN ciclos AS c ON c.status = s.status
        UNION ALL
        SELECT 'd6b_atualizacoes_por_tipo', jsonb_build_object('tipo', t.tipo), coalesce(r.quantos, 0)::float8
          FROM (VALUES ('contato_realizado'), ('protocolo_aberto'), ('documento_anexado'), ('entrave_registrado'),
                       ('status_atualizado'), ('prazo_registrado')) AS t (tipo)
          LEFT JOIN relatos AS r ON r.tipo = t.tipo
        UNION ALL
        SELECT 'd6b_tempo_medio_conclusao', jsonb_build_object(), coalesce(min(c.dias), 'NaN')::float8
          FROM ciclos AS c
         WHERE c.status = 'concluido'
        UNION ALL
        SELECT 'd6b_taxa_conclusao', jsonb_build_object(),
               coalesce(coalesce(sum(c.quantos) FILTER (WHERE c.status = 'concluido'), 0) / sum(c.quantos), 'NaN')::float8
          FROM ciclos AS c
         WHERE c.status NOT IN ('aguardando_inicio', 'em_andamento')
        UNION ALL
        SELECT 'd6b_alertas_prazo', jsonb_build_object(), count(*)::float8
          FROM d6b.prazos AS p
         WHERE p.alerta_enviado
        UNION ALL
        SELECT 'd6b_atualizacoes_excedentes', jsonb_build_object(), count(*)::float8
          FROM d6b.atualizacoes_excedentes AS x
    )
    INSERT INTO d6b.medidas AS m (nome, rotulos, valor, apurada_em)
    SELECT a.nome, a.rotulos, a.valor, clock_timestamp()
      FROM apuradas AS a
     ORDER BY a.nome, a.rotulos  -- a mesma ordem em toda sessão: duas apurações juntas não se travam
        ON CONFLICT (nome, rotulos) DO UPDATE
       SET valor = EXCLUDED.valor,
           apurada_em = EXCLUDED.apurada_em;
    GET DIAGNOSTICS v_total = ROW_COUNT;
    PERFORM core.marcar_execucao('d6b-medidas');
    RETURN v_total;
END
$$;

COMMENT ON FUNCTION d6b.apurar_medidas() IS
'Apura em d6b.medidas as métricas que custam ler tabelas inteiras; devolve quantas. Pode rodar em várias sessões.
Fonte: D-6b 8.3.';

CREATE OR REPLACE FUNCTION d6b.metricas()
RETURNS TABLE (nome text, rotulos jsonb, valor float8)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT m.nome, m.rotulos, m.valor FROM d6b.medidas AS m
    UNION ALL
    SELECT 'formigueiro_medidas_idade_segundos', jsonb_build_object('colonia', 'D-6b'),
           extract(epoch FROM clock_timestamp() - m.apurada_em)::float8
      FROM (SELECT min(apurada_em) FROM d6b.medidas) AS m (apurada_em)
     WHERE m.apurada_em IS NOT NULL
    UNION ALL
    SELECT 'd6b_sorteios_tardios_total', jsonb_build_object(), count(*)::float8 FROM d6b.sorteios_tardios
    UNION ALL
    SELECT 'formigueiro_publicacoes_com_erro', jsonb_build_object('colonia', 'D-6b'), p.com_erro::float8
      FROM d6b.publicacoes_em_espera() AS p
    UNION ALL
    SELECT s.nome, jsonb_build_object('colonia', 'D-6b'), s.valor
      FROM d6b.saidas_em_espera() AS e
     CROSS JOIN LATERAL (VALUES ('formigueiro_saidas_conclusao_pendentes', e.espera::float8),
                                ('formigueiro_saidas_conclusao_atraso_segundos',
                                 coalesce(greatest(extract(epoch FROM core.agora() - e.mais_antiga), 0), 0)::float8))
                     AS s (nome, valor)
$$;

COMMENT ON FUNCTION d6b.metricas() IS
'As métricas da D-6b, para core.metricas(): as apuradas, a idade da apuração e o que se conta na hora, por índice
parcial. Fonte: D-6b 8.3, E02, E04, E09.';

GRANT EXECUTE ON FUNCTION d6b.apurar_medidas(), d6b.metricas() TO formigueiro_app, formigueiro_dba;
