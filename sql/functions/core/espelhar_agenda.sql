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
    v_servidor record;
BEGIN
    IF (core.cron_neste_banco() AND has_schema_privilege(to_regnamespace('cron'), 'USAGE')) IS NOT TRUE THEN
        RETURN 0;
    END IF;
    -- Um espelho por vez, por uma linha que só quem instalou pode travar (N65).
    PERFORM FROM core.parametros AS p WHERE p.nome = 'agenda_no_pg_cron' FOR UPDATE;
    v_servidor := core._servidor_do_cron();
    -- Dinâmica porque cron.job só existe onde o pg_cron está instalado. Agendar o que já existe muda só a hora e o comando:
    -- o que se liga a outro servidor, ou é de outro papel, sai antes. O que está em espera fica onde está.
    FOR v_trabalho IN EXECUTE
        'SELECT j.jobid, a.nome, a.cron, a.comando,
                a.nome IS NULL OR (j.nodename, j.nodeport, j.username) IS DISTINCT FROM ($1, $2, current_user) AS alheio
           FROM (SELECT *
                   FROM cron.job AS t
                  WHERE t.database = current_database()
                    AND starts_with(t.jobname::text, core.prefixo_no_cron(current_database()))
                     -- O que veio numa cópia com outro nome, e serve ao banco da origem: no servidor dela, ou que aqui não há.
                     OR ((t.nodename, t.nodeport) IS DISTINCT FROM ($1, $2)
                         OR NOT EXISTS (SELECT FROM pg_catalog.pg_database AS d WHERE d.datname = t.database))
                    AND t.jobname::text IN (SELECT core.nome_no_cron(t.database, g.nome)
                                              FROM (SELECT s.nome FROM core.agendamentos AS s
                                                    UNION ALL
                                                    SELECT ''espelho'') AS g)) AS j
           FULL JOIN (SELECT core.nome_no_cron(current_database(), g.nome) AS nome, g.cron,
                              core.comando_no_cron(g.comando) AS comando
                        FROM (SELECT s.nome, s.cron, s.comando FROM core.agendamentos AS s
                              UNION ALL
                              SELECT ''espelho'', ''* * * * *'', ''SELECT core.espelhar_agenda()'') AS g) AS a
             ON j.jobname::text = a.nome
          WHERE (j.schedule, j.command) IS DISTINCT FROM (a.cron, a.comando)
             OR j.active AND (j.nodename, j.nodeport, j.database, j.username)
                             IS DISTINCT FROM ($1, $2, current_database(), current_user)'
        USING v_servidor.endereco, v_servidor.porta
    LOOP
        IF v_trabalho.jobid IS NOT NULL AND v_trabalho.alheio THEN
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

CREATE OR REPLACE FUNCTION core._servidor_do_cron(OUT endereco text, OUT porta int)
LANGUAGE plpgsql
AS $$
DECLARE
    v_prova bigint;
BEGIN
    -- cron.host só o vê quem tem pg_read_all_settings; o pg_cron o diz no que agenda. Agenda-se, e desfaz-se.
    EXECUTE 'SELECT cron.schedule(''0 0 1 1 *'', ''SELECT 1'')' INTO v_prova;
    EXECUTE 'SELECT t.nodename, t.nodeport FROM cron.job AS t WHERE t.jobid = $1' INTO endereco, porta USING v_prova;
    RAISE EXCEPTION USING ERRCODE = 'triggered_action_exception';
EXCEPTION WHEN triggered_action_exception THEN
    RETURN;
END
$$;

COMMENT ON FUNCTION core._servidor_do_cron() IS
'O endereço e a porta em que o pg_cron deste banco liga os trabalhos que agenda agora. Nada fica agendado.';
