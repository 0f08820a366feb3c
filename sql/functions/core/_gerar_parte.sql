-- As partes de um validador: funções geradas para um objeto interno ou para os itens de uma lista.
--
-- O nome vem do próprio código, de modo que a mesma forma em dois esquemas (o dossiê) é uma função só, e compilar de
-- novo o que não mudou não cria nada.

CREATE OR REPLACE FUNCTION core._gerar_parte(p_esquema jsonb, p_valor text)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_corpo text := core._corpo_de_expressao(core._compilar_condicao(p_esquema, 'p_valor'));
    v_nome  text := 'parte_' || md5(v_corpo);
BEGIN
    PERFORM core._gerar_funcao(v_nome, 'p_valor jsonb', 'boolean', v_corpo,
                               'Se o valor, um objeto dentro de um payload, tem a forma pedida.');
    RETURN format('registro.%I(%s)', v_nome, p_valor);
END
$$;

COMMENT ON FUNCTION core._gerar_parte(jsonb, text) IS
'Expressão SQL booleana que diz se p_valor cumpre o esquema, por meio de uma função à parte.';

-- Um laço sobre p_lista -> posição, e não uma subconsulta: esta tira a expressão do caminho rápido do plpgsql e
-- custaria 6 µs até numa lista vazia.
CREATE OR REPLACE FUNCTION core._condicao_de_cada(p_esquema jsonb, p_lista text)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_condicao text := core._compilar_condicao(p_esquema, 'v_item');
    v_corpo    text;
    v_nome     text;
BEGIN
    IF v_condicao = 'true' THEN
        RETURN 'true';
    END IF;
    v_corpo := format($corpo$
DECLARE
    v_item jsonb;
BEGIN
    FOR v_posicao IN 0 .. jsonb_array_length(p_lista) - 1 LOOP
        v_item := p_lista -> v_posicao;
        IF NOT (%s) THEN
            RETURN false;
        END IF;
    END LOOP;
    RETURN true;
END
$corpo$, v_condicao);
    v_nome := 'cada_' || md5(v_corpo);
    PERFORM core._gerar_funcao(v_nome, 'p_lista jsonb', 'boolean', v_corpo,
                               'Se cada item da lista, dentro de um payload, tem a forma pedida.');
    RETURN format('registro.%I(%s)', v_nome, p_lista);
END
$$;

COMMENT ON FUNCTION core._condicao_de_cada(jsonb, text) IS
'Expressão SQL booleana que diz se cada item da lista p_lista cumpre o esquema.';

CREATE OR REPLACE FUNCTION core._remover_partes_orfas()
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_orfa regprocedure;
BEGIN
    LOOP
        SELECT f.oid::regprocedure INTO v_orfa
          FROM pg_catalog.pg_proc AS f
         WHERE f.pronamespace = 'registro'::regnamespace
           AND f.proname ~ '^(parte|cada)_[0-9a-f]{32}$'
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_proc AS g
                            WHERE g.pronamespace = f.pronamespace
                              AND position(f.proname IN g.prosrc) > 0)
         LIMIT 1;
        EXIT WHEN NOT FOUND;
        EXECUTE format('DROP FUNCTION %s', v_orfa);
    END LOOP;
END
$$;

COMMENT ON FUNCTION core._remover_partes_orfas() IS
'Remove as partes que nenhum validador chama mais, e depois as que só elas chamavam.';
