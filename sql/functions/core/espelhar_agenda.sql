-- A agenda no pg_cron, onde ele mora neste banco: migrar a espelha, e depois o próprio pg_cron, de minuto em minuto.
--
-- Quem muda core.agendamentos pode não ter direito no pg_cron, e um trabalho é de quem o agenda. Por isso não é um
-- gatilho que espelha, mas um trabalho a mais, "espelho", que roda como o dono dos outros.

CREATE OR REPLACE FUNCTION core.espelhar_agenda()
RETURNS int
LANGUAGE plpgsql
-- A política de linhas do pg_cron já só mostra a cada papel o que é dele: com row_security em off, recusaria.
SET row_security = on
AS $$
DECLARE
    v_mudancas int := 0;
    v_trabalho record;
BEGIN
    IF (core.cron_neste_banco() AND has_schema_privilege(to_regnamespace('cron'), 'USAGE')) IS NOT TRUE THEN
        RETURN 0;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtext('core.espelhar_agenda'));
    -- Dinâmica porque cron.job só existe onde o pg_cron está instalado; agendar o que já existe só o muda.
    FOR v_trabalho IN EXECUTE
        'SELECT j.jobid, j.username = current_user AS proprio, a.nome, a.cron, a.comando
           FROM (SELECT * FROM cron.job AS t
                  WHERE starts_with(t.jobname::text, core.prefixo_no_cron(current_database()))
                    AND t.database = current_database()) AS j
           FULL JOIN (SELECT core.nome_no_cron(current_database(), g.nome) AS nome, g.cron,
                             core.comando_no_cron(g.comando) AS comando
                        FROM (SELECT s.nome, s.cron, s.comando FROM core.agendamentos AS s
                              UNION ALL
                              SELECT ''espelho'', ''* * * * *'', ''SELECT core.espelhar_agenda()'') AS g) AS a
             ON j.jobname::text = a.nome
          WHERE (j.schedule, j.command) IS DISTINCT FROM (a.cron, a.comando)'
    LOOP
        IF v_trabalho.nome IS NULL OR NOT v_trabalho.proprio THEN
            EXECUTE 'SELECT cron.unschedule($1)' USING v_trabalho.jobid;
        END IF;
        IF v_trabalho.nome IS NOT NULL THEN
            EXECUTE 'SELECT cron.schedule($1, $2, $3)' USING v_trabalho.nome, v_trabalho.cron, v_trabalho.comando;
        END IF;
        v_mudancas := v_mudancas + 1;
    END LOOP;
    RETURN v_mudancas;
END
$$;

COMMENT ON FUNCTION core.espelhar_agenda() IS
'Deixa os trabalhos deste banco no pg_cron iguais a core.agendamentos e devolve quantos mudou; 0 se o pg_cron não mora
neste banco ou quem chama não o usa. Executada como quem chama, que fica dono dos trabalhos. Fonte: projeto, seção 3.';
