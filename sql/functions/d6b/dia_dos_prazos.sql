-- O único lugar que diz se um prazo já passou (E10): na noite de São Paulo já é outro dia em UTC, e na manhã de Tóquio
-- ainda é o anterior. Um dia só acabou quando acabou nos dois.

CREATE OR REPLACE FUNCTION d6b.dia_dos_prazos(p_quando timestamptz)
RETURNS date
LANGUAGE sql
STABLE
AS $$
    SELECT least((p_quando AT TIME ZONE 'UTC')::date, core.dia_civico(p_quando))
$$;

COMMENT ON FUNCTION d6b.dia_dos_prazos(timestamptz) IS
'O primeiro dia que, em p_quando, ainda não acabou em UTC e no fuso civil: passou o prazo de data anterior a ele. Fonte: E10.';

GRANT EXECUTE ON FUNCTION d6b.dia_dos_prazos(timestamptz) TO formigueiro_app, formigueiro_dba;
