-- Leva cada evento consumido a seu handler.

CREATE OR REPLACE FUNCTION d8.tratar(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN CASE p_evento.tipo
               WHEN 'demanda.concluída' THEN d8.on_demanda_concluida(p_evento)
               WHEN 'manutenção.executada' THEN d8.on_manutencao_executada(p_evento)
               WHEN 'demanda.recebida' THEN d8.on_demanda_recebida(p_evento)
           END;
END
$$;

COMMENT ON FUNCTION d8.tratar(core.event_log) IS
'Chama o handler do tipo do evento e devolve seu resultado: processado, duplicado, ignorado ou descartado: motivo.';
