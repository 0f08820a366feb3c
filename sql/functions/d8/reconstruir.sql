-- O estado da D-8 refeito dos eventos (D-8 1.6, E23).
--
-- d8.processed_events diz o que foi aplicado, e em que ordem a cada projeto: ali estão os eventos consumidos e os que a
-- própria D-8 gerou. Cada um é reaplicado pela mesma função que o aplicou, sem publicar nem registrar nada; o que foi
-- ignorado ou descartado fica de fora. Ids derivam da demanda e do ciclo, horas vêm dos eventos, e o id da demanda
-- gerada, que é sorteado, está no evento: as duas tabelas voltam iguais, coluna a coluna.
--
-- Se o esquema é mais velho que o log (N53), o que falta em processed_events sai do próprio log, na ordem dos números: os
-- eventos próprios que ela não conhece e, dos consumidos, os que o núcleo diz lidos e não estão na DLQ. Depois deles a
-- D-8 está em dia, e o despacho relê o resto.

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
    IF d8.aquem_do_log() IS NOT NULL THEN
        PERFORM d8.alcancar_o_log();
    END IF;
END
$$;

COMMENT ON FUNCTION d8.reconstruir() IS
'Apaga e refaz projetos_monitorados e historico_manutencoes a partir dos eventos, iguais em cada coluna. Pode rodar com
o sistema no ar: detém a varredura e o despacho da D-8, e não quem publica. O que foi inserido à mão, sem evento, não
volta. Se a D-8 é mais velha que o log, põe-na em dia com ele, e diz o que aplicou numa ocorrência. Erros: FM422 fora de
READ COMMITTED. Fonte: D-8 1.6, E23, N53.';

CREATE OR REPLACE FUNCTION d8.alcancar_o_log()
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_evento    core.event_log;
    v_aplicados int := 0;
    v_recusados int := 0;
BEGIN
    -- O que um operador mandou não tratar, e a saída que espera na DLQ, contam como quando ali entraram.
    PERFORM d8.marcar_processado(d.event_id, d.tipo, 'descartado')
       FROM core.dlq AS d
      WHERE d.colonia = 'D-8'
        AND d.especie = 'evento'
        AND d.estado = 'descartada';
    PERFORM d8.marcar_processado((d.saida ->> 'event_id')::uuid, d.saida ->> 'tipo')
       FROM core.dlq AS d
      WHERE d.colonia = 'D-8'
        AND d.especie = 'saida'
        AND d.estado IN ('pendente', 'em_espera');

    FOR v_evento IN SELECT * FROM d8.desconhecidos() LOOP
        IF d8.reaplicar_desconhecido(v_evento) THEN
            v_aplicados := v_aplicados + 1;
        ELSIF v_evento.tipo = ANY (d8.tipos_proprios()) THEN
            PERFORM d8.descartar(v_evento, 'erro', 'Evento da D-8 que a reconstrução não pôde aplicar.',
                                 jsonb_build_object('sequence_number', v_evento.sequence_number));
            v_recusados := v_recusados + 1;
        END IF;
    END LOOP;
    PERFORM core.registrar('aviso', 'D-8 mais velha que o log, posta em dia pela reconstrução.',
                           jsonb_build_object('colonia', 'D-8', 'aplicados', v_aplicados, 'recusados', v_recusados));
END
$$;

COMMENT ON FUNCTION d8.alcancar_o_log() IS
'Aplica, sem publicar nada, os eventos do log que uma D-8 mais velha que ele não conhece. Fonte: N53.';

CREATE OR REPLACE FUNCTION d8.desconhecidos()
RETURNS SETOF core.event_log
LANGUAGE sql
STABLE
AS $$
    -- Um evento próprio que o cursor já passou diz que os cursores não são os da cópia (um esquema refeito do zero): então
    -- conta o log inteiro. A recebida por último: seu ciclo nasce de demanda.manutenção_gerada, publicada depois dela.
    WITH proprios AS MATERIALIZED (
        SELECT e.*
          FROM core.event_log AS e
         WHERE e.tipo = ANY (d8.tipos_proprios())
           AND NOT EXISTS (SELECT FROM d8.processed_events AS p WHERE p.event_id = e.event_id)
    ), cursores AS MATERIALIZED (
        SELECT o.tipo_evento,
               CASE
                   WHEN o.last_sequence < (SELECT min(e.sequence_number) FROM proprios AS e) THEN o.last_sequence
                   ELSE 0
               END AS lido
          FROM d8.consumer_offset AS o
         WHERE o.tipo_evento = ANY (d8.tipos_consumidos())
    ), todos AS (
        SELECT e.* FROM proprios AS e
        UNION ALL
        SELECT e.*
          FROM cursores AS c
          JOIN core.event_log AS e ON e.tipo = c.tipo_evento AND e.sequence_number > c.lido
         WHERE e.sequence_number <= (SELECT n.posicao FROM core.consumidores AS n WHERE n.colonia = 'D-8')
           AND NOT EXISTS (SELECT FROM d8.processed_events AS p WHERE p.event_id = e.event_id)
           AND NOT EXISTS (SELECT
                             FROM core.dlq AS d
                            WHERE d.colonia = 'D-8'
                              AND d.event_id = e.event_id
                              AND d.especie = 'evento'
                              AND d.estado IN ('pendente', 'em_espera'))
    )
    SELECT * FROM todos AS e ORDER BY e.tipo = 'demanda.recebida', e.sequence_number
$$;

COMMENT ON FUNCTION d8.desconhecidos() IS
'Os eventos que a D-8 publicou, ou que o núcleo diz que ela leu, e que não estão em processed_events, em ordem de aplicar.
Fonte: N53.';

CREATE OR REPLACE FUNCTION d8.reaplicar_desconhecido(p_evento core.event_log)
RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    IF NOT d8.aplicavel(p_evento) THEN
        RETURN false;
    END IF;
    PERFORM d8.reaplicar(p_evento);
    PERFORM d8.marcar_processado(p_evento.event_id, p_evento.tipo);
    RETURN true;
EXCEPTION WHEN OTHERS OR assert_failure THEN
    RETURN false;
END
$$;

COMMENT ON FUNCTION d8.reaplicar_desconhecido(core.event_log) IS
'Aplica, num ponto de salvamento, um evento que a D-8 perdeu, e devolve se o aplicou. O consumido que não se aplica fica
para o despacho, que o ignora, descarta ou guarda na DLQ. Fonte: N53.';

CREATE OR REPLACE FUNCTION d8.aplicavel(p_evento core.event_log)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_payload jsonb := p_evento.payload;
BEGIN
    RETURN CASE p_evento.tipo
               WHEN 'demanda.concluída'
               THEN NOT core._inteiro_entre(v_payload #> '{plano_manutencao,profundidade}',
                                            core.profundidade_maxima() + 1, 36500)
                    AND core.erros_plano(v_payload -> 'plano_manutencao', d8.categoria(v_payload),
                                         v_payload -> 'localizacao') = '[]'
                    AND NOT EXISTS (SELECT
                                      FROM d8.projetos_monitorados AS p
                                     WHERE p.demanda_original_id = (v_payload ->> 'demanda_id')::uuid)
               WHEN 'manutenção.executada'
               THEN core.status_execucao(v_payload -> 'status_execucao') IS NOT NULL
                    AND EXISTS (SELECT
                                  FROM d8.historico_manutencoes AS h
                                  JOIN d8.projetos_monitorados AS p ON p.id = h.projeto_id
                                 WHERE h.demanda_manutencao_id = (v_payload ->> 'demanda_id')::uuid
                                   AND h.status NOT IN ('concluida', 'cancelada')
                                   AND (v_payload ->> 'projeto_original_id')::uuid IN (p.id, p.demanda_original_id))
               WHEN 'demanda.recebida'
               THEN v_payload ->> 'origem' = 'manutenção_programada'
                    AND EXISTS (SELECT
                                  FROM d8.historico_manutencoes AS h
                                 WHERE h.demanda_manutencao_id = (v_payload ->> 'demanda_id')::uuid
                                   AND h.status = 'gerada')
               ELSE p_evento.origem = 'D-8'
                    AND EXISTS (SELECT
                                  FROM d8.projetos_monitorados AS p
                                 WHERE p.id = coalesce(v_payload ->> 'projeto_original_id', v_payload ->> 'projeto_id')::uuid)
           END;
END
$$;

COMMENT ON FUNCTION d8.aplicavel(core.event_log) IS
'Se o evento muda o estado da D-8 como ele está: o que o handler julgaria, sem dizer por que não. Fonte: N53.';

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
