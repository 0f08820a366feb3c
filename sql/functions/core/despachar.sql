-- O despacho: esvazia todas as colônias até o horizonte, confirmando a cada lote (regras 1 a 4).
--
-- SECURITY INVOKER, pois confirma transações; o que cada passo escreve fica nas funções SECURITY DEFINER que chama.
--
-- Nenhuma colônia espera pelo que detém a outra (N66): por uma trava espera-se um segundo, e o evento que não a teve vai à
-- DLQ, de onde se tenta de novo. Um segundo é muito mais que qualquer transação da rede segura uma linha.

CREATE OR REPLACE PROCEDURE core.despachar_por(p_fatia interval)
LANGUAGE plpgsql
AS $$
DECLARE
    c_lote     CONSTANT int := 30;
    v_fim      timestamptz;
    v_esquemas name[];
    v_colonias text[];
    v_limite   int;
    v_feitos   int;
    v_total    int;
    v_dlq      bigint;
    v_vez      timestamptz;
BEGIN
    IF p_fatia NOT BETWEEN interval '0' AND interval '1 day' THEN
        RAISE EXCEPTION 'O campo fatia deve ser um tempo de até 1 dia.' USING ERRCODE = 'FM422';
    END IF;
    v_fim := least(core._prazo_do_comando(), statement_timestamp() + p_fatia);
    CALL core.preparar_transacao();
    IF core.conferir_assinatura() THEN
        PERFORM core._exigir_log_proprio();
    END IF;
    SELECT array_agg(c.colonia ORDER BY c.ordem), array_agg(c.esquema ORDER BY c.ordem)
      INTO v_colonias, v_esquemas
      FROM core.consumidores AS c;

    LOOP
        v_total := 0;
        FOR i IN 1 .. coalesce(cardinality(v_colonias), 0) LOOP
            -- Tantas quanto os eventos de um lote, e por um segundo: não detêm os eventos nem a outra colônia.
            v_vez := least(v_fim, clock_timestamp() + interval '1 second');
            FOR j IN 1 .. c_lote LOOP
                v_dlq := core.reservar_tentativa(v_colonias[i]);
                EXIT WHEN v_dlq IS NULL;
                COMMIT AND CHAIN;
                PERFORM set_config('lock_timeout', '200ms', true);
                BEGIN
                    EXECUTE format('SELECT %I.tentar_dlq($1)', v_esquemas[i]) USING v_dlq;
                EXCEPTION WHEN SQLSTATE 'FM409' OR lock_not_available THEN
                    NULL;  -- um operador a encerrou entre a reserva e a tentativa, ou segura a colônia: já tem nova hora
                END;
                COMMIT AND CHAIN;
                v_total := v_total + 1;
                EXIT WHEN clock_timestamp() > v_vez;
            END LOOP;

            PERFORM set_config('lock_timeout', '1s', true);
            BEGIN
                EXECUTE format('SELECT %I.reservar_lote()', v_esquemas[i]) INTO v_limite;
            EXCEPTION WHEN lock_not_available THEN
                -- Por outro despachante espera-se na volta; por quem só segura a linha, não.
                v_limite := CASE WHEN core.ha_lote_em_curso(v_colonias[i]) THEN -1 ELSE 0 END;
            END;
            COMMIT AND CHAIN;
            CONTINUE WHEN v_limite = 0;
            IF v_limite < 0 THEN
                v_total := v_total + 1;  -- outro vai na frente: espera-se por ele na volta
                PERFORM pg_sleep(0.002);
                CONTINUE;
            END IF;
            PERFORM set_config('lock_timeout', '1s', true);
            BEGIN
                EXECUTE format('SELECT %I.processar_pendentes($1)', v_esquemas[i]) INTO v_feitos USING v_limite;
            EXCEPTION WHEN lock_not_available THEN
                -- Alguém segura a linha da colônia, ou seus cursores: o lote não rodou, e não morreu.
                v_feitos := 0;
                PERFORM core.soltar_reserva(v_colonias[i]);
            END;
            COMMIT AND CHAIN;
            v_total := v_total + v_feitos;
        END LOOP;
        EXIT WHEN clock_timestamp() > v_fim;
        CONTINUE WHEN v_total > 0;
        EXIT WHEN core.encerrar_detentores() = 0;  -- há o que ler depois de quem se encerrou
        COMMIT AND CHAIN;
    END LOOP;
    PERFORM core.marcar_execucao('core-despacho');
END
$$;

COMMENT ON PROCEDURE core.despachar_por(interval) IS
'core.despachar() que acaba também depois de p_fatia, tendo dado a vez a cada colônia; nula, não tem fim marcado. Erros:
FM422 fatia negativa ou de mais de um dia. Fonte: N70.';

CREATE OR REPLACE PROCEDURE core.despachar()
LANGUAGE plpgsql
AS $$
BEGIN
    CALL core.despachar_por(NULL);
END
$$;

COMMENT ON PROCEDURE core.despachar() IS
'Trata tudo o que está pendente em todas as colônias, em lotes de 30 com um COMMIT cada, e tenta de novo o que na DLQ
tem hora vencida, um lote de cada por vez. Espera outro despachante em vez de voltar cedo, mas não quem só segura linhas: o
evento que precisa delas fica na DLQ, e tenta-se de novo. Encerra quem detém a leitura há mais de segundos_detencao_maxima.
Acaba por si antes de metade do statement_timeout. Serve com qualquer isolamento por omissão; não pode ser chamado dentro
de uma transação. Erros: FM409 log assinado de outro servidor. Fonte: regras 1 a 4, N66, N69.';

-- current_setting dá o valor com a unidade ("1min"), que também é um intervalo; ler pg_settings custaria meio milissegundo.
CREATE OR REPLACE FUNCTION core._prazo_do_comando()
RETURNS timestamptz
LANGUAGE sql
STABLE
AS $$
    SELECT CASE
               WHEN current_setting('statement_timeout') = '0' THEN 'infinity'
               ELSE statement_timestamp() + current_setting('statement_timeout')::interval / 2
           END
$$;

COMMENT ON FUNCTION core._prazo_do_comando() IS
'Hora em que terá corrido metade do statement_timeout deste comando; infinity sem limite.';

GRANT EXECUTE ON PROCEDURE core.despachar(), core.despachar_por(interval) TO formigueiro_app, formigueiro_dba;
GRANT EXECUTE ON FUNCTION core._prazo_do_comando() TO formigueiro_app, formigueiro_dba;
