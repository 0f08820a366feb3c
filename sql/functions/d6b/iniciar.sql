-- O protocolo de inicialização (D-6b 4.3): repetível, e por isso chamado a cada subida do app.

CREATE OR REPLACE FUNCTION d6b.iniciar()
RETURNS jsonb
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_balanco   jsonb;
    v_tratados  int;
    v_ate       bigint;
    v_replay    int := 0;
    v_inativos  int;
    v_republicadas int;
BEGIN
    PERFORM d6b.semear_cursores();
    -- Até onde o log ia: com quem publique sem parar, o fim dele não se alcança.
    v_ate := core.obter_maior_sequence();
    LOOP
        v_tratados := core._drenar('D-6b', 30);
        v_replay := v_replay + v_tratados;
        EXIT WHEN v_tratados = 0
               OR (SELECT c.posicao >= v_ate FROM core.consumidores AS c WHERE c.colonia = 'D-6b');
    END LOOP;
    -- Os dois últimos passos são de aviso e de reparo, cada um por si: se um falha, o replay e o outro ficam.
    BEGIN
        v_inativos := d6b.verificar_acompanhamentos_inativos();
    EXCEPTION WHEN OTHERS OR assert_failure THEN
        PERFORM d6b.registrar_falha_no_inicio('verificar_acompanhamentos_inativos', SQLSTATE, SQLERRM);
    END;
    BEGIN
        v_republicadas := d6b.republicar_saidas_conclusao_pendentes();
    EXCEPTION WHEN OTHERS OR assert_failure THEN
        PERFORM d6b.registrar_falha_no_inicio('republicar_saidas_conclusao_pendentes', SQLSTATE, SQLERRM);
    END;

    v_balanco := jsonb_build_object('eventos_tratados', v_replay,
                                    'acompanhamentos_inativos', v_inativos,
                                    'conclusoes_republicadas', v_republicadas);
    RAISE LOG USING MESSAGE = 'D-6b Relatoria e Acompanhamento inicializada', DETAIL = v_balanco::text;
    RETURN v_balanco;
END
$$;

COMMENT ON FUNCTION d6b.iniciar() IS
'Semeia cursores, trata o que ficou por tratar, relata inativos e republica saídas de conclusão pendentes; devolve
{eventos_tratados, acompanhamentos_inativos, conclusoes_republicadas}, nulo o passo que falhou, de que fica ocorrência. Numa transação só: com muito atraso, prefira
antes CALL core.despachar(). Fonte: D-6b 4.3.';

CREATE OR REPLACE FUNCTION d6b.registrar_falha_no_inicio(p_passo text, p_sqlstate text, p_erro text)
RETURNS void
LANGUAGE sql
AS $$
    SELECT core.registrar('erro', 'Falha na inicialização da D-6b',
                          jsonb_build_object('colonia', 'D-6b', 'passo', p_passo, 'sqlstate', p_sqlstate, 'erro', p_erro))
$$;

COMMENT ON FUNCTION d6b.registrar_falha_no_inicio(text, text, text) IS
'Ocorrência de nível erro do passo da inicialização que falhou. Fonte: D-6b 4.3.';

GRANT EXECUTE ON FUNCTION d6b.iniciar() TO formigueiro_app, formigueiro_dba;
