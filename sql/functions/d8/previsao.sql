-- Os ciclos que virão, se cada um se executar no dia (D-8, E21).
--
-- Gerado no instante g, um ciclo marca o seguinte em g + intervalo, e executado no mesmo dia o deixa lá. O primeiro é
-- gerado em seu dia ou, se já passou, agora. Depois do primeiro ciclo da vida do projeto, só se gera o que cai dentro
-- da vida útil; o último é o que não deixa lugar a outro.

CREATE OR REPLACE FUNCTION d8.previsao(p_ate timestamptz, p_unidade_civica_id uuid DEFAULT NULL)
RETURNS TABLE (
    projeto_id          uuid,
    demanda_original_id uuid,
    ciclo_numero        int,
    data_prevista       timestamptz,
    ultimo              boolean
)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT core.exigir_valor(p_ate, 'ate');
    SELECT a.id,
           a.demanda_original_id,
           a.ciclo_atual + 1 + k.n,
           CASE WHEN k.n = 0 THEN a.proximo_ciclo ELSE d8.mais_dias(a.primeira_geracao, k.n * a.intervalo) END,
           d8.mais_dias(a.primeira_geracao, (k.n + 1) * a.intervalo) > a.fim
      FROM (SELECT p.id, p.demanda_original_id, p.ciclo_atual, p.proximo_ciclo,
                   greatest(p.proximo_ciclo, date_trunc('milliseconds', core.agora())) AS primeira_geracao,
                   (p.plano_manutencao -> 'intervalo_dias')::int AS intervalo,
                   d8.fim_da_vida(p) AS fim
              FROM d8.projetos_monitorados AS p
             WHERE p.status = 'ativo'
               AND p.proximo_ciclo <= p_ate
               AND d8.proxima_manutencao(p) IS NOT NULL
               AND (p_unidade_civica_id IS NULL OR p.uc_id = p_unidade_civica_id)) AS a
     CROSS JOIN LATERAL generate_series(
               0, greatest(0, floor(extract(epoch FROM least(p_ate, a.fim) - a.primeira_geracao)
                                    / (a.intervalo * 86400.0))::int)) AS k (n)
     WHERE a.intervalo > 0
       AND a.fim IS NOT NULL
     ORDER BY 4, 1
$$;

COMMENT ON FUNCTION d8.previsao(timestamptz, uuid) IS
'Cada ciclo futuro dos projetos ativos até p_ate, como a varredura o geraria se cada um se executasse no dia, com o
número esperado e se é o último antes do fim da vida útil; só de uma unidade cívica, se dada. p_ate infinito, até o
fim da vida de cada um. Erros: FM422 p_ate nulo. Fonte: E20, E21.';

GRANT EXECUTE ON FUNCTION d8.previsao(timestamptz, uuid) TO formigueiro_dba;
