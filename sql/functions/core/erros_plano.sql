-- O que impede um plano de manutenção de ser agendado: a mesma regra para quem o publica (D-6b) e quem o recebe (D-8).

CREATE OR REPLACE FUNCTION core.erros_plano(p_plano jsonb, p_categoria jsonb, p_localizacao jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('campo', e.campo, 'mensagem', e.mensagem) ORDER BY e.ordem, e.n), '[]')
      FROM (
            SELECT 0, 1, 'plano_manutencao', 'Acima de 20480 bytes.'
             WHERE octet_length(p_plano::text) > 20480
            UNION ALL
            SELECT 1, d.n, 'plano_manutencao.' || d.campo,
                   format('Esperado um número inteiro de %s a 36500.', d.minimo)
              FROM (VALUES (1, 'intervalo_dias', 1, true),
                           (2, 'prazo_tolerancia_dias', 0, true),
                           (3, 'vida_util_dias', 1, true),
                           (4, 'profundidade', 0, false)) AS d (n, campo, minimo, obrigatorio)
             WHERE (d.obrigatorio OR coalesce(p_plano -> d.campo, 'null') <> 'null')
               AND NOT core._inteiro_entre(p_plano -> d.campo, d.minimo, 36500)
            UNION ALL
            SELECT 2, 1, 'categoria', 'Campo obrigatório, com até 100 caracteres.'
             WHERE jsonb_typeof(p_categoria) IS DISTINCT FROM 'string'
                OR p_categoria #>> '{}' !~ '[^[:space:][:cntrl:]]'
                OR length(btrim(p_categoria #>> '{}')) > 100
            UNION ALL
            SELECT 3, l.n, 'localizacao.' || l.campo, format('Esperado um número de -%1$s a %1$s.', l.limite)
              FROM (VALUES (1, 'lat', 90), (2, 'lng', 180)) AS l (n, campo, limite)
             WHERE jsonb_typeof(p_localizacao -> l.campo) IS DISTINCT FROM 'number'
                OR NOT (p_localizacao -> l.campo BETWEEN to_jsonb(-l.limite) AND to_jsonb(l.limite))
           ) AS e (ordem, n, campo, mensagem)
$$;

COMMENT ON FUNCTION core.erros_plano(jsonb, jsonb, jsonb) IS
'Faltas de um plano de manutenção com sua categoria e localizacao: [{campo, mensagem}], vazio se pode ser agendado.
Dias são inteiros de 1 a 36500 (tolerância e profundidade desde 0; a profundidade pode faltar); lat e lng em graus; o
plano todo, campos a mais incluídos, até 20.480 bytes.
Fonte: E07, E28.';

CREATE OR REPLACE FUNCTION core._inteiro_entre(p_valor jsonb, p_minimo int, p_maximo int)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    -- Compara como jsonb, que não transborda: um 1e400 é apenas grande demais.
    SELECT coalesce(CASE
                        WHEN jsonb_typeof(p_valor) = 'number'
                             AND p_valor BETWEEN to_jsonb(p_minimo) AND to_jsonb(p_maximo)
                        THEN (p_valor)::numeric = trunc((p_valor)::numeric)
                    END, false)
$$;

COMMENT ON FUNCTION core._inteiro_entre(jsonb, int, int) IS
'Se o valor é um número inteiro JSON entre os limites, inclusive.';

GRANT EXECUTE ON FUNCTION core.erros_plano(jsonb, jsonb, jsonb), core._inteiro_entre(jsonb, int, int)
   TO d6b_dono, d8_dono;
