-- Quem foi sorteado e não começou (D-6b 4.4): por ora, só o relato.

CREATE OR REPLACE FUNCTION d6b.verificar_acompanhamentos_inativos(p_agora timestamptz DEFAULT core.agora())
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_dias  int := (core.parametro('dias_limite_acompanhamento_inativo'))::int;
    v       d6b.acompanhamentos;
    v_total int := 0;
BEGIN
    PERFORM core.exigir_hora(p_agora);
    FOR v IN
        SELECT a.*
          FROM d6b.acompanhamentos AS a
         WHERE a.status = 'aguardando_inicio'
           AND a.criado_em < p_agora - make_interval(days => v_dias)
         ORDER BY a.criado_em
    LOOP
        PERFORM core.registrar('aviso', format('Acompanhamento sem início após %s dias do sorteio', v_dias),
                               jsonb_build_object('colonia', 'D-6b',
                                                  'acompanhamento_id', v.id,
                                                  'demanda_id', v.demanda_id,
                                                  'conselheiro_id', v.conselheiro_id,
                                                  'data_sorteio', core.iso(v.data_sorteio)));
        v_total := v_total + 1;
    END LOOP;
    PERFORM core.marcar_execucao('d6b-inativos');
    RETURN v_total;
END
$$;

COMMENT ON FUNCTION d6b.verificar_acompanhamentos_inativos(timestamptz) IS
'Registra um aviso por acompanhamento sem início há mais de 7 dias (parâmetro dias_limite_acompanhamento_inativo) e
devolve quantos. Erros: FM422 hora nula ou infinita. Fonte: D-6b 4.4.';

GRANT EXECUTE ON FUNCTION d6b.verificar_acompanhamentos_inativos(timestamptz) TO formigueiro_app, formigueiro_dba;
