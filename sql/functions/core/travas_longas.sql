-- Quem, numa transação aberta há tempo demais, segura linhas ou tabelas de que o despacho precisa (N66).
--
-- SECURITY INVOKER: a hora e o comando de outro papel só os vê quem pode (pg_read_all_stats). Sem a hora, não se sabe se é
-- longa, e a transação entra na lista com desde nulo.

CREATE OR REPLACE FUNCTION core.travas_longas()
RETURNS TABLE (pid int, papel name, preparada text, tabelas text, desde timestamptz, fazendo text)
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN QUERY
        SELECT t.pid, coalesce(s.usename, x.owner), x.gid,
               string_agg(DISTINCT t.relation::regclass::text, ', '),
               coalesce(s.xact_start, x.prepared),
               -- Do comando, só a primeira palavra: o resto pode ter dados de pessoas.
               s.state || ', ' || upper(substring(s.query FROM E'^\\s*(\\w+)'))
          FROM pg_catalog.pg_locks AS t
          JOIN pg_catalog.pg_class AS r ON r.oid = t.relation AND r.relkind = 'r'
          LEFT JOIN pg_catalog.pg_stat_activity AS s ON s.pid = t.pid
          LEFT JOIN core._preparadas() AS x ON t.pid IS NULL AND x.transacao = t.virtualtransaction
         WHERE t.locktype = 'relation'
           AND t.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
           AND t.granted
           AND t.pid IS DISTINCT FROM pg_backend_pid()
           AND t.mode IN ('RowShareLock', 'RowExclusiveLock', 'ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock',
                          'AccessExclusiveLock')
           AND (r.relnamespace IN (SELECT c.esquema::regnamespace FROM core.consumidores AS c)
                OR r.oid IN ('core.consumidores'::regclass, 'core.dlq'::regclass))
         GROUP BY t.pid, s.usename, x.owner, x.gid, s.xact_start, x.prepared, s.state, s.query
        HAVING (coalesce(s.xact_start, x.prepared) > clock_timestamp() - core._detencao_que_importa()) IS NOT TRUE;
END
$$;

COMMENT ON FUNCTION core.travas_longas() IS
'As transações, de outras sessões ou preparadas, que há mais de segundos_detencao_problema seguram tabelas ou linhas das
colônias: pid, papel, nome da preparada, tabelas, desde quando e o que faz; desde e fazendo nulos se quem chama não os pode
ver. Fonte: N66.';

CREATE OR REPLACE FUNCTION core._preparadas()
RETURNS TABLE (transacao text, gid text, owner name, prepared timestamptz)
LANGUAGE sql
STABLE
AS $$
    SELECT t.virtualtransaction, x.gid, x.owner, x.prepared
      FROM pg_catalog.pg_prepared_xacts AS x
      JOIN pg_catalog.pg_locks AS t ON t.locktype = 'transactionid' AND t.transactionid = x.transaction AND t.pid IS NULL
$$;

COMMENT ON FUNCTION core._preparadas() IS
'As transações preparadas, pelo número virtual com que aparecem em pg_locks: nome, dono e desde quando.';

CREATE OR REPLACE FUNCTION core._detencao_que_importa()
RETURNS interval
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN make_interval(secs => coalesce(core._segundos('segundos_detencao_problema'), 10));
END
$$;

COMMENT ON FUNCTION core._detencao_que_importa() IS
'Há quanto tempo uma transação alheia há de deter a rede para ser um problema: segundos_detencao_problema.';

CREATE OR REPLACE FUNCTION core._segundos(p_parametro text)
RETURNS float8
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN core._numero(p_parametro, 31536000);
END
$$;

COMMENT ON FUNCTION core._segundos(text) IS
'O valor de um parâmetro em segundos; NULL se não é um número de 0 a um ano.';

GRANT EXECUTE ON FUNCTION core.travas_longas(), core._preparadas(), core._detencao_que_importa(), core._segundos(text)
   TO formigueiro_app, formigueiro_dba;
