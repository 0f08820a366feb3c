-- A agenda para o app cumprir, onde o pg_cron não a cumpre.

CREATE OR REPLACE FUNCTION core.agenda_do_app()
RETURNS TABLE (nome text, cron text, ultima_execucao timestamptz)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT a.nome, a.cron, coalesce(a.ultima_execucao, clock_timestamp() - interval '1 day')
      FROM core.agendamentos AS a
     WHERE NOT coalesce((core.parametro('agenda_no_pg_cron'))::boolean, false)
     ORDER BY a.nome
$$;

COMMENT ON FUNCTION core.agenda_do_app() IS
'Os agendamentos que cabem ao app: todos, ou nenhum se migrar os espelhou no pg_cron. Quem nunca rodou conta como rodado
há um dia.';

CREATE OR REPLACE FUNCTION core.reservar_execucao(p_nome text, p_hora timestamptz)
RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_comando text;
BEGIN
    UPDATE core.agendamentos AS a
       SET ultima_execucao = p_hora
     WHERE a.nome = p_nome
       AND coalesce(a.ultima_execucao, '-infinity') < p_hora
       -- Um processo de relógio adiantado calaria o trabalho, em todos, até a hora que ele diz.
       AND p_hora <= clock_timestamp() + interval '1 minute'
    RETURNING a.comando INTO v_comando;
    RETURN v_comando;
END
$$;

COMMENT ON FUNCTION core.reservar_execucao(text, timestamptz) IS
'Toma a execução de um agendamento numa hora e devolve seu comando; NULL se outro processo já a tomou, ou
se ela ainda não chegou.';

GRANT EXECUTE ON FUNCTION core.agenda_do_app(), core.reservar_execucao(text, timestamptz) TO formigueiro_app;
