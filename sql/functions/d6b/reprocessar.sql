-- A porta da D-6b para core.reprocessar, com a guarda que só ela conhece: um sorteio antigo não desfaz o atual.

CREATE OR REPLACE FUNCTION d6b.reprocessar(p_event_id uuid)
RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF EXISTS (SELECT
                 FROM core.event_log AS e
                 JOIN core.event_log AS depois ON depois.chave = e.chave
                WHERE e.event_id = p_event_id
                  AND e.tipo = 'conselheiro.sorteado'
                  AND depois.tipo = 'conselheiro.sorteado'
                  AND depois.sequence_number > e.sequence_number) THEN
        RAISE EXCEPTION 'O sorteio % é anterior ao último de sua demanda.', p_event_id USING ERRCODE = 'FM409';
    END IF;
    -- Se ainda passa do teto, o handler a põe de volta.
    DELETE FROM d6b.atualizacoes_excedentes AS x WHERE x.event_id = p_event_id;
    RETURN core._reprocessar('D-6b', p_event_id);
END
$$;

COMMENT ON FUNCTION d6b.reprocessar(uuid) IS
'Ver core.reprocessar. Erros: FM404; FM409, também para um sorteio anterior ao último de sua demanda.';

GRANT EXECUTE ON FUNCTION d6b.reprocessar(uuid) TO formigueiro_dba;
