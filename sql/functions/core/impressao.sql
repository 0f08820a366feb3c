-- Impressão digital de um evento.

CREATE OR REPLACE FUNCTION core.impressao(p_tipo text, p_versao_schema text, p_payload text)
RETURNS bytea
LANGUAGE sql
STABLE
PARALLEL SAFE
AS $$
    SELECT sha256(convert_to(p_tipo || E'\n' || p_versao_schema || E'\n' || p_payload, 'UTF8'))
$$;

COMMENT ON FUNCTION core.impressao(text, text, text) IS
'SHA-256 de tipo, versão e payload, este como o jsonb se escreve: o que faz de dois eventos o mesmo evento.';
