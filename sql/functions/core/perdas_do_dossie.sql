-- O que uma conclusão com plano traz e o dossiê da obra não guarda, campo a campo: por não ser do tipo que ele leva, ou por
-- passar do que nele cabe. A mesma regra para quem pergunta antes (D-6b) e quem guarda (D-8); nada disso impede o plano.

CREATE OR REPLACE FUNCTION core.tipos_do_dossie(p_payload jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('campo', t.campo, 'mensagem', t.mensagem) ORDER BY t.n), '[]')
      FROM (SELECT c.n, c.campo, 'Esperado um texto; fica de fora.'
              FROM core._textos_do_dossie(p_payload) AS c
             WHERE jsonb_typeof(c.valor) NOT IN ('string', 'null')
            UNION ALL
            SELECT 7, 'materiais_utilizados',
                   CASE
                       WHEN jsonb_typeof(m.valor) <> 'array' THEN 'Esperada uma lista de textos; fica de fora.'
                       WHEN jsonb_path_exists(m.valor, 'strict $[*] ? (@.type() != "string")')
                       THEN 'Esperada uma lista só de textos; o que não é texto fica de fora.'
                   END
              FROM (SELECT nullif(p_payload -> 'materiais_utilizados', 'null')) AS m (valor)) AS t (n, campo, mensagem)
     WHERE t.mensagem IS NOT NULL
$$;

COMMENT ON FUNCTION core.tipos_do_dossie(jsonb) IS
'O que fica de fora do dossiê por não ser texto, de um payload de demanda.concluída: [{campo, mensagem}]. Fonte: E29, N56.';

CREATE OR REPLACE FUNCTION core.cortes_do_dossie(p_payload jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('campo', t.campo, 'mensagem', t.mensagem) ORDER BY t.n), '[]')
      FROM (SELECT c.n, c.campo, format('Texto acima de %s caracteres: o que passa é cortado.', c.limite)
              FROM core._textos_do_dossie(p_payload) AS c
             WHERE jsonb_typeof(c.valor) = 'string'
               AND length(core.uma_linha(c.valor #>> '{}')) > c.limite
            UNION ALL
            SELECT 7, 'materiais_utilizados', 'Mais de 50 materiais: só os 50 primeiros ficam.'
             WHERE jsonb_typeof(p_payload -> 'materiais_utilizados') = 'array'
               AND jsonb_array_length(p_payload -> 'materiais_utilizados') > 50
            UNION ALL
            SELECT 8, 'materiais_utilizados', 'Material acima de 80 caracteres: o que passa é cortado.'
             WHERE EXISTS (SELECT
                             FROM jsonb_path_query(p_payload -> 'materiais_utilizados', 'lax $[0 to 49]') AS m (valor)
                            WHERE jsonb_typeof(m.valor) = 'string'
                              AND jsonb_typeof(p_payload -> 'materiais_utilizados') = 'array'
                              AND length(core.uma_linha(m.valor #>> '{}')) > 80)
            UNION ALL
            SELECT 9, 'plano_manutencao', 'Aninhado além de 32 níveis: o que passa fica de fora.'
             -- core._mascarar não desce mais que isso.
             WHERE jsonb_path_exists(p_payload -> 'plano_manutencao',
                                     'strict $.**{32} ? (@.type() == "array" || @.type() == "object")')
           ) AS t (n, campo, mensagem)
$$;

COMMENT ON FUNCTION core.cortes_do_dossie(jsonb) IS
'O que o dossiê corta, por passar do que nele cabe, de um payload de demanda.concluída: [{campo, mensagem}]. Fonte: E29,
N56.';

CREATE OR REPLACE FUNCTION core._textos_do_dossie(p_payload jsonb)
RETURNS TABLE (n int, campo text, valor jsonb, limite int)
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    VALUES (1, 'titulo', p_payload -> 'titulo', 200),
           (2, 'subcategoria', p_payload -> 'subcategoria', 100),
           (3, 'localizacao.endereco', p_payload #> '{localizacao,endereco}', 200),
           (4, 'responsavel_tecnico', p_payload -> 'responsavel_tecnico', 200),
           (5, 'plano_manutencao.tipo', p_payload #> '{plano_manutencao,tipo}', 100)
$$;

COMMENT ON FUNCTION core._textos_do_dossie(jsonb) IS
'Os textos de uma linha que o dossiê guarda, e quantos caracteres de cada um. Fonte: E29.';

CREATE OR REPLACE FUNCTION core.uma_linha(p_texto text)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    -- Mascara também depois: juntar as linhas pode formar o telefone que estava em duas. E antes, para que a máscara que
    -- a retenção põe no evento não mude o resultado (E23).
    SELECT btrim(core.mascarar_identificadores(regexp_replace(core.mascarar_identificadores(p_texto),
                                                              '[[:cntrl:][:space:]]+', ' ', 'g')))
$$;

COMMENT ON FUNCTION core.uma_linha(text) IS
'O texto mascarado e numa linha só, ainda por cortar. Fonte: E29.';

GRANT EXECUTE ON FUNCTION core.tipos_do_dossie(jsonb), core.cortes_do_dossie(jsonb), core._textos_do_dossie(jsonb),
                          core.uma_linha(text)
   TO d6b_dono, d8_dono;
