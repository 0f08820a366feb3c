-- O estado da D-8 refeito dos eventos (D-8 1.6, E23).
--
-- d8.processed_events diz o que foi aplicado, e em que ordem a cada projeto: ali estão os eventos consumidos e os que a
-- própria D-8 gerou. Cada um é reaplicado pela mesma função que o aplicou, sem publicar nem registrar nada; o que foi
-- ignorado ou descartado fica de fora. Ids derivam da demanda e do ciclo, horas vêm dos eventos, e o id da demanda
-- gerada, que é sorteado, está no evento: as duas tabelas voltam iguais, coluna a coluna.

CREATE OR REPLACE FUNCTION d8.reconstruir()
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_evento core.event_log;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'A reconstrução só roda em READ COMMITTED, não em %.', current_setting('transaction_isolation')
            USING ERRCODE = 'FM422';
    END IF;
    -- Ficam de fora o despacho da colônia, a varredura e o encerramento manual; quem publica e quem só lê, não.
    PERFORM FROM core.consumidores AS c WHERE c.colonia = 'D-8' FOR UPDATE;
    LOCK TABLE d8.projetos_monitorados, d8.historico_manutencoes, d8.processed_events IN EXCLUSIVE MODE;

    DELETE FROM d8.historico_manutencoes;
    DELETE FROM d8.projetos_monitorados;
    FOR v_evento IN
        SELECT e.*
          FROM d8.processed_events AS p
          JOIN core.event_log AS e ON e.event_id = p.event_id
         WHERE p.resultado = 'processado'
         ORDER BY p.id
    LOOP
        PERFORM d8.reaplicar(v_evento);
    END LOOP;
END
$$;

COMMENT ON FUNCTION d8.reconstruir() IS
'Apaga e refaz projetos_monitorados e historico_manutencoes a partir dos eventos, iguais em cada coluna. Pode rodar com
o sistema no ar: detém a varredura e o despacho da D-8, e não quem publica. O que foi inserido à mão, sem evento, não
volta. Erros: FM422 fora de READ COMMITTED. Fonte: D-8 1.6, E23.';

CREATE OR REPLACE FUNCTION d8.reaplicar(p_evento core.event_log)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload jsonb := p_evento.payload;
    v_projeto d8.projetos_monitorados;
    v_ciclo   d8.historico_manutencoes;
BEGIN
    CASE p_evento.tipo
        WHEN 'demanda.concluída' THEN
            PERFORM d8.registrar_projeto(p_evento);
        WHEN 'demanda.manutenção_gerada' THEN
            PERFORM d8.reaplicar_geracao(p_evento);
        WHEN 'demanda.recebida' THEN
            PERFORM d8.acompanhar_ciclo(p_evento);
        WHEN 'manutenção.executada' THEN
            SELECT * INTO STRICT v_ciclo
              FROM d8.historico_manutencoes AS h
             WHERE h.demanda_manutencao_id = (v_payload ->> 'demanda_id')::uuid;
            SELECT * INTO STRICT v_projeto FROM d8.projetos_monitorados AS p WHERE p.id = v_ciclo.projeto_id;
            PERFORM d8.registrar_execucao(p_evento, v_projeto, v_ciclo);
        WHEN 'manutenção.ciclo_encerrado' THEN
            PERFORM d8.gravar_encerramento((v_payload ->> 'projeto_id')::uuid, v_payload ->> 'motivo',
                                           (v_payload ->> 'data_encerramento')::timestamptz, p_evento.event_id);
    END CASE;
END
$$;

COMMENT ON FUNCTION d8.reaplicar(core.event_log) IS
'Aplica de novo ao estado um evento que já foi processado, sem publicar nem registrar nada. Fonte: E23.';

CREATE OR REPLACE FUNCTION d8.reaplicar_geracao(p_evento core.event_log)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload  jsonb := p_evento.payload;
    v_geracao  timestamptz := (v_payload ->> 'data_geracao')::timestamptz;
    v_recebida uuid;
BEGIN
    SELECT e.event_id INTO STRICT v_recebida
      FROM core.event_log AS e
     WHERE e.chave = p_evento.chave
       AND e.correlacao_id = p_evento.correlacao_id
       AND e.tipo = 'demanda.recebida'
       AND e.origem = 'D-8';  -- a D-1a também publica esse tipo
    INSERT INTO d8.historico_manutencoes
    SELECT c.*
      FROM d8.ciclo_gerado((v_payload ->> 'projeto_original_id')::uuid,
                           (v_payload ->> 'demanda_id')::uuid,
                           (v_payload -> 'ciclo_numero')::int,
                           (v_payload ->> 'data_prevista')::timestamptz,
                           v_geracao,
                           (v_payload -> 'prazo_tolerancia')::int,
                           v_payload -> 'dossie',
                           v_recebida) AS c;
    UPDATE d8.projetos_monitorados AS p
       SET proximo_ciclo = d8.mais_dias(v_geracao, (v_payload -> 'intervalo_programado')::int),
           ciclo_atual = (v_payload -> 'ciclo_numero')::int,
           event_id_ultima_alteracao = v_recebida,
           atualizado_em = v_geracao
     WHERE p.id = (v_payload ->> 'projeto_original_id')::uuid;
END
$$;

COMMENT ON FUNCTION d8.reaplicar_geracao(core.event_log) IS
'Refaz o que a geração de um ciclo escreveu, de seu demanda.manutenção_gerada. Fonte: D-8 4.3, E23.';

GRANT EXECUTE ON FUNCTION d8.reconstruir() TO formigueiro_dba;
