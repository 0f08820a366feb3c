-- Recusa, na carga, o esquema que o compilador não entenderia por inteiro: uma palavra-chave ignorada em silêncio
-- aceitaria payloads que o autor do esquema quis recusar.

CREATE OR REPLACE FUNCTION core._conferir_esquema(p_esquema jsonb, p_ponteiro text)
RETURNS void
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    v_recusa     record;
    v_subesquema record;
BEGIN
    IF jsonb_typeof(p_esquema) = 'boolean' THEN
        RETURN;
    ELSIF jsonb_typeof(p_esquema) IS DISTINCT FROM 'object' THEN
        RAISE EXCEPTION '%: um esquema é um objeto, true ou false.', p_ponteiro
            USING ERRCODE = 'FM422';
    END IF;

    SELECT p.palavra, m.motivo INTO v_recusa
      FROM jsonb_each(p_esquema) AS p (palavra, argumento),
           core._motivo_da_recusa(p.palavra, p.argumento) AS m (motivo)
     WHERE m.motivo IS NOT NULL
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION '%/%: %.', p_ponteiro, v_recusa.palavra, v_recusa.motivo
            USING ERRCODE = 'FM422';
    END IF;

    FOR v_subesquema IN SELECT s.ponteiro, s.esquema FROM core._subesquemas(p_esquema) AS s LOOP
        PERFORM core._conferir_esquema(v_subesquema.esquema, p_ponteiro || v_subesquema.ponteiro);
    END LOOP;
END
$$;

COMMENT ON FUNCTION core._conferir_esquema(jsonb, text) IS
'Levanta FM422, com o JSON Pointer do lugar, se o esquema usa algo que o compilador não conhece. p_ponteiro nomeia o
próprio esquema.';

CREATE OR REPLACE FUNCTION core._subesquemas(p_esquema jsonb)
RETURNS TABLE (ponteiro text, esquema jsonb)
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    RETURN QUERY
        SELECT '/' || p.palavra, p.argumento
          FROM jsonb_each(p_esquema) AS p (palavra, argumento)
         WHERE p.palavra IN ('additionalProperties', 'items', 'not', 'if', 'then', 'else')
         UNION ALL
        SELECT '/properties/' || replace(replace(p.chave, '~', '~0'), '/', '~1'), p.subesquema
          FROM jsonb_each(p_esquema -> 'properties') AS p (chave, subesquema)
         UNION ALL
        SELECT format('/%s/%s', c.palavra, f.posicao - 1), f.forma
          FROM unnest(ARRAY['allOf', 'anyOf', 'oneOf']) AS c (palavra),
               jsonb_array_elements(p_esquema -> c.palavra) WITH ORDINALITY AS f (forma, posicao);
END
$$;

COMMENT ON FUNCTION core._subesquemas(jsonb) IS
'Os esquemas diretamente dentro deste, cada um com seu JSON Pointer relativo.';
