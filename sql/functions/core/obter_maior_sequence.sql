-- Contrato do barramento (D-6b 5.1): o maior número publicado.

CREATE OR REPLACE FUNCTION core.obter_maior_sequence()
RETURNS bigint
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT coalesce(max(e.sequence_number), 0) FROM core.event_log AS e);
END
$$;

COMMENT ON FUNCTION core.obter_maior_sequence() IS
'Maior sequence_number visível, 0 sem eventos. Não é um horizonte seguro: números menores podem ainda surgir.';

GRANT EXECUTE ON FUNCTION core.obter_maior_sequence()
   TO d6b_dono, d8_dono, formigueiro_produtor, formigueiro_app, formigueiro_dba;
