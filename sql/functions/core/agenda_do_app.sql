-- A agenda para o app cumprir, onde o pg_cron não a cumpre.

CREATE OR REPLACE FUNCTION core.agenda_do_app()
RETURNS TABLE (nome text, cron text, ultima_execucao timestamptz)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT a.nome, a.cron,
           CASE
               WHEN a.ultima_execucao IS NULL OR core.no_futuro(a.ultima_execucao)
                   THEN clock_timestamp() - interval '1 day'
               ELSE a.ultima_execucao
           END
      FROM core.agendamentos AS a
     WHERE NOT coalesce((core.parametro('agenda_no_pg_cron'))::boolean, false)
       -- O trabalhador despacha a cada passo, em fatias; por inteiro, à hora marcada, só os textos esperariam por isso.
       AND a.nome <> 'core-despacho'
     ORDER BY a.nome
$$;

COMMENT ON FUNCTION core.agenda_do_app() IS
'Os agendamentos que cabem ao app: todos menos o despacho, que o trabalhador faz sempre, ou nenhum se migrar os espelhou
no pg_cron. Quem nunca rodou conta como rodado há um dia; e a última execução no futuro, de quando o relógio do servidor
andou adiantado, como nenhuma. Fonte: N62, N70.';

CREATE OR REPLACE FUNCTION core.reservar_execucao(p_nome text, p_hora timestamptz)
RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_comando text;
BEGIN
    PERFORM core.exigir_instante(p_hora, 'hora');
    -- Quem acha a linha tomada desiste: outro processo a está a reservar, ou um operador a tem aberta, e por ele não há de
    -- parar o trabalhador (N66); a hora continua por cumprir.
    UPDATE core.agendamentos AS a
       SET ultima_execucao = p_hora
      FROM (SELECT t.nome
              FROM core.agendamentos AS t
             WHERE t.nome = p_nome
               AND (t.ultima_execucao IS NULL OR t.ultima_execucao < p_hora OR core.no_futuro(t.ultima_execucao))
               -- Um processo de relógio adiantado calaria o trabalho, em todos, até a hora que ele diz.
               AND NOT core.no_futuro(p_hora)
               FOR UPDATE SKIP LOCKED) AS livre
     WHERE a.nome = livre.nome
    RETURNING a.comando INTO v_comando;
    RETURN v_comando;
END
$$;

COMMENT ON FUNCTION core.reservar_execucao(text, timestamptz) IS
'Toma a execução de um agendamento numa hora e devolve seu comando; NULL se outro processo já a tomou, se ela ainda não
chegou, ou se outra sessão segura a linha, por quem não espera. Erros: FM422 hora nula ou infinita.';

CREATE OR REPLACE FUNCTION core.no_futuro(p_quando timestamptz)
RETURNS boolean
LANGUAGE sql
AS $$
    SELECT p_quando > clock_timestamp() + interval '1 minute'
$$;

COMMENT ON FUNCTION core.no_futuro(timestamptz) IS
'Se uma hora ainda não chegou, com um minuto de folga para quem a leu noutra máquina: anotada, diz que o relógio do
servidor recuou depois.';

GRANT EXECUTE ON FUNCTION core.agenda_do_app(), core.reservar_execucao(text, timestamptz) TO formigueiro_app;
