-- demanda.recebida de manutenção programada, a própria saída da D-8: a demanda entrou no pipeline (D-8 3.3 e 3.10).

CREATE OR REPLACE FUNCTION d8.on_demanda_recebida(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    IF d8.ja_processado(p_evento) THEN
        RETURN 'duplicado';
    END IF;
    RETURN d8.marcar_processado(p_evento.event_id, p_evento.tipo,
                                CASE
                                    WHEN p_evento.payload ->> 'origem' = 'manutenção_programada'
                                         AND d8.acompanhar_ciclo(p_evento)
                                    THEN 'processado'
                                    ELSE 'ignorado'
                                END);
END
$$;

COMMENT ON FUNCTION d8.on_demanda_recebida(core.event_log) IS
'Handler de demanda.recebida: leva o ciclo de gerada a em_andamento. Ignora a demanda de cidadão, a que a D-8 não gerou
e o ciclo que já passou de gerada. Fonte: D-8 3.3 e 3.10, E26.';

CREATE OR REPLACE FUNCTION d8.acompanhar_ciclo(p_evento core.event_log)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_demanda_id CONSTANT uuid := (p_evento.payload ->> 'demanda_id')::uuid;
BEGIN
    -- Primeiro a linha do projeto: a trava dela guarda também os ciclos.
    PERFORM
       FROM d8.projetos_monitorados AS p
      WHERE p.id IN (SELECT h.projeto_id
                       FROM d8.historico_manutencoes AS h
                      WHERE h.demanda_manutencao_id = v_demanda_id)
        FOR UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    UPDATE d8.historico_manutencoes AS h
       SET status = 'em_andamento',
           event_id_ultima_alteracao = p_evento.event_id,
           atualizado_em = d8.sem_recuar(p_evento.publicado_em, h.atualizado_em)
     WHERE h.demanda_manutencao_id = v_demanda_id
       AND h.status = 'gerada';
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION d8.acompanhar_ciclo(core.event_log) IS
'Trava o projeto e leva o ciclo da demanda de gerada a em_andamento; devolve se o levou. Fonte: D-8 3.10, E26.';
