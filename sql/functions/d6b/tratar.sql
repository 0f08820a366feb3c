-- Leva cada evento consumido a seu handler.

CREATE OR REPLACE FUNCTION d6b.tratar(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN CASE p_evento.tipo
               WHEN 'conselheiro.sorteado' THEN d6b.on_conselheiro_sorteado(p_evento)
               WHEN 'conselheiro.atualização_registrada' THEN d6b.on_conselheiro_atualizacao_registrada(p_evento)
               WHEN 'conselheiro.atualização_transcrita' THEN d6b.on_conselheiro_atualizacao_transcrita(p_evento)
               WHEN 'demanda.conclusao_confirmada' THEN d6b.on_demanda_conclusao_confirmada(p_evento)
               WHEN 'demanda.recebida' THEN d6b.on_demanda_recebida(p_evento)
           END;
END
$$;

COMMENT ON FUNCTION d6b.tratar(core.event_log) IS
'Chama o handler do tipo do evento e devolve seu resultado: processado, duplicado, ignorado ou descartado: motivo.';
