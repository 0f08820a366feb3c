-- Um agendamento acabou bem. Cada trabalho o diz de si: assim vale do mesmo modo quem o chamou, pg_cron, app ou DBA.

CREATE OR REPLACE FUNCTION core.marcar_execucao(p_nome text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- O despacho é chamado a cada aviso: marcar a cada meio minuto basta. Quem acha a linha tomada desiste, pois outro
    -- acaba de marcá-la, ou vai marcá-la, e ninguém há de esperar por isso.
    UPDATE core.agendamentos AS a
       SET ultima_conclusao = clock_timestamp()
      FROM (SELECT t.nome
              FROM core.agendamentos AS t
             WHERE t.nome = p_nome
               AND (coalesce(t.ultima_conclusao, '-infinity') < clock_timestamp() - interval '30 seconds'
                    OR core.no_futuro(t.ultima_conclusao))
               FOR UPDATE SKIP LOCKED) AS livre
     WHERE a.nome = livre.nome;
END
$$;

COMMENT ON FUNCTION core.marcar_execucao(text) IS
'Anota em core.agendamentos que o trabalho acabou bem, no máximo a cada 30 s e sem esperar por ninguém. Desfeita a
transação, desfaz-se a marca.';

GRANT EXECUTE ON FUNCTION core.marcar_execucao(text) TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
