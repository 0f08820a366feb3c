-- A única forma de uma data-hora dentro de um payload ou texto.

CREATE OR REPLACE FUNCTION core.iso(p_quando timestamptz)
RETURNS text
LANGUAGE sql
STABLE
PARALLEL SAFE
AS $$
    SELECT to_char(p_quando AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

COMMENT ON FUNCTION core.iso(timestamptz) IS
'Data-hora em ISO-8601, UTC, com milissegundos: ''2026-11-30T12:34:56.780Z''. Não depende do TimeZone da sessão.';

GRANT EXECUTE ON FUNCTION core.iso(timestamptz) TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
