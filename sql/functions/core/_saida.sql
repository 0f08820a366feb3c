-- A forma de uma saída, no snapshot, na DLQ e na publicação.

CREATE OR REPLACE FUNCTION core._saida(
    p_tipo text, p_versao_schema text, p_payload jsonb, p_correlacao_id uuid, p_event_id uuid DEFAULT gen_random_uuid()
)
RETURNS jsonb
LANGUAGE sql
VOLATILE
AS $$
    SELECT jsonb_build_object('tipo', p_tipo, 'versao_schema', p_versao_schema, 'event_id', p_event_id,
                              'correlacao_id', p_correlacao_id, 'payload', p_payload)
$$;

COMMENT ON FUNCTION core._saida(text, text, jsonb, uuid, uuid) IS
'Monta uma saída {tipo, versao_schema, event_id, correlacao_id, payload}. Fonte: E04, regra 5.';

GRANT EXECUTE ON FUNCTION core._saida(text, text, jsonb, uuid, uuid) TO d6b_dono, d8_dono;
