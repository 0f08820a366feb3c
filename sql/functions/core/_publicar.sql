-- A porta dos donos de colônia para publicar; os demais entram por core.publicar, que confere quem são.

CREATE OR REPLACE FUNCTION core._publicar(
    p_tipo          text,
    p_payload       jsonb,
    p_origem        text,
    p_versao_schema text,
    p_event_id      uuid,
    p_correlacao_id uuid
)
RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN core._gravar_evento(p_tipo, p_payload, p_origem, p_versao_schema, p_event_id, p_correlacao_id, false);
END
$$;

COMMENT ON FUNCTION core._publicar(text, jsonb, text, text, uuid, uuid) IS
'Publica um evento e devolve seu sequence_number; o mesmo evento de novo devolve o primeiro número.
Erros: FM422 tipo, versão ou payload recusado pelo Registro; FM409 event_id com outro conteúdo. Fonte: regras 1 e 7.';

GRANT EXECUTE ON FUNCTION core._publicar(text, jsonb, text, text, uuid, uuid) TO d6b_dono, d8_dono;
