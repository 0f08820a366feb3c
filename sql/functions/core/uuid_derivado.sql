-- Identificador que se recalcula em vez de se guardar: a mesma semente dá sempre o mesmo UUID.

CREATE OR REPLACE FUNCTION core.uuid_derivado(VARIADIC p_semente text[])
RETURNS uuid
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    -- Os bits de versão (8, "definida por quem gera") e de variante são os da RFC 9562.
    SELECT overlay(overlay(m.resumo PLACING '8' FROM 13) PLACING 'a' FROM 17)::uuid
      FROM md5(array_to_string(p_semente, '/', '')) AS m (resumo)
$$;

COMMENT ON FUNCTION core.uuid_derivado(text[]) IS
'UUIDv8 derivado da semente: torna idempotente o que é publicado ou criado mais de uma vez (E05, E23).';

GRANT EXECUTE ON FUNCTION core.uuid_derivado(text[]) TO d6b_dono, d8_dono;
