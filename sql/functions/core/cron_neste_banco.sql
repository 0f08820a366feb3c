-- Se é deste banco que o pg_cron cumpre trabalhos. A extensão no catálogo não basta: um CREATE DATABASE … TEMPLATE a
-- copia, e ela fica lá quando o servidor deixa de carregar o pg_cron ou muda cron.database_name.

CREATE OR REPLACE FUNCTION core.cron_neste_banco()
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_banco text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_extension AS e WHERE e.extname = 'pg_cron') THEN
        RETURN false;
    END IF;
    -- Em pg_settings só estão os ajustes de uma biblioteca carregada: a linha que sobra no postgresql.conf não conta.
    SELECT s.setting INTO v_banco FROM pg_catalog.pg_settings AS s WHERE s.name = 'cron.database_name';
    IF FOUND THEN
        RETURN v_banco = current_database();
    END IF;
    BEGIN
        PERFORM current_setting('cron.database_name', true);
        RETURN false;
    EXCEPTION WHEN insufficient_privilege THEN
        -- Está carregada, e este papel não pode ver o ajuste; mas vê em que banco está o processo do pg_cron, que é
        -- do superusuário inicial. Se ele ainda não subiu, vale a extensão.
        RETURN NOT EXISTS (SELECT
                             FROM pg_catalog.pg_stat_activity AS a
                            WHERE a.application_name = 'pg_cron scheduler'
                              AND a.usesysid = 10
                              AND a.datname <> current_database());
    END;
END
$$;

COMMENT ON FUNCTION core.cron_neste_banco() IS
'Se o pg_cron mora neste banco: a extensão está nele, o servidor a carrega e cron.database_name é este banco. Para quem
não tem pg_read_all_settings, se o processo do pg_cron não está em outro banco.';

GRANT EXECUTE ON FUNCTION core.cron_neste_banco() TO formigueiro_app, formigueiro_dba;
