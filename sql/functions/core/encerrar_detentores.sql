-- Encerra quem detém a leitura há tempo demais (N67), se a instalação o quer e quem despacha o pode.
--
-- SECURITY INVOKER: o direito de encerrar uma sessão (pg_signal_backend, o mesmo papel ou superusuário) é de quem despacha.
-- Uma transação preparada não tem sessão que se encerre: core.estado a nomeia, e só uma pessoa decide dela.

CREATE OR REPLACE FUNCTION core.encerrar_detentores()
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
    v_maximo     CONSTANT float8 := core._segundos('segundos_detencao_maxima');
    v_encerrados int := 0;
    v            record;
BEGIN
    IF v_maximo IS NULL THEN
        RETURN 0;
    END IF;
    FOR v IN
        SELECT t.pid, s.usename AS papel, min(c.lacuna_desde) AS desde, array_agg(DISTINCT c.colonia) AS colonias
          FROM core.consumidores AS c
          JOIN pg_catalog.pg_locks AS t ON t.virtualtransaction = ANY (c.lacuna_detentores)
          JOIN pg_catalog.pg_stat_activity AS s ON s.pid = t.pid
         WHERE c.lacuna_desde < clock_timestamp() - make_interval(secs => v_maximo)
           AND t.locktype = 'relation'
           AND t.relation = 'core.event_log'::regclass
           AND t.mode = 'RowExclusiveLock'
           AND t.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
           AND t.pid <> pg_backend_pid()
         GROUP BY t.pid, s.usename
    LOOP
        BEGIN
            IF pg_terminate_backend(v.pid, 2000) THEN
                v_encerrados := v_encerrados + 1;
                PERFORM core.registrar('aviso', 'Sessão que detinha a leitura encerrada',
                                       jsonb_build_object('pid', v.pid,
                                                          'papel', v.papel,
                                                          'desde', core.iso(v.desde),
                                                          'colonias', v.colonias));
            END IF;
        EXCEPTION WHEN insufficient_privilege THEN
            NULL;  -- core.estado segue a nomeá-la
        END;
    END LOOP;
    RETURN v_encerrados;
END
$$;

COMMENT ON FUNCTION core.encerrar_detentores() IS
'Encerra as sessões que detêm a leitura de uma colônia há mais de segundos_detencao_maxima e devolve quantas, com uma
ocorrência de cada; nada faz com o parâmetro nulo, que é o padrão, nem com as que quem chama não pode encerrar, nem com
transações preparadas. Fonte: regra 3, N67.';

GRANT EXECUTE ON FUNCTION core.encerrar_detentores() TO formigueiro_app, formigueiro_dba;
