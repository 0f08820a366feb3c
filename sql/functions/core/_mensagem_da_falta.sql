-- As palavras com que o Registro recusa um payload.

CREATE OR REPLACE FUNCTION core._mensagem_da_falta(p_palavra text, p_argumento jsonb)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN CASE p_palavra
               WHEN 'type' THEN 'deve ser ' || core._nome_dos_tipos(p_argumento)
               WHEN 'enum' THEN format('deve ser um destes valores: %s', core._lista_de_valores(p_argumento))
               WHEN 'const' THEN format('deve ser %s', p_argumento)
               WHEN 'anyOf' THEN 'não tem nenhuma das formas aceitas'
               WHEN 'oneOf' THEN 'deve ter exatamente uma das formas aceitas'
               WHEN 'not' THEN 'tem uma forma que não é aceita'
               WHEN 'minLength' THEN format('deve ter pelo menos %s caractere(s)', p_argumento)
               WHEN 'maxLength' THEN format('deve ter no máximo %s caractere(s)', p_argumento)
               WHEN 'pattern' THEN format('não segue o padrão %s', p_argumento #>> '{}')
               WHEN 'format' THEN core._mensagem_do_formato(p_argumento #>> '{}')
               WHEN 'minimum' THEN format('deve ser maior ou igual a %s', p_argumento)
               WHEN 'maximum' THEN format('deve ser menor ou igual a %s', p_argumento)
               WHEN 'exclusiveMinimum' THEN format('deve ser maior que %s', p_argumento)
               WHEN 'exclusiveMaximum' THEN format('deve ser menor que %s', p_argumento)
               WHEN 'minItems' THEN format('deve ter pelo menos %s item(ns)', p_argumento)
               WHEN 'maxItems' THEN format('deve ter no máximo %s item(ns)', p_argumento)
           END;
END
$$;

COMMENT ON FUNCTION core._mensagem_da_falta(text, jsonb) IS
'O que dizer de um valor que não cumpre a palavra-chave.';

CREATE OR REPLACE FUNCTION core._mensagem_do_formato(p_formato text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN CASE p_formato
               WHEN 'uuid' THEN 'UUID inválido'
               WHEN 'date' THEN 'data inválida (AAAA-MM-DD)'
               WHEN 'date-time' THEN 'data-hora inválida (ISO-8601 com fuso)'
           END;
END
$$;

COMMENT ON FUNCTION core._mensagem_do_formato(text) IS
'O que dizer de um texto que não tem o formato.';

CREATE OR REPLACE FUNCTION core._nome_dos_tipos(p_tipos jsonb)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN (
        SELECT string_agg(CASE t.tipo
                              WHEN 'object' THEN 'objeto'
                              WHEN 'array' THEN 'lista'
                              WHEN 'string' THEN 'texto'
                              WHEN 'number' THEN 'número'
                              WHEN 'integer' THEN 'número inteiro'
                              WHEN 'boolean' THEN 'verdadeiro ou falso'
                              WHEN 'null' THEN 'nulo'
                          END, ' ou ')
          FROM jsonb_array_elements_text(jsonb_build_array() || p_tipos) AS t (tipo));
END
$$;

COMMENT ON FUNCTION core._nome_dos_tipos(jsonb) IS
'O argumento de "type", um nome ou uma lista deles, em português.';

CREATE OR REPLACE FUNCTION core._lista_de_valores(p_valores jsonb)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN (SELECT string_agg(v.valor::text, ', ') FROM jsonb_array_elements(p_valores) AS v (valor));
END
$$;

COMMENT ON FUNCTION core._lista_de_valores(jsonb) IS
'Os valores separados por vírgulas.';
