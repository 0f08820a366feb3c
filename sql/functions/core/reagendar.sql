-- O operador muda a hora de um agendamento; o que ele faz, não: o comando roda com os direitos de quem migrou.

CREATE OR REPLACE FUNCTION core.reagendar(p_nome text, p_cron text)
RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_antes text;
BEGIN
    SELECT a.cron INTO v_antes FROM core.agendamentos AS a WHERE a.nome = p_nome FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'O agendamento % não existe.', core.citar(p_nome) USING ERRCODE = 'FM404';
    END IF;
    UPDATE core.agendamentos AS a SET cron = p_cron WHERE a.nome = p_nome;
    PERFORM core.registrar('info', 'Agendamento mudado.',
                           jsonb_build_object('agendamento', p_nome, 'antes', v_antes, 'cron', p_cron));
    RETURN CASE
               WHEN NOT coalesce((core.parametro('agenda_no_pg_cron'))::boolean, false)
                   THEN 'vale assim que o aplicativo reler a agenda'
               WHEN core.cron_neste_banco()
                   THEN 'vale em até um minuto'
               ELSE 'vale depois do próximo migrar: o pg_cron mora em outro banco'
           END;
END
$$;

COMMENT ON FUNCTION core.reagendar(text, text) IS
'Muda a hora (UTC) de um agendamento de core.agendamentos e diz quando a mudança vale. Fica em core.ocorrencias quem
mudou. Erros: FM404 agendamento que não existe; FM422 horário que core.cron_valido não aceita. Fonte: regra 8.';

GRANT EXECUTE ON FUNCTION core.reagendar(text, text) TO formigueiro_dba;
