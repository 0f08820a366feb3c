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

-- Um parâmetro que um DBA estragou não há de parar o despacho, nem calar o estado.
CREATE OR REPLACE FUNCTION core._numero(p_nome text, p_maximo float8)
RETURNS float8
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_valor CONSTANT jsonb := core.parametro(p_nome);
BEGIN
    IF jsonb_typeof(v_valor) = 'number' THEN
        RETURN CASE WHEN v_valor::numeric BETWEEN 0 AND p_maximo::numeric THEN v_valor::float8 END;
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION core._numero(text, float8) IS
'O valor de um parâmetro; NULL se não é um número de 0 a p_maximo.';

GRANT EXECUTE ON FUNCTION core.parametro(text) TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
GRANT EXECUTE ON FUNCTION core._numero(text, float8) TO formigueiro_app, formigueiro_dba;
