-- Conta a tentativa e marca a próxima antes de tentar: se o servidor cair no meio, a conta fica (regra 4).

CREATE OR REPLACE FUNCTION core.reservar_tentativa(p_colonia text)
RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_id bigint;
BEGIN
    UPDATE core.dlq AS d
       SET tentativas = d.tentativas + 1,
           -- Quem espera por uma trava não falhou: tenta-se logo, ainda que ela dure horas.
           proxima_tentativa = clock_timestamp() + least(core._recuo_da_tentativa(d.tentativas + 1),
                                                         CASE WHEN d.sqlstate = '55P03' THEN interval '30 seconds' END),
           atualizado_em = clock_timestamp()
     WHERE d.id = (SELECT e.id
                     FROM core.dlq AS e
                    WHERE e.colonia = p_colonia
                      AND e.estado = 'pendente'
                      AND (e.proxima_tentativa <= clock_timestamp()
                           -- Nenhuma espera é tão longa: esta hora a marcou um relógio adiantado.
                           OR e.proxima_tentativa > clock_timestamp() + interval '61 minutes')
                    ORDER BY e.sequence_number, e.id
                    LIMIT 1
                      FOR UPDATE SKIP LOCKED)
    RETURNING d.id INTO v_id;
    RETURN v_id;
END
$$;

COMMENT ON FUNCTION core.reservar_tentativa(text) IS
'Toma a próxima entrada da DLQ da colônia cuja hora chegou, conta a tentativa e marca a seguinte; devolve o id, ou
NULL se não há. Quem chama confirma antes de tentar. Fonte: regra 4.';

GRANT EXECUTE ON FUNCTION core.reservar_tentativa(text) TO formigueiro_app, formigueiro_dba;
