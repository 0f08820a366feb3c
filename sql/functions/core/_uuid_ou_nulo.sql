-- Conversão que não falha: um payload recusado pode trazer qualquer coisa onde devia haver um UUID.

CREATE OR REPLACE FUNCTION core._uuid_ou_nulo(p_texto text)
RETURNS uuid
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE
               WHEN p_texto ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN p_texto::uuid
           END
$$;

COMMENT ON FUNCTION core._uuid_ou_nulo(text) IS
'O texto como UUID, ou NULL se não tem a forma 8-4-4-4-12.';

GRANT EXECUTE ON FUNCTION core._uuid_ou_nulo(text) TO d6b_dono, d8_dono;
