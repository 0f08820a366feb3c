-- O protocolo de inicialização (D-8 4.5): cursores, replay do que se perdeu, relato.

CREATE OR REPLACE FUNCTION d8.iniciar()
RETURNS jsonb
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_offsets  jsonb;
    v_tratados int := 0;
    v_lote     int;
    v_ate      bigint;
    v_relato   jsonb;
BEGIN
    PERFORM d8.semear_cursores();
    SELECT jsonb_object_agg(o.tipo_evento, o.last_sequence) INTO v_offsets FROM d8.consumer_offset AS o;
    -- Até onde o log ia: com quem publique sem parar, o fim dele não se alcança.
    v_ate := core.obter_maior_sequence();
    LOOP
        v_lote := d8.processar_pendentes();
        v_tratados := v_tratados + v_lote;
        EXIT WHEN v_lote = 0
               OR (SELECT c.posicao >= v_ate FROM core.consumidores AS c WHERE c.colonia = 'D-8');
    END LOOP;

    v_relato := jsonb_build_object(
                    'colonia', 'D-8',
                    'offsets_restaurados', v_offsets,
                    'eventos_tratados', v_tratados,
                    'projetos_ativos', (SELECT count(*) FROM d8.projetos_monitorados AS p WHERE p.status = 'ativo'));
    PERFORM core.registrar('info', 'D-8 inicializada.', v_relato);
    RETURN v_relato;
END
$$;

COMMENT ON FUNCTION d8.iniciar() IS
'Cria os cursores que faltam, trata o que está pendente e devolve {colonia, offsets_restaurados, eventos_tratados,
projetos_ativos}. Tudo numa transação: com muito atraso, chame antes core.despachar(), que confirma a cada lote.
Erros: FM409 se há publicações em curso há mais de 60 s. Fonte: D-8 4.5.';

GRANT EXECUTE ON FUNCTION d8.iniciar() TO formigueiro_app, formigueiro_dba;
