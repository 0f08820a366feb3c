-- O protocolo de inicialização (D-8 4.5): cursores, replay do que se perdeu, relato.

CREATE OR REPLACE FUNCTION d8.iniciar()
RETURNS jsonb
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM d8.semear_cursores();
    RETURN d8.iniciar(d8.cursores());
END
$$;

COMMENT ON FUNCTION d8.iniciar() IS
'd8.iniciar(p_offsets) com os cursores de agora, que cria se faltam: quando nada se tratou antes. Erros: FM409 se há
publicações em curso há mais de 60 s. Fonte: D-8 4.5.';

CREATE OR REPLACE FUNCTION d8.iniciar(p_offsets jsonb)
RETURNS jsonb
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_aquem    jsonb;
    v_tratados int := 0;
    v_lote     int;
    v_ate      bigint;
    v_relato   jsonb;
BEGIN
    PERFORM d8.semear_cursores();
    -- Até onde o log ia: com quem publique sem parar, o fim dele não se alcança.
    v_ate := core.obter_maior_sequence();
    LOOP
        v_lote := d8.processar_pendentes();
        v_tratados := v_tratados + v_lote;
        EXIT WHEN v_lote = 0
               OR (SELECT c.posicao >= v_ate FROM core.consumidores AS c WHERE c.colonia = 'D-8');
    END LOOP;
    v_aquem := d8.aquem_do_log();
    IF v_aquem IS NOT NULL THEN
        PERFORM core.registrar('erro', 'D-8 mais velha que o log: espera por d8.reconstruir().',
                               v_aquem || '{"colonia": "D-8"}');
    END IF;

    v_relato := jsonb_build_object(
                    'colonia', 'D-8',
                    'offsets_restaurados', p_offsets,
                    'eventos_tratados', v_tratados,
                    'projetos_ativos', (SELECT count(*) FROM d8.projetos_monitorados AS p WHERE p.status = 'ativo'));
    PERFORM core.registrar('info', 'D-8 inicializada.', v_relato);
    RETURN v_relato;
END
$$;

COMMENT ON FUNCTION d8.iniciar(jsonb) IS
'Cria os cursores que faltam, trata o que está pendente e devolve {colonia, offsets_restaurados, eventos_tratados,
projetos_ativos}; p_offsets, o d8.cursores() de antes do replay, é o offsets_restaurados. Tudo numa transação: com muito
atraso, chame antes core.despachar(), que confirma a cada lote. Erros: FM409 se há publicações em curso há mais de 60 s.
Fonte: D-8 4.5.';

GRANT EXECUTE ON FUNCTION d8.iniciar(), d8.iniciar(jsonb) TO formigueiro_app, formigueiro_dba;
