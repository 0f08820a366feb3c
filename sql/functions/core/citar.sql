-- O que vem de fora aparece numa mensagem, numa ocorrência ou na DLQ até um tamanho, e nunca inteiro: quem manda um
-- megabyte não há de o receber de volta, nem de o deixar no log (N72). Três pontos, e não reticências, que LATIN1
-- não tem: um cliente que o fale receberia, em vez da recusa, um erro de codificação.

CREATE OR REPLACE FUNCTION core.citar(p_valor text, p_limite int DEFAULT 200)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE
               WHEN p_valor IS NULL THEN 'nulo'
               WHEN length(p_valor) <= p_limite THEN p_valor
               ELSE left(p_valor, p_limite) || '... (' || length(p_valor)::text || ' caracteres)'
           END
$$;

COMMENT ON FUNCTION core.citar(text, int) IS
'Um valor como se cita numa mensagem: nulo por escrito, e o que passa de p_limite caracteres cortado, com o tamanho
inteiro. Fonte: N72.';

CREATE OR REPLACE FUNCTION core.citar_faltas(p_faltas text[])
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT (SELECT string_agg(core.citar(f.falta), '; ' ORDER BY f.n)
              FROM unnest(p_faltas[:30]) WITH ORDINALITY AS f (falta, n))
        || CASE WHEN cardinality(p_faltas) > 30 THEN '; e mais ' || (cardinality(p_faltas) - 30)::text ELSE '' END
$$;

COMMENT ON FUNCTION core.citar_faltas(text[]) IS
'As trinta primeiras faltas, cada uma citada, e quantas há além delas. Fonte: N72.';

CREATE OR REPLACE FUNCTION core.citar_contexto(p_contexto jsonb)
RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
AS $$
BEGIN
    IF (pg_column_size(p_contexto) > 8192 AND jsonb_typeof(p_contexto) = 'object') IS NOT TRUE THEN
        RETURN p_contexto;
    END IF;
    RETURN (SELECT jsonb_object_agg(left(c.campo, 100),
                                    CASE WHEN length(c.valor::text) <= 1000 THEN c.valor
                                         ELSE to_jsonb(core.citar(c.valor #>> '{}', 1000)) END)
              FROM (SELECT e.key, e.value FROM jsonb_each(p_contexto) AS e LIMIT 50) AS c (campo, valor));
END
$$;

COMMENT ON FUNCTION core.citar_contexto(jsonb) IS
'O contexto de uma ocorrência que passa de 8 KB com cada valor citado até mil caracteres, e não mais que 50 campos; o
menor, como veio. Fonte: N72.';

GRANT EXECUTE ON FUNCTION core.citar(text, int) TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
GRANT EXECUTE ON FUNCTION core.citar_faltas(text[]) TO d6b_dono, d8_dono;
