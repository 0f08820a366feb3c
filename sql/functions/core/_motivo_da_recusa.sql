-- As palavras-chave que o Registro conhece, e a forma que cada uma pede.

CREATE OR REPLACE FUNCTION core._motivo_da_recusa(p_palavra text, p_argumento jsonb)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    c_tipos CONSTANT jsonb := jsonb '["object", "array", "string", "number", "integer", "boolean", "null"]';
    v_tipo  text := jsonb_typeof(p_argumento);
    v_texto text := p_argumento #>> '{}';
BEGIN
    RETURN CASE
               WHEN p_palavra LIKE 'x-%'
                 OR p_palavra IN ('$id', '$comment', 'title', 'description', 'default', 'examples', 'const')
               THEN NULL
               WHEN p_palavra = '$schema' THEN
                   CASE WHEN v_texto <> 'https://json-schema.org/draft/2020-12/schema' THEN 'só o draft 2020-12' END
               WHEN p_palavra IN ('items', 'additionalProperties', 'not', 'if', 'then', 'else') THEN
                   NULL  -- um esquema, a que core._conferir_esquema desce
               WHEN p_palavra = 'properties' THEN
                   CASE WHEN v_tipo <> 'object' THEN 'deve ser um objeto' END
               WHEN p_palavra IN ('allOf', 'anyOf', 'oneOf', 'enum') THEN
                   CASE WHEN v_tipo <> 'array' OR p_argumento = '[]' THEN 'deve ser uma lista com elementos' END
               WHEN p_palavra = 'required' THEN
                   CASE WHEN v_tipo <> 'array' OR p_argumento @? 'strict $[*] ? (@.type() != "string")'
                        THEN 'deve ser uma lista de nomes' END
               WHEN p_palavra = 'type' THEN
                   CASE WHEN p_argumento = '[]' OR NOT c_tipos @> p_argumento THEN 'tipo desconhecido' END
               WHEN p_palavra IN ('minLength', 'maxLength', 'minItems', 'maxItems') THEN
                   CASE WHEN v_tipo <> 'number' OR v_texto !~ '^[0-9]{1,9}$'
                        THEN 'deve ser um inteiro de 0 a 999999999' END
               WHEN p_palavra IN ('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum') THEN
                   CASE WHEN v_tipo <> 'number' THEN 'deve ser um número' END
               WHEN p_palavra = 'format' THEN
                   CASE WHEN core._condicao_do_formato(v_texto) IS NULL THEN 'só uuid, date e date-time' END
               WHEN p_palavra = 'pattern' THEN
                   CASE WHEN v_tipo <> 'string' OR NOT core._padrao_aceito(v_texto)
                        THEN E'só literais, classes, grupos e quantificadores em ASCII, sem ponto nem \\d, \\w, \\s' END
               ELSE 'palavra-chave desconhecida, que mudaria o sentido do esquema'
           END;
END
$$;

COMMENT ON FUNCTION core._motivo_da_recusa(text, jsonb) IS
'Por que a palavra-chave, com esse argumento, não é aceita; NULL se é.';
