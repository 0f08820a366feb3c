-- O resumo de fecho, composto pelo Python, entra no snapshot da conclusão e é publicado (E04).

CREATE OR REPLACE FUNCTION d6b.publicar_resumo(p_atualizacao_id uuid, p_reserva uuid, p_resumo text, p_fontes uuid[])
RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s'  -- quem espera mais volta à fila, e não detém os outros textos nem o despacho (N66)
AS $$
DECLARE
    v_atualizacao    d6b.atualizacoes;
    v_acompanhamento d6b.acompanhamentos;
    v_saidas         jsonb;
BEGIN
    IF num_nulls(p_atualizacao_id, p_reserva, p_resumo, p_fontes) > 0 THEN
        RAISE EXCEPTION 'Campos obrigatórios: atualizacao_id, reserva, resumo e fontes.' USING ERRCODE = 'FM422';
    END IF;
    IF NOT d6b.consumir_reserva(p_atualizacao_id, p_reserva, 'fecho') THEN
        RETURN false;
    END IF;
    SELECT * INTO STRICT v_atualizacao FROM d6b.atualizacoes AS u WHERE u.id = p_atualizacao_id;
    SELECT * INTO STRICT v_acompanhamento FROM d6b.acompanhamentos AS a WHERE a.id = v_atualizacao.acompanhamento_id;

    PERFORM d6b.guardar_resumo(v_acompanhamento.id, p_resumo);
    IF NOT d6b.e_o_ciclo_mais_novo(v_acompanhamento) THEN
        RETURN true;
    END IF;
    v_saidas := jsonb_build_array(d6b.saida_resumo_ciclo(v_acompanhamento, p_resumo, p_fontes, true,
                                                         v_atualizacao.correlacao_id));
    PERFORM core._exigir_saida(v_saidas -> 0);
    UPDATE d6b.acompanhamentos AS a
       SET saidas_conclusao = a.saidas_conclusao || d6b.por_publicar(v_saidas),
           saidas_conclusao_pendentes = true
     WHERE a.id = v_acompanhamento.id;
    PERFORM d6b.publicar_conclusao(d6b.causa_da_conclusao(v_atualizacao), v_acompanhamento.id, v_saidas);
    RETURN true;
END
$$;

COMMENT ON FUNCTION d6b.publicar_resumo(uuid, uuid, text, uuid[]) IS
'Junta o resumo de fecho ao snapshot saidas_conclusao e o publica; se não puder, a varredura o republica. Devolve false,
sem nada fazer, se a reserva não vale mais. De um ciclo que já não é o mais novo da demanda, o resumo só se guarda. Erros:
FM422 argumento nulo, ou resumo que o Registro recusa: nada muda. Fonte: D-6b 3.7.1, E04, N47, N74.';

GRANT EXECUTE ON FUNCTION d6b.publicar_resumo(uuid, uuid, text, uuid[]) TO formigueiro_app;
