-- A leitura do dreno: os eventos que a colônia consome, da posição ao horizonte, em ordem.
--
-- Vai pela chave primária: a posição avança sobre tudo, e cada linha do log é lida uma vez por colônia.

CREATE OR REPLACE FUNCTION core._a_ler(p_cursores jsonb, p_posicao bigint, p_horizonte bigint, p_limite int)
RETURNS SETOF core.event_log
LANGUAGE sql
STABLE
AS $$
    SELECT e.*
      FROM core.event_log AS e
     WHERE e.sequence_number > p_posicao
       AND e.sequence_number <= p_horizonte
       -- Falso também para o tipo que não se consome; e, depois de um recuo, para o que esse tipo já passou.
       AND e.sequence_number > (p_cursores ->> e.tipo)::bigint
     ORDER BY e.sequence_number
     LIMIT p_limite
$$;

COMMENT ON FUNCTION core._a_ler(jsonb, bigint, bigint, int) IS
'Até p_limite eventos depois de p_posicao, sem passar de p_horizonte; p_cursores é {tipo: até onde já foi lido}.';

GRANT EXECUTE ON FUNCTION core._a_ler(jsonb, bigint, bigint, int) TO d6b_dono, d8_dono;
