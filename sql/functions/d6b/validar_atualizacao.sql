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
    IF d6b.campos_obrigatorios(p_tipo) IS NULL THEN
        v_erros := '[{"campo": "tipo", "mensagem": "Tipo de atualização inválido."}]';
    ELSE
        v_erros := d6b.erros_atualizacao(p_tipo, v_conteudo, p_hoje)
                   || d6b.erros_plano(p_demanda_id, v_conteudo);
    END IF;
    RETURN jsonb_build_object('valido', v_erros = '[]', 'erros', v_erros);
END
$$;

COMMENT ON FUNCTION d6b.validar_atualizacao(text, jsonb, date, uuid) IS
'Valida o conteúdo estruturado de uma atualização: {valido, erros: [{campo, mensagem}]}. Inclui as faltas do plano de
manutenção, que não impedem a conclusão (E07); p_demanda_id permite contar com os dados de uma demanda de manutenção.
Fonte: D-6b 4.2.';

GRANT EXECUTE ON FUNCTION d6b.validar_atualizacao(text, jsonb, date, uuid) TO formigueiro_app, formigueiro_dba;
