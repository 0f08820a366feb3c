-- O fim comum dos handlers: marcar como processado, com ou sem ocorrência (regras 1 e 6).

CREATE OR REPLACE FUNCTION d6b.marcar_processado(p_evento core.event_log)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO d6b.processed_events (event_id, event_type, processed_at)
    VALUES (p_evento.event_id, p_evento.tipo, d6b.centesimo(core.agora()))
    ON CONFLICT (event_id) DO NOTHING;
END
$$;

COMMENT ON FUNCTION d6b.marcar_processado(core.event_log) IS
'Escreve a linha de processed_events do evento, se ainda não há. Fonte: regra 1.';

CREATE OR REPLACE FUNCTION d6b.ja_processado(p_evento core.event_log)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    -- Todo handler passa por aqui antes de mudar o que seja: uma comparação só, e nunca uma consulta.
    IF (p_evento.tipo = ANY (d6b.tipos_consumidos()) AND core.no_calendario(p_evento.publicado_em)) IS NOT TRUE
       OR num_nulls(p_evento.event_id, p_evento.sequence_number, p_evento.origem, p_evento.versao_schema,
                    p_evento.correlacao_id, p_evento.chave, p_evento.payload) > 0 THEN
        RAISE EXCEPTION 'O campo evento deve ser um evento inteiro, de um tipo que a D-6b consome.' USING ERRCODE = 'FM422';
    END IF;
    RETURN EXISTS (SELECT FROM d6b.processed_events AS p WHERE p.event_id = p_evento.event_id);
END
$$;

COMMENT ON FUNCTION d6b.ja_processado(core.event_log) IS
'Se o evento já tem linha em processed_events. Erros: FM422 evento com campo nulo, hora fora dos anos 1 a 9999 ou tipo
que a colônia não consome. Fonte: N73.';

CREATE OR REPLACE FUNCTION d6b.descartar(p_evento core.event_log, p_nivel text, p_mensagem text, p_detalhe jsonb DEFAULT '{}')
RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM core.registrar(p_nivel, p_mensagem, d6b.contexto(p_evento) || p_detalhe);
    PERFORM d6b.marcar_processado(p_evento);
    RETURN 'descartado: ' || p_mensagem;
END
$$;

COMMENT ON FUNCTION d6b.descartar(core.event_log, text, text, jsonb) IS
'Encerra um evento que não pode ser usado: ocorrência (nível aviso ou erro), processed_events e o resultado
''descartado: …'' do handler. Fonte: regra 6.';

CREATE OR REPLACE FUNCTION d6b.campos_ausentes(p_payload jsonb, VARIADIC p_campos text[])
RETURNS text[]
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN (SELECT coalesce(array_agg(c.campo ORDER BY c.n), '{}')
              FROM unnest(p_campos) WITH ORDINALITY AS c (campo, n)
             WHERE coalesce(p_payload -> c.campo, 'null') = 'null');
END
$$;

COMMENT ON FUNCTION d6b.campos_ausentes(jsonb, text[]) IS
'Quais dos campos dados faltam no payload ou são nulos, na ordem dada.';
