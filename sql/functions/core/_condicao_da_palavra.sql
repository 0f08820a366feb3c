-- O que cada palavra-chave do JSON Schema exige, em SQL. É o dicionário do compilador: o resto só percorre o esquema.

CREATE OR REPLACE FUNCTION core._condicao_da_palavra(p_palavra text, p_esquema jsonb, p_pai text, p_chave text)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_argumento jsonb := p_esquema -> p_palavra;
    v_valor     text := core._valor(p_pai, p_chave);
    v_texto     text := core._texto(p_pai, p_chave);
BEGIN
    CASE p_palavra
        WHEN 'enum' THEN
            RETURN format('%s IN (%s)', v_valor, core._literais(v_argumento));
        WHEN 'const' THEN
            RETURN format('%s = %L::jsonb', v_valor, v_argumento);
        WHEN 'allOf', 'anyOf', 'oneOf' THEN
            RETURN core._condicao_composta(p_palavra, v_argumento, p_pai, p_chave);
        WHEN 'not' THEN
            RETURN format('NOT (%s)', core._compilar_condicao(v_argumento, p_pai, p_chave));
        WHEN 'if' THEN
            RETURN format('CASE WHEN %s THEN %s ELSE %s END',
                          core._compilar_condicao(v_argumento, p_pai, p_chave),
                          core._compilar_condicao(coalesce(p_esquema -> 'then', 'true'), p_pai, p_chave),
                          core._compilar_condicao(coalesce(p_esquema -> 'else', 'true'), p_pai, p_chave));

        -- Os bytes quase sempre decidem, pois um caractere tem de 1 a 4 deles; contar caracteres seria um quinto do
        -- custo de validar uma atualização de 500.
        WHEN 'minLength' THEN
            RETURN format('(octet_length(%s) >= %s OR char_length(%s) >= %s)',
                          v_texto, v_argumento::bigint * 4, v_texto, v_argumento);
        WHEN 'maxLength' THEN
            RETURN format('(octet_length(%s) <= %s OR char_length(%s) <= %s)',
                          v_texto, v_argumento, v_texto, v_argumento);
        WHEN 'pattern' THEN
            RETURN format('%s ~ %L COLLATE "C"', v_texto, v_argumento #>> '{}');
        WHEN 'format' THEN
            RETURN core._condicao_do_formato(v_argumento #>> '{}', v_valor, v_texto);

        WHEN 'type' THEN
            RETURN CASE
                       WHEN v_argumento @> '"integer"' AND NOT v_argumento @> '"number"'
                       THEN format('%s::numeric = trunc(%s::numeric)', v_valor, v_valor)
                   END;
        WHEN 'minimum' THEN
            RETURN format('%s::numeric >= %s', v_valor, v_argumento);
        WHEN 'maximum' THEN
            RETURN format('%s::numeric <= %s', v_valor, v_argumento);
        WHEN 'exclusiveMinimum' THEN
            RETURN format('%s::numeric > %s', v_valor, v_argumento);
        WHEN 'exclusiveMaximum' THEN
            RETURN format('%s::numeric < %s', v_valor, v_argumento);

        WHEN 'minItems' THEN
            RETURN format('jsonb_array_length(%s) >= %s', v_valor, v_argumento);
        WHEN 'maxItems' THEN
            RETURN format('jsonb_array_length(%s) <= %s', v_valor, v_argumento);
        WHEN 'items' THEN
            RETURN core._condicao_de_cada(v_argumento, v_valor);

        WHEN 'required' THEN
            RETURN format('%s ?& %L', v_valor, ARRAY(SELECT jsonb_array_elements_text(v_argumento)));
        WHEN 'properties' THEN
            RETURN core._condicao_das_propriedades(p_esquema, v_valor);
        WHEN 'additionalProperties' THEN
            RETURN core._condicao_de_cada(v_argumento, format('jsonb_path_query_array(%s, ''strict $.*'')',
                                                              core._demais_campos(p_esquema, v_valor)));
        ELSE
            RETURN NULL;  -- uma anotação; "then" e "else" vão com "if"
    END CASE;
END
$$;

COMMENT ON FUNCTION core._condicao_da_palavra(text, jsonb, text, text) IS
'Condição de uma palavra-chave do esquema sobre um valor do tipo a que ela se aplica, ou NULL se não exige nada. As
vizinhas de que algumas dependem são lidas do próprio esquema. Fonte: JSON Schema 2020-12, Core 10 e Validation 6.';

CREATE OR REPLACE FUNCTION core._tipo_da_palavra(p_palavra text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN CASE
               WHEN p_palavra IN ('minLength', 'maxLength', 'pattern', 'format') THEN 'string'
               WHEN p_palavra IN ('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum') THEN 'number'
               WHEN p_palavra = 'type' THEN 'number'  -- só "integer" exige algo além do tipo
               WHEN p_palavra IN ('minItems', 'maxItems', 'items') THEN 'array'
               WHEN p_palavra IN ('required', 'properties', 'additionalProperties') THEN 'object'
           END;
END
$$;

COMMENT ON FUNCTION core._tipo_da_palavra(text) IS
'Tipo de valor a que a palavra-chave se aplica (os outros a ignoram), ou NULL se a todos.';

CREATE OR REPLACE FUNCTION core._condicao_do_formato(p_formato text, p_valor text DEFAULT '', p_texto text DEFAULT '')
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN CASE p_formato
               WHEN 'uuid' THEN format('core.uuid_valido(%s)', p_texto)
               WHEN 'date' THEN format('core.data_valida(%s)', p_texto)
               WHEN 'date-time' THEN format('core.data_hora_valida(%s, %s)', p_valor, p_texto)
           END;
END
$$;

COMMENT ON FUNCTION core._condicao_do_formato(text, text, text) IS
'Chamada que confere o formato de uma string, dadas as expressões de seu valor e de seu texto; NULL se ele não é um dos
três conhecidos.';

CREATE OR REPLACE FUNCTION core._literais(p_valores jsonb)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN (SELECT string_agg(format('%L::jsonb', v.valor), ', ') FROM jsonb_array_elements(p_valores) AS v (valor));
END
$$;

COMMENT ON FUNCTION core._literais(jsonb) IS
'Os elementos da lista como literais jsonb.';

CREATE OR REPLACE FUNCTION core._condicao_composta(p_palavra text, p_formas jsonb, p_pai text, p_chave text)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_condicoes text[] := ARRAY(SELECT core._compilar_condicao(f.forma, p_pai, p_chave)
                                  FROM jsonb_array_elements(p_formas) AS f (forma));
BEGIN
    RETURN CASE p_palavra
               WHEN 'allOf' THEN core._conjuncao(VARIADIC v_condicoes)
               WHEN 'anyOf' THEN format('(%s)', array_to_string(v_condicoes, ' OR '))
               WHEN 'oneOf' THEN format('(%s)::int = 1', array_to_string(v_condicoes, ')::int + ('))
           END;
END
$$;

COMMENT ON FUNCTION core._condicao_composta(text, jsonb, text, text) IS
'Condição de "allOf", "anyOf" ou "oneOf".';
