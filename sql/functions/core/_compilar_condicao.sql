-- O compilador do Registro: de um JSON Schema (draft 2020-12) a uma expressão booleana sobre um valor jsonb.
--
-- A expressão é total: para qualquer jsonb dá verdadeiro ou falso, nunca NULL nem erro. O que só serve a um tipo
-- (uma conversão, uma extração) fica dentro de um CASE sobre jsonb_typeof, pois só o CASE garante a ordem.
--
-- Um objeto é uma expressão só, e não um comando por campo, porque o plpgsql reinicia as suas a cada transação:
-- muitas custariam mais que muitas comparações. O que está dentro dele, objetos e listas, vira função à parte
-- (_gerar_parte.sql): cada uma só se inicia se for usada, e extrai seu valor uma vez só.
--
-- O valor vem em duas partes, p_pai e p_chave, para que seu texto se extraia direto com ->>.

CREATE OR REPLACE FUNCTION core._compilar_condicao(p_esquema jsonb, p_pai text, p_chave text DEFAULT NULL)
RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    IF jsonb_typeof(p_esquema) = 'boolean' THEN
        RETURN p_esquema::text;
    END IF;
    RETURN core._conjuncao(core._condicao_por_tipo(p_esquema, p_pai, p_chave),
                           core._condicao_do_tipo(NULL, p_esquema, p_pai, p_chave));
END
$$;

COMMENT ON FUNCTION core._compilar_condicao(jsonb, text, text) IS
'Expressão SQL booleana que diz se o valor p_pai -> p_chave (p_pai, sem chave) cumpre o esquema, que já passou por
core._conferir_esquema. Gera em registro as funções de que ela precisa.';

CREATE OR REPLACE FUNCTION core._condicao_por_tipo(p_esquema jsonb, p_pai text, p_chave text)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_valor  text := core._valor(p_pai, p_chave);
    v_demais text := (NOT p_esquema ? 'type')::text;
BEGIN
    RETURN (
        -- Materializada para que cada condição se compile uma vez só: são citadas várias vezes abaixo.
        WITH t (tipo, condicao) AS MATERIALIZED (
            SELECT u.tipo,
                   CASE
                       WHEN core._aceita_tipo(p_esquema, u.tipo)
                       THEN core._condicao_do_tipo(u.tipo, p_esquema, p_pai, p_chave)
                       ELSE 'false'
                   END
              FROM unnest(ARRAY['object', 'array', 'string', 'number', 'boolean', 'null']) AS u (tipo)
        )
        SELECT CASE
                   WHEN bool_and(t.condicao = 'true') THEN 'true'
                   WHEN bool_and(t.condicao IN ('true', 'false')) THEN
                       format('jsonb_typeof(%s) IN (%s)', v_valor,
                              string_agg(quote_literal(t.tipo), ', ') FILTER (WHERE t.condicao = 'true'))
                   ELSE
                       format('CASE jsonb_typeof(%s) %s ELSE %s END', v_valor,
                              string_agg(format('WHEN %L THEN %s', t.tipo, t.condicao), ' ')
                                  FILTER (WHERE t.condicao <> v_demais),
                              v_demais)
               END
          FROM t);
END
$$;

COMMENT ON FUNCTION core._condicao_por_tipo(jsonb, text, text) IS
'Um CASE sobre o tipo do valor: os que "type" admite, cada um com as palavras-chave que se aplicam a ele.';

CREATE OR REPLACE FUNCTION core._aceita_tipo(p_esquema jsonb, p_tipo text)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN NOT p_esquema ? 'type'
        OR p_esquema -> 'type' @> to_jsonb(p_tipo)
        OR p_tipo = 'number' AND p_esquema -> 'type' @> '"integer"';
END
$$;

COMMENT ON FUNCTION core._aceita_tipo(jsonb, text) IS
'Se "type", um nome ou uma lista deles, admite esse resultado de jsonb_typeof.';

CREATE OR REPLACE FUNCTION core._condicao_do_tipo(p_tipo text, p_esquema jsonb, p_pai text, p_chave text)
RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN core._conjuncao(VARIADIC ARRAY(
        SELECT core._condicao_da_palavra(p.palavra, p_esquema, p_pai, p_chave)
          FROM jsonb_object_keys(p_esquema) AS p (palavra)
         WHERE core._tipo_da_palavra(p.palavra) IS NOT DISTINCT FROM p_tipo));
END
$$;

COMMENT ON FUNCTION core._condicao_do_tipo(text, jsonb, text, text) IS
'Condição das palavras-chave do esquema que se aplicam a valores desse tipo; com NULL, das que se aplicam a todos.';

CREATE OR REPLACE FUNCTION core._conjuncao(VARIADIC p_condicoes text[])
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    -- array_to_string pula os NULL, que são as palavras-chave sem condição.
    RETURN coalesce(nullif(array_to_string(array_remove(p_condicoes, 'true'), ' AND '), ''), 'true');
END
$$;

COMMENT ON FUNCTION core._conjuncao(text[]) IS
'As condições ligadas por AND; ''true'' se não há nenhuma.';

CREATE OR REPLACE FUNCTION core._valor(p_pai text, p_chave text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN CASE WHEN p_chave IS NULL THEN p_pai ELSE format('(%s -> %L)', p_pai, p_chave) END;
END
$$;

COMMENT ON FUNCTION core._valor(text, text) IS
'Expressão do valor jsonb.';

CREATE OR REPLACE FUNCTION core._texto(p_pai text, p_chave text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN CASE
               WHEN p_chave IS NULL THEN format('(%s #>> ''{}'')', p_pai)
               ELSE format('(%s ->> %L)', p_pai, p_chave)
           END;
END
$$;

COMMENT ON FUNCTION core._texto(text, text) IS
'Expressão do texto do valor, quando ele é uma string.';
