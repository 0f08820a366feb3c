-- A varredura das saídas de conclusão (D-6b 4.3, passo 6): o que o snapshot guarda e ainda não saiu.

CREATE OR REPLACE FUNCTION d6b.republicar_saidas_conclusao_pendentes(
    p_limite int DEFAULT (core.parametro('limite_varredura_saidas_conclusao'))::int
)
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_id    uuid;
    v_total int := 0;
BEGIN
    PERFORM core.exigir_limite(p_limite, 'limite');
    FOR v_id IN
        SELECT a.id
          FROM d6b.acompanhamentos AS a
         WHERE a.saidas_conclusao_pendentes
           AND a.status = 'concluido'
         ORDER BY a.data_conclusao
         LIMIT p_limite
           FOR UPDATE SKIP LOCKED
    LOOP
        IF d6b.tentar_saidas_conclusao(v_id) THEN
            v_total := v_total + 1;
        END IF;
    END LOOP;
    PERFORM core.marcar_execucao('d6b-saidas-conclusao');
    RETURN v_total;
END
$$;

COMMENT ON FUNCTION d6b.republicar_saidas_conclusao_pendentes(int) IS
'Republica, em ordem e com os mesmos event_ids, as saídas pendentes de até p_limite conclusões e desliga sua marca;
devolve quantas ficaram em dia. Uma que falha deixa ocorrência e não detém as outras. Erros: FM422 limite menor que 1.
Fonte: D-6b 4.3, E04.';

CREATE OR REPLACE FUNCTION d6b.tentar_saidas_conclusao(p_acompanhamento_id uuid)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_acompanhamento d6b.acompanhamentos;
    v_saida          jsonb;
    v_erro           text;
BEGIN
    SELECT * INTO STRICT v_acompanhamento FROM d6b.acompanhamentos AS a WHERE a.id = p_acompanhamento_id FOR UPDATE;
    IF d6b.saida_anterior_detida(v_acompanhamento) THEN
        RETURN false;
    END IF;
    FOR v_saida IN
        SELECT s.saida
          FROM jsonb_array_elements(v_acompanhamento.saidas_conclusao) WITH ORDINALITY AS s (saida, n)
         WHERE NOT (s.saida ->> 'publicada')::boolean
         ORDER BY s.n
    LOOP
        PERFORM core._publicar_saida('D-6b', v_saida);
    END LOOP;
    PERFORM d6b.marcar_publicadas(p_acompanhamento_id, v_acompanhamento.saidas_conclusao);
    RETURN true;
EXCEPTION WHEN OTHERS OR assert_failure THEN
    GET STACKED DIAGNOSTICS v_erro = MESSAGE_TEXT;
    PERFORM core.registrar('erro', 'Falha ao republicar saídas de conclusão',
                           jsonb_build_object('colonia', 'D-6b',
                                              'demanda_id', v_acompanhamento.demanda_id,
                                              'conselheiro_id', v_acompanhamento.conselheiro_id,
                                              'acompanhamento_id', p_acompanhamento_id,
                                              'erro', v_erro));
    RETURN false;
END
$$;

COMMENT ON FUNCTION d6b.tentar_saidas_conclusao(uuid) IS
'Publica o que falta do snapshot de uma conclusão, em ordem, tudo ou nada; a falha deixa ocorrência e devolve false.
Fonte: D-6b 4.3, E04.';

CREATE OR REPLACE FUNCTION d6b.saida_anterior_detida(p_acompanhamento d6b.acompanhamentos)
RETURNS boolean
LANGUAGE sql
STABLE
AS $$
    -- conselheiro.demanda_iniciada, por exemplo, quando a primeira atualização é a de conclusão.
    SELECT EXISTS (SELECT
                     FROM core.dlq AS d
                    WHERE d.colonia = 'D-6b'
                      AND d.chave = p_acompanhamento.demanda_id::text
                      AND d.estado IN ('pendente', 'em_espera')
                      AND d.especie = 'saida'
                      AND NOT p_acompanhamento.saidas_conclusao
                              @> jsonb_build_array(jsonb_build_object('event_id', d.saida -> 'event_id')))
$$;

COMMENT ON FUNCTION d6b.saida_anterior_detida(d6b.acompanhamentos) IS
'Se a DLQ guarda uma saída desta demanda que não é da conclusão e deve sair antes dela. Fonte: regra 5.';

CREATE OR REPLACE FUNCTION d6b.saidas_em_espera()
RETURNS TABLE (espera bigint, mais_antiga timestamptz)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT count(*), min(a.data_conclusao)
      FROM d6b.acompanhamentos AS a
     WHERE a.saidas_conclusao_pendentes
$$;

COMMENT ON FUNCTION d6b.saidas_em_espera() IS
'Quantas conclusões têm saída por publicar, e desde quando a mais antiga.';

GRANT EXECUTE ON FUNCTION d6b.republicar_saidas_conclusao_pendentes(int), d6b.saidas_em_espera()
   TO formigueiro_app, formigueiro_dba;
