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

-- Quem adivinhasse um derivado e o publicasse antes deteria para sempre o que a colônia publicará com ele.
CREATE OR REPLACE FUNCTION core._derivado(p_event_id uuid)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT get_byte(uuid_send(p_event_id), 6) >> 4 = 8
$$;

COMMENT ON FUNCTION core._derivado(uuid) IS
'Se um UUID é de versão 8, a de core.uuid_derivado: reservada às colônias, e recusada a quem publica de fora (N68).';

GRANT EXECUTE ON FUNCTION core.uuid_derivado(text[]) TO d6b_dono, d8_dono;
