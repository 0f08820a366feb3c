-- Leitura de core.parametros pelas funções.

CREATE OR REPLACE FUNCTION core.parametro(p_nome text)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN (SELECT p.valor FROM core.parametros AS p WHERE p.nome = p_nome);
END
$$;

COMMENT ON FUNCTION core.parametro(text) IS
'Valor de um parâmetro, ou NULL se não existe; números com (core.parametro(''nome''))::int, textos com #>> ''{}''.';

GRANT EXECUTE ON FUNCTION core.parametro(text) TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
