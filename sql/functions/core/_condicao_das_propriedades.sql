-- "properties": a condição de um objeto é a conjunção das de seus campos, e aqui se decide quanto ela custa.
--
-- Iniciar uma expressão custa, a cada transação, perto de 0,35 µs por função que ela cita; por isso:
-- - os campos que só pedem um tipo ou um intervalo, quase todos, vão juntos num jsonpath: uma função em vez de três por
--   campo, e nem por isso mais lenta de avaliar (medido: quatro inteiros, 1,2 µs contra 2);
-- - no campo com formato não se pergunta se é string: o texto de um número, de um booleano, de um objeto ou de uma lista
--   nunca tem a forma de um UUID ou de uma data, e o de um campo nulo ou ausente é NULL.

CREATE OR REPLACE FUNCTION core._condicao_das_propriedades(p_esquema jsonb, p_valor text)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_simples text;
    v_demais  text[];
BEGIN
    SELECT string_agg(s.predicado, ' && ') FILTER (WHERE s.predicado IS NOT NULL),
           array_agg(core._condicao_da_propriedade(p.esquema, p_valor, p.chave, o.obrigatoria))
               FILTER (WHERE s.predicado IS NULL)
      INTO v_simples, v_demais
      FROM jsonb_each(p_esquema -> 'properties') AS p (chave, esquema)
     CROSS JOIN LATERAL (SELECT coalesce(p_esquema -> 'required' @> to_jsonb(p.chave), false)) AS o (obrigatoria)
     CROSS JOIN LATERAL core._predicado_simples(p.esquema, p.chave, o.obrigatoria) AS s (predicado);
    RETURN core._conjuncao(VARIADIC CASE WHEN v_simples <> '' THEN format('(%s @@ %L) IS TRUE', p_valor, v_simples) END
                                    || v_demais);
END
$$;

COMMENT ON FUNCTION core._condicao_das_propriedades(jsonb, text) IS
'Condição de "properties" sobre um objeto que já tem os campos de "required".';

CREATE OR REPLACE FUNCTION core._condicao_da_propriedade(p_esquema jsonb, p_pai text, p_chave text, p_obrigatoria boolean)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_condicao text;
BEGIN
    IF core._so_formato(p_esquema) AND (p_obrigatoria OR p_esquema -> 'type' @> '"null"') THEN
        RETURN format('coalesce(%s, %s)',
                      core._condicao_do_formato(p_esquema ->> 'format', core._valor(p_pai, p_chave),
                                                core._texto(p_pai, p_chave)),
                      (p_esquema -> 'type' @> '"null"')::text);
    END IF;
    v_condicao := CASE
                      WHEN p_esquema ? 'properties' THEN core._gerar_parte(p_esquema, core._valor(p_pai, p_chave))
                      ELSE core._compilar_condicao(p_esquema, p_pai, p_chave)
                  END;
    RETURN CASE
               WHEN v_condicao = 'true' THEN 'true'
               -- Sem um obrigatório a conjunção com "required" já é falsa: não se pergunta de novo.
               WHEN p_obrigatoria THEN v_condicao
               ELSE format('CASE WHEN %s ? %L THEN %s ELSE true END', p_pai, p_chave, v_condicao)
           END;
END
$$;

COMMENT ON FUNCTION core._condicao_da_propriedade(jsonb, text, text, boolean) IS
'Condição de uma propriedade, verdadeira se ela falta e não é obrigatória: uma função à parte se é um objeto com as suas
próprias.';

CREATE OR REPLACE FUNCTION core._so_formato(p_esquema jsonb)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN p_esquema ? 'format'
       AND p_esquema -> 'type' <@ '["string", "null"]'
       AND p_esquema -> 'type' @> '"string"'
       AND core._restricoes(p_esquema) <@ '{type,format}';
END
$$;

COMMENT ON FUNCTION core._so_formato(jsonb) IS
'Se o esquema pede só uma string, talvez nula, com um formato.';

CREATE OR REPLACE FUNCTION core._restricoes(p_esquema jsonb)
RETURNS text[]
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN ARRAY(SELECT k.palavra
                   FROM jsonb_object_keys(p_esquema) AS k (palavra)
                  WHERE k.palavra NOT LIKE 'x-%'
                    AND k.palavra NOT IN ('$id', '$schema', '$comment', 'title', 'description', 'default', 'examples'));
END
$$;

COMMENT ON FUNCTION core._restricoes(jsonb) IS
'As palavras-chave do esquema que não são anotações.';

CREATE OR REPLACE FUNCTION core._predicado_simples(p_esquema jsonb, p_chave text, p_obrigatoria boolean)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    v_campo  text := '$.' || to_jsonb(p_chave)::text;
    v_e_tipo text := v_campo || '.type() == ';
    v_numero text;
    v_tipos  text[];
BEGIN
    IF jsonb_typeof(p_esquema) <> 'object' OR NOT p_esquema ? 'type'
       OR NOT core._restricoes(p_esquema)
              <@ '{type,minimum,maximum,exclusiveMinimum,exclusiveMaximum}' THEN
        RETURN NULL;
    END IF;
    v_numero := concat_ws(' && ', v_e_tipo || '"number"',
                          CASE WHEN NOT p_esquema -> 'type' @> '"number"'
                               THEN format('%s == %s.floor()', v_campo, v_campo) END,
                          v_campo || ' >= ' || (p_esquema ->> 'minimum'),
                          v_campo || ' <= ' || (p_esquema ->> 'maximum'),
                          v_campo || ' > ' || (p_esquema ->> 'exclusiveMinimum'),
                          v_campo || ' < ' || (p_esquema ->> 'exclusiveMaximum'));
    v_tipos := ARRAY(SELECT CASE WHEN t.tipo IN ('number', 'integer') THEN '(' || v_numero || ')'
                                 ELSE v_e_tipo || format('"%s"', t.tipo) END
                       FROM jsonb_path_query(p_esquema, '$.type[*]') AS j (valor)
                      CROSS JOIN LATERAL (SELECT j.valor #>> '{}') AS t (tipo));
    IF NOT p_obrigatoria THEN
        v_tipos := v_tipos || ('!exists(' || v_campo || ')');
    END IF;
    RETURN '(' || array_to_string(v_tipos, ' || ') || ')';
END
$$;

COMMENT ON FUNCTION core._predicado_simples(jsonb, text, boolean) IS
'Predicado jsonpath de uma propriedade que só pede tipos e limites numéricos; NULL se ela pede mais.';

CREATE OR REPLACE FUNCTION core._demais_campos(p_esquema jsonb, p_valor text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN format('%s - %L::text[]', p_valor, ARRAY(SELECT jsonb_object_keys(p_esquema -> 'properties')));
END
$$;

COMMENT ON FUNCTION core._demais_campos(jsonb, text) IS
'Expressão do objeto sem os campos que "properties" descreve.';
