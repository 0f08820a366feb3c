-- A outra metade do compilador: de um JSON Schema à expressão text[] que nomeia as faltas de um valor.
--
-- Só roda quando a validação já disse não, e por isso pode custar mais. Cada falta é a negação da mesma condição
-- que core._compilar_condicao dá à validação: as duas metades não têm como discordar.

CREATE OR REPLACE FUNCTION core._compilar_faltas(
    p_esquema jsonb,
    p_rotulo  text,
    p_pai     text,
    p_chave   text DEFAULT NULL,
    p_nivel   int DEFAULT 1
)
RETURNS text
LANGUAGE plpgsql
AS $$
BEGIN
    IF p_esquema = 'true' THEN
        RETURN core._nenhuma_falta();
    ELSIF p_esquema = 'false' THEN
        RETURN core._falta('false', p_rotulo, 'não é aceito');
    END IF;
    RETURN core._concatenacao(VARIADIC ARRAY(
        SELECT core._faltas_da_palavra(p.palavra, p_esquema, p_rotulo, p_pai, p_chave, p_nivel)
          FROM jsonb_object_keys(p_esquema) AS p (palavra)));
END
$$;

COMMENT ON FUNCTION core._compilar_faltas(jsonb, text, text, text, int) IS
'Expressão SQL text[] com as faltas do valor p_pai -> p_chave (p_pai, sem chave) diante do esquema; vazia se o cumpre.
p_rotulo é a expressão SQL do nome do valor nas mensagens; p_nivel numera os apelidos das subconsultas.';

CREATE OR REPLACE FUNCTION core._faltas_da_palavra(
    p_palavra text,
    p_esquema jsonb,
    p_rotulo  text,
    p_pai     text,
    p_chave   text,
    p_nivel   int
)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_argumento jsonb := p_esquema -> p_palavra;
    v_valor     text := core._valor(p_pai, p_chave);
    v_objeto    text := format('jsonb_typeof(%s) = ''object''', v_valor);
    v_lista     text := format('jsonb_typeof(%s) = ''array''', v_valor);
    v_item      text := 'e' || p_nivel;
BEGIN
    CASE p_palavra
        WHEN 'required' THEN
            RETURN core._concatenacao(VARIADIC ARRAY(
                SELECT core._falta(core._compilar_condicao(jsonb_build_object('required', jsonb_build_array(c.campo)),
                                                           p_pai, p_chave),
                                   core._rotulo_do_campo(p_rotulo, quote_literal(c.campo)),
                                   'obrigatório')
                  FROM jsonb_array_elements_text(v_argumento) AS c (campo)));
        WHEN 'properties' THEN
            RETURN core._concatenacao(VARIADIC ARRAY(
                SELECT core._faltas_se(format('%s AND %s ? %L', v_objeto, v_valor, p.chave),
                                       core._compilar_faltas(p.esquema,
                                                             core._rotulo_do_campo(p_rotulo, quote_literal(p.chave)),
                                                             v_valor, p.chave, p_nivel))
                  FROM jsonb_each(v_argumento) AS p (chave, esquema)));
        WHEN 'additionalProperties' THEN
            RETURN core._faltas_se(v_objeto, core._faltas_de_cada(
                format('jsonb_each(%s) AS %s', core._demais_campos(p_esquema, v_valor), v_item),
                core._compilar_faltas(v_argumento, core._rotulo_do_campo(p_rotulo, v_item || '.key'),
                                      v_item || '.value', NULL, p_nivel + 1)));
        WHEN 'items' THEN
            RETURN core._faltas_se(v_lista, core._faltas_de_cada(
                format('jsonb_array_elements(%s) WITH ORDINALITY AS %s (value, posicao)', v_valor, v_item),
                core._compilar_faltas(v_argumento, format('%s || ''['' || %s.posicao - 1 || '']''', p_rotulo, v_item),
                                      v_item || '.value', NULL, p_nivel + 1)));
        WHEN 'allOf' THEN
            RETURN core._concatenacao(VARIADIC ARRAY(
                SELECT core._compilar_faltas(f.forma, p_rotulo, p_pai, p_chave, p_nivel)
                  FROM jsonb_array_elements(v_argumento) AS f (forma)));
        WHEN 'if' THEN
            RETURN format(
                'CASE WHEN %s THEN %s ELSE %s END',
                core._compilar_condicao(v_argumento, p_pai, p_chave),
                core._compilar_faltas(coalesce(p_esquema -> 'then', 'true'), p_rotulo, p_pai, p_chave, p_nivel),
                core._compilar_faltas(coalesce(p_esquema -> 'else', 'true'), p_rotulo, p_pai, p_chave, p_nivel));
        ELSE
            RETURN core._falta(core._compilar_condicao(jsonb_build_object(p_palavra, v_argumento), p_pai, p_chave),
                               p_rotulo,
                               core._mensagem_da_falta(p_palavra, v_argumento));
    END CASE;
END
$$;

COMMENT ON FUNCTION core._faltas_da_palavra(text, jsonb, text, text, text, int) IS
'Faltas diante de uma palavra-chave, ou NULL se nunca há nenhuma. As que descem no valor ou nomeiam campos são
tratadas uma a uma; as demais dão uma só mensagem.';

CREATE OR REPLACE FUNCTION core._falta(p_condicao text, p_rotulo text, p_mensagem text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    IF p_condicao = 'true' THEN
        RETURN NULL;
    END IF;
    RETURN format('CASE WHEN %s THEN ''{}'' ELSE ARRAY[%s || %L] END', p_condicao, p_rotulo, ': ' || p_mensagem);
END
$$;

COMMENT ON FUNCTION core._falta(text, text, text) IS
'Uma falta, se a condição não se cumpre; NULL se ela sempre se cumpre.';

CREATE OR REPLACE FUNCTION core._faltas_se(p_condicao text, p_faltas text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    IF p_faltas = core._nenhuma_falta() THEN
        RETURN NULL;
    END IF;
    RETURN format('CASE WHEN %s THEN %s ELSE ''{}'' END', p_condicao, p_faltas);
END
$$;

COMMENT ON FUNCTION core._faltas_se(text, text) IS
'As faltas, só sob a condição; NULL se nunca há nenhuma.';

CREATE OR REPLACE FUNCTION core._faltas_de_cada(p_conjunto text, p_faltas text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    IF p_faltas = core._nenhuma_falta() THEN
        RETURN p_faltas;
    END IF;
    RETURN format('ARRAY(SELECT f.falta FROM %s, unnest(%s) AS f (falta))', p_conjunto, p_faltas);
END
$$;

COMMENT ON FUNCTION core._faltas_de_cada(text, text) IS
'As faltas de cada elemento do conjunto, em ordem.';

CREATE OR REPLACE FUNCTION core._concatenacao(VARIADIC p_faltas text[])
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN coalesce(nullif(array_to_string(array_remove(p_faltas, core._nenhuma_falta()), ' || '), ''),
                    core._nenhuma_falta());
END
$$;

COMMENT ON FUNCTION core._concatenacao(text[]) IS
'As listas de faltas numa só; os NULL não contam.';

CREATE OR REPLACE FUNCTION core._nenhuma_falta()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN '''{}''::text[]';
END
$$;

COMMENT ON FUNCTION core._nenhuma_falta() IS
'Expressão da lista de faltas vazia.';

CREATE OR REPLACE FUNCTION core._rotulo_da_raiz()
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN quote_literal('payload');
END
$$;

COMMENT ON FUNCTION core._rotulo_da_raiz() IS
'Expressão do nome do payload inteiro nas mensagens.';

CREATE OR REPLACE FUNCTION core._rotulo_do_campo(p_rotulo text, p_campo text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN CASE
               WHEN p_rotulo = core._rotulo_da_raiz() THEN '''campo '' || ' || p_campo
               ELSE format('%s || ''.'' || %s', p_rotulo, p_campo)
           END;
END
$$;

COMMENT ON FUNCTION core._rotulo_do_campo(text, text) IS
'Expressão do nome de um campo do valor que p_rotulo nomeia; p_campo também é uma expressão.';
