-- A varredura de ciclos (D-8 4.3): gera a demanda de cada projeto cujo ciclo venceu, em lotes, com um COMMIT cada.
--
-- SECURITY INVOKER, pois confirma transações; o que se lê e escreve fica nas funções SECURITY DEFINER que ela chama.
-- Anda por (proximo_ciclo, id) e nunca volta: um projeto que não pode ser gerado é visto uma vez por varredura. Se um
-- lote falha, repete-o projeto a projeto, cada um com seu COMMIT: os bons saem, o ruim fica registrado.
-- Cada transação tem a sua hora: p_agora e o que passou desde o começo.
--
-- Recebe   a hora da varredura e o tamanho do lote
-- Chama    d8.abrir_varredura, d8.varrer_lote, d8.proximos_vencidos, d8.registrar_falha, d8.relatar_varredura
-- Escreve  por elas: as tabelas de d8, core.event_log e core.ocorrencias

CREATE OR REPLACE PROCEDURE d8.executar_varredura(p_agora timestamptz DEFAULT core.agora(), p_lote int DEFAULT 500)
LANGUAGE plpgsql
AS $$
DECLARE
    c_primeiro_id CONSTANT uuid := uuid '00000000-0000-0000-0000-000000000000';
    c_ultimo_id   CONSTANT uuid := uuid 'ffffffff-ffff-ffff-ffff-ffffffffffff';
    v_inicio      CONSTANT timestamptz := core.agora();
    v_agora       timestamptz;
    v_prazo       CONSTANT timestamptz := core._prazo_do_comando();
    v_apos_ciclo  timestamptz := timestamptz '-infinity';
    v_apos_id     uuid := c_primeiro_id;
    v_falhou      boolean;
    v_lote        record;
    v_projeto     record;
    v_vencidos    bigint;
    v_encontrados int := 0;
    v_geradas     int := 0;
    v_encerrados  int := 0;
    v_falhas      int := 0;
    v_dias_atraso bigint := 0::bigint;
    v_erro        text;
    v_sqlstate    text;
BEGIN
    PERFORM core.exigir_hora(p_agora);
    PERFORM core.exigir_limite(p_lote, 'lote');
    CALL core.preparar_transacao();

    v_vencidos := d8.abrir_varredura(p_agora);
    WHILE v_vencidos > 0 LOOP
        v_falhou := false;
        -- A hora anda com a rede: core.exigir_hora não aceita a de uma varredura longa que a tivesse parada.
        v_agora := p_agora + (core.agora() - v_inicio);
        BEGIN
            SELECT * INTO STRICT v_lote
              FROM d8.varrer_lote(v_agora, v_apos_ciclo, v_apos_id, v_agora, c_ultimo_id, p_lote);
        EXCEPTION
            WHEN SQLSTATE 'FM409' THEN
                RAISE;  -- não é de um projeto: repetir um a um só repetiria a recusa
            WHEN OTHERS OR assert_failure THEN
                v_falhou := true;
        END;
        COMMIT AND CHAIN;

        IF NOT v_falhou THEN
            v_encontrados := v_encontrados + v_lote.encontrados;
            v_geradas := v_geradas + v_lote.geradas;
            v_encerrados := v_encerrados + v_lote.encerrados;
            v_dias_atraso := v_dias_atraso + v_lote.dias_atraso;
            EXIT WHEN v_lote.encontrados < p_lote;
            v_apos_ciclo := v_lote.ultimo_ciclo;
            v_apos_id := v_lote.ultimo_id;
        ELSE
            FOR v_projeto IN
                SELECT p.proximo_ciclo, p.id
                  FROM d8.proximos_vencidos(v_agora, v_apos_ciclo, v_apos_id, p_lote) AS p
            LOOP
                v_agora := p_agora + (core.agora() - v_inicio);
                BEGIN
                    SELECT * INTO STRICT v_lote
                      FROM d8.varrer_lote(v_agora, v_apos_ciclo, v_apos_id, v_projeto.proximo_ciclo, v_projeto.id, 1);
                    v_encontrados := v_encontrados + v_lote.encontrados;
                    v_geradas := v_geradas + v_lote.geradas;
                    v_encerrados := v_encerrados + v_lote.encerrados;
                    v_dias_atraso := v_dias_atraso + v_lote.dias_atraso;
                EXCEPTION WHEN OTHERS OR assert_failure THEN
                    GET STACKED DIAGNOSTICS v_erro = MESSAGE_TEXT, v_sqlstate = RETURNED_SQLSTATE;
                    PERFORM d8.registrar_falha(v_projeto.id, v_sqlstate, v_erro);
                    v_encontrados := v_encontrados + 1;
                    v_falhas := v_falhas + 1;
                END;
                COMMIT AND CHAIN;
                v_apos_ciclo := v_projeto.proximo_ciclo;
                v_apos_id := v_projeto.id;
                EXIT WHEN clock_timestamp() > v_prazo;
            END LOOP;
            EXIT WHEN NOT FOUND;  -- outra sessão cuidou de todos
        END IF;
        EXIT WHEN clock_timestamp() > v_prazo;
    END LOOP;

    PERFORM d8.relatar_varredura(v_encontrados, v_geradas, v_encerrados, v_falhas, v_dias_atraso);
END
$$;

COMMENT ON PROCEDURE d8.executar_varredura(timestamptz, int) IS
'Gera a demanda de manutenção de cada projeto ativo com proximo_ciclo até p_agora, ou encerra o projeto que passou da
vida útil; p_lote projetos por transação. Um projeto parado por vários intervalos gera uma vez só. Pode rodar em várias
sessões ao mesmo tempo, e acaba por si antes de metade do statement_timeout; o que não pôde ser gerado fica em
core.ocorrencias. Não pode ser chamada dentro de uma transação. Erros: FM422 lote menor que 1; FM409 o log tem eventos da
D-8 que ela não conhece (rode d8.reconstruir); os de core.exigir_hora. Fonte: D-8 4.3 e 4.8, E21, E27, N53, regra 9.';

GRANT EXECUTE ON PROCEDURE d8.executar_varredura(timestamptz, int) TO formigueiro_app, formigueiro_dba;
