-- O fim comum dos handlers: uma linha em processed_events, seja qual for o resultado (regras 1 e 6).
--
-- A ordem dos ids é a ordem em que os eventos foram aplicados a cada projeto, e d8.reconstruir() conta com ela (E23):
-- quem altera um projeto só chama marcar_processado depois de travar a linha dele.

CREATE OR REPLACE FUNCTION d8.ja_processado(p_evento core.event_log)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    -- Todo handler passa por aqui antes de mudar o que seja: uma comparação só, e nunca uma consulta.
    IF (p_evento.tipo = ANY (d8.tipos_consumidos()) AND core.no_calendario(p_evento.publicado_em)) IS NOT TRUE
       OR num_nulls(p_evento.event_id, p_evento.sequence_number, p_evento.origem, p_evento.versao_schema,
                    p_evento.correlacao_id, p_evento.chave, p_evento.payload) > 0 THEN
        RAISE EXCEPTION 'O campo evento deve ser um evento inteiro, de um tipo que a D-8 consome.' USING ERRCODE = 'FM422';
    END IF;
    RETURN EXISTS (SELECT FROM d8.processed_events AS p WHERE p.event_id = p_evento.event_id);
END
$$;

COMMENT ON FUNCTION d8.ja_processado(core.event_log) IS
'Se o evento já tem linha em processed_events. Erros: FM422 evento com campo nulo, hora fora dos anos 1 a 9999 ou tipo
que a colônia não consome. Fonte: D-8 3.11, N73.';

CREATE OR REPLACE FUNCTION d8.marcar_processado(p_event_id uuid, p_tipo text, p_resultado text DEFAULT 'processado')
RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO d8.processed_events (event_id, tipo_evento, processed_at, resultado)
    VALUES (p_event_id, p_tipo, core.agora(), p_resultado)
    ON CONFLICT (event_id) DO NOTHING;
    RETURN p_resultado;
END
$$;

COMMENT ON FUNCTION d8.marcar_processado(uuid, text, text) IS
'Escreve a linha de processed_events do evento, se ainda não há, e devolve p_resultado: processado, ignorado ou
descartado. Fonte: regra 1, E23.';

CREATE OR REPLACE FUNCTION d8.descartar(
    p_evento core.event_log, p_nivel text, p_mensagem text, p_detalhe jsonb DEFAULT '{}'
)
RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM core.registrar(p_nivel, p_mensagem, d8.contexto(p_evento) || p_detalhe);
    PERFORM d8.marcar_processado(p_evento.event_id, p_evento.tipo, 'descartado');
    RETURN 'descartado: ' || p_mensagem;
END
$$;

COMMENT ON FUNCTION d8.descartar(core.event_log, text, text, jsonb) IS
'Encerra um evento que não pode ser usado: ocorrência (nível aviso ou erro), processed_events e o resultado
''descartado: …'' do handler. Fonte: regra 6.';

CREATE OR REPLACE FUNCTION d8.contexto(p_evento core.event_log)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT jsonb_build_object('colonia', 'D-8',
                              'tipo', p_evento.tipo,
                              'event_id', p_evento.event_id,
                              'correlacao_id', p_evento.correlacao_id,
                              'demanda_id', p_evento.payload -> 'demanda_id')
$$;

COMMENT ON FUNCTION d8.contexto(core.event_log) IS
'O que toda ocorrência causada por um evento diz dele: colonia, tipo, event_id, correlacao_id e demanda_id.';
