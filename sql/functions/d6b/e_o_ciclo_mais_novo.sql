-- De que ciclo é o resumo público da demanda: do mais novo, e só dele (N47).

CREATE OR REPLACE FUNCTION d6b.e_o_ciclo_mais_novo(p_acompanhamento d6b.acompanhamentos)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    -- Um ativo é sempre o mais novo, e um reatribuido nunca: quase sempre isto basta.
    RETURN p_acompanhamento.status IN ('aguardando_inicio', 'em_andamento')
        OR (p_acompanhamento.status <> 'reatribuido'
            AND NOT EXISTS (SELECT
                              FROM d6b.acompanhamentos AS a
                             WHERE a.demanda_id = p_acompanhamento.demanda_id
                               AND (a.status IN ('aguardando_inicio', 'em_andamento')
                                    OR a.criado_em > p_acompanhamento.criado_em)));
END
$$;

COMMENT ON FUNCTION d6b.e_o_ciclo_mais_novo(d6b.acompanhamentos) IS
'Se o acompanhamento, cuja linha quem chama travou e leu, é o último da demanda: nenhum outro se abriu depois dele. Fonte: N47.';
