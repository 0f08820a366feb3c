-- O desfecho de uma manutenção, escrito por pessoas e por outras colônias: a mesma leitura para quem o publica (D-6b) e
-- quem o recebe (D-8).

CREATE OR REPLACE FUNCTION core.status_execucao(p_valor jsonb)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    -- A decomposição separa o acento da letra, e só a letra é ASCII; o travessão e o traço também separam palavras.
    SELECT CASE
               WHEN coalesce(p_valor, 'null') = 'null' THEN 'concluida'
               WHEN p_valor IN ('"concluida"', '"parcial"', '"nao_executada"') THEN p_valor #>> '{}'  -- o caso comum
               WHEN jsonb_typeof(p_valor) = 'string' AND length(p_valor #>> '{}') <= 100
               THEN substring(btrim(lower(regexp_replace(regexp_replace(
                                        translate(normalize(p_valor #>> '{}', NFKD), '‐‒–—−', '-----'),
                                        '[[:space:]_-]+', '_', 'g'), '[^ -~]', '', 'g') COLLATE "C"), '_')
                              FROM '^(concluida|parcial|nao_executada)$')
           END
$$;

COMMENT ON FUNCTION core.status_execucao(jsonb) IS
'concluida, parcial ou nao_executada, seja como for escrito (acentos, maiúsculas, espaço, hífen ou sublinhado);
concluida se falta ou é nulo; NULL se não se entende, ou não é texto. Fonte: D-8 3.2, E24, N54.';

GRANT EXECUTE ON FUNCTION core.status_execucao(jsonb) TO d6b_dono, d8_dono;
