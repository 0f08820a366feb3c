-- A entrada de eventos da rede: qualquer produtor, e o DBA, pelo psql.

CREATE OR REPLACE FUNCTION core.publicar(
    p_tipo          text,
    p_payload       jsonb,
    p_origem        text,
    p_versao_schema text DEFAULT '1.0.0',
    p_event_id      uuid DEFAULT gen_random_uuid(),
    p_correlacao_id uuid DEFAULT NULL
)
RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_tipo IS NULL OR p_payload IS NULL OR p_origem IS NULL OR p_versao_schema IS NULL OR p_event_id IS NULL THEN
        RAISE EXCEPTION 'Campos obrigatórios: tipo, payload, origem, versao_schema e event_id.'
            USING ERRCODE = 'FM422';
    END IF;
    IF core._derivado(p_event_id) THEN
        RAISE EXCEPTION 'O campo event_id não pode ser um UUID de versão 8, que só as colônias derivam; use um de versão 4.'
            USING ERRCODE = 'FM422';
    END IF;
    IF NOT core._sem_restricao() THEN
        PERFORM core._exigir_produtor(p_tipo, p_versao_schema, p_origem);
    END IF;
    RETURN core._gravar_evento(p_tipo, p_payload, p_origem, p_versao_schema, p_event_id, p_correlacao_id, true);
END
$$;

COMMENT ON FUNCTION core.publicar(text, jsonb, text, text, uuid, uuid) IS
'Publica um evento e devolve seu sequence_number. p_origem é a colônia ("D-6a"); p_correlacao_id nulo vale o
event_id. Idempotente por event_id: o mesmo evento de novo devolve o primeiro número.
Erros: FM422 tipo ou versão desconhecidos, event_id de versão 8, ou payload com faltas (nomeadas, até trinta) ou de mais
bytes que limite_payload; FM409 event_id já publicado com outro conteúdo, sequência atrás do log ou log assinado de outro
servidor; FM403 papel que não publica esse tipo por essa colônia.';

GRANT EXECUTE ON FUNCTION core.publicar(text, jsonb, text, text, uuid, uuid) TO formigueiro_produtor;
