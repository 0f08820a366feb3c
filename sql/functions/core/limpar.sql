-- Faxina diária: ocorrências e tentativas antigas e, onde o pg_cron mora neste banco, o registro de suas execuções.

CREATE OR REPLACE FUNCTION core.limpar()
RETURNS bigint
LANGUAGE plpgsql
SET row_security = on  -- como em core.espelhar_agenda
AS $$
DECLARE
    v_removidas bigint := core._limpar_ocorrencias();
BEGIN
    IF core.cron_neste_banco() AND has_schema_privilege(to_regnamespace('cron'), 'USAGE') THEN
        -- Dinâmica porque a tabela só existe onde o pg_cron está instalado. A política de linhas do pg_cron deixa
        -- cada papel apagar só as suas. Pelo número, saem também as que nunca terminaram.
        EXECUTE 'DELETE FROM cron.job_run_details AS d
                  WHERE d.database = current_database()
                    AND d.runid <= (SELECT max(e.runid) FROM cron.job_run_details AS e WHERE e.end_time < $1)'
          USING clock_timestamp() - make_interval(days => (core.parametro('dias_guarda_execucoes_cron'))::int);
    END IF;
    RETURN v_removidas;
END
$$;

COMMENT ON FUNCTION core.limpar() IS
'Remove ocorrências e execuções do pg_cron mais antigas que os parâmetros dias_guarda_ocorrencias e
dias_guarda_execucoes_cron; devolve quantas ocorrências saíram. Executada como quem chama: sem direito no pg_cron, as
execuções ficam.';

CREATE OR REPLACE FUNCTION core._limpar_ocorrencias()
RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_removidas bigint;
BEGIN
    DELETE FROM core.ocorrencias AS o
     WHERE o.criado_em < clock_timestamp()
                         - make_interval(days => (core.parametro('dias_guarda_ocorrencias'))::int);
    GET DIAGNOSTICS v_removidas = ROW_COUNT;
    DELETE FROM core.dlq_tentativas AS t
     WHERE t.quando < clock_timestamp()
                      - make_interval(days => (core.parametro('dias_guarda_ocorrencias'))::int);
    PERFORM core.marcar_execucao('core-limpeza');
    RETURN v_removidas;
END
$$;

COMMENT ON FUNCTION core._limpar_ocorrencias() IS
'Remove as ocorrências e as tentativas da DLQ mais antigas que o parâmetro dias_guarda_ocorrencias; devolve quantas
ocorrências.';

GRANT EXECUTE ON FUNCTION core.limpar(), core._limpar_ocorrencias() TO formigueiro_app, formigueiro_dba;
