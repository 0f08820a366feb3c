-- Cria uma função no esquema registro, se ainda não existe assim. SECURITY DEFINER para que o dono seja sempre
-- core_dono, e PUBLIC fique de fora, também quando quem carrega um esquema é um superusuário.

CREATE OR REPLACE FUNCTION core._gerar_funcao(
    p_nome       text,
    p_parametros text,
    p_retorno    text,
    p_corpo      text,
    p_comentario text
)
RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_assinatura text := format('registro.%I(%s)', p_nome, p_parametros);
BEGIN
    IF EXISTS (SELECT FROM pg_catalog.pg_proc AS f
                WHERE f.pronamespace = 'registro'::regnamespace
                  AND f.proname = p_nome
                  AND f.prosrc = p_corpo) THEN
        RETURN false;
    END IF;
    EXECUTE format('CREATE OR REPLACE FUNCTION %s RETURNS %s LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS %L',
                   v_assinatura, p_retorno, p_corpo);
    EXECUTE format('COMMENT ON FUNCTION %s IS %L', v_assinatura, p_comentario);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO d6b_dono, d8_dono', v_assinatura);
    RETURN true;
END
$$;

COMMENT ON FUNCTION core._gerar_funcao(text, text, text, text, text) IS
'Cria ou substitui registro.<p_nome>, em plpgsql, imutável e aberta aos donos das colônias; devolve se mudou algo.';

-- Em plpgsql, e não em SQL: o planejador dissolveria uma função SQL na expressão de quem a chama, e cada transação
-- voltaria a iniciar as expressões de tudo para usar uma parte.
CREATE OR REPLACE FUNCTION core._corpo_de_expressao(p_expressao text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN format(E'\nBEGIN\n    RETURN %s;\nEND\n', p_expressao);
END
$$;

COMMENT ON FUNCTION core._corpo_de_expressao(text) IS
'Corpo plpgsql de uma função que devolve a expressão.';
