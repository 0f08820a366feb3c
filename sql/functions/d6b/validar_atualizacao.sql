-- O mesmo julgamento do handler, para quem quer saber antes de publicar.

CREATE OR REPLACE FUNCTION d6b.validar_atualizacao(
    p_tipo       text,
    p_conteudo   jsonb,
    p_hoje       date DEFAULT d6b.dia_dos_prazos(core.agora()),
    p_demanda_id uuid DEFAULT NULL
)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_conteudo jsonb := coalesce(p_conteudo, '{}');
    v_erros    jsonb;
BEGIN
    IF (p_hoje BETWEEN date '0001-01-01' AND date '9999-12-31') IS NOT TRUE THEN
        PERFORM core.recusar(p_hoje, 'hoje', 'uma data entre os anos 1 e 9999');
    END IF;
    IF d6b.campos_obrigatorios(p_tipo) IS NULL THEN
        v_erros := '[{"campo": "tipo", "mensagem": "Tipo de atualização inválido."}]';
    ELSE
        v_erros := d6b.erros_de_limite('{}', v_conteudo, NULL)
                   || d6b.erros_atualizacao(p_tipo, v_conteudo, p_hoje)
                   || d6b.erros_plano(p_demanda_id, v_conteudo);
        IF d6b.conclui(jsonb_build_object('tipo', p_tipo, 'conteudo_estruturado', v_conteudo)) THEN
            v_erros := v_erros || d6b.perdas_previstas(p_demanda_id, v_conteudo, v_erros);
        END IF;
    END IF;
    RETURN jsonb_build_object('valido', v_erros = '[]', 'erros', v_erros);
END
$$;

COMMENT ON FUNCTION d6b.validar_atualizacao(text, jsonb, date, uuid) IS
'Valida o conteúdo estruturado de uma atualização: {valido, erros: [{campo, mensagem}]}. Inclui o que não impede a
conclusão, mas se perderia com ela: as faltas do plano de manutenção (E07), o desfecho que não se entende (N54) e os campos
que ficariam de fora (N56). p_demanda_id permite contar com os dados de uma demanda de manutenção; sem ele, julga-se como
se fosse uma. Erros: FM422 hoje nulo, infinito ou fora dos anos 1 a 9999. Fonte: D-6b 4.2.';

GRANT EXECUTE ON FUNCTION d6b.validar_atualizacao(text, jsonb, date, uuid) TO formigueiro_app, formigueiro_dba;
