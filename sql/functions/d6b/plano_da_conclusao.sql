-- O plano de manutenção que vem na atualização de conclusão (E06, E07).

CREATE OR REPLACE FUNCTION d6b.contexto_do_plano(p_demanda_id uuid, p_conteudo jsonb)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_build_object(
               'plano_manutencao',
               CASE
                   WHEN m.demanda_id IS NULL OR jsonb_typeof(p_conteudo -> 'plano_manutencao') <> 'object'
                   THEN p_conteudo -> 'plano_manutencao'
                   ELSE (p_conteudo -> 'plano_manutencao') || jsonb_build_object('profundidade', m.profundidade + 1)
               END,
               'categoria', coalesce(nullif(p_conteudo -> 'categoria', 'null'), nullif(p_conteudo -> 'categoria_id', 'null'),
                                     to_jsonb(m.categoria)),
               'subcategoria', coalesce(nullif(p_conteudo -> 'subcategoria', 'null'), to_jsonb(m.subcategoria)),
               'localizacao', coalesce(nullif(p_conteudo -> 'localizacao', 'null'), m.localizacao))
      FROM (SELECT) AS sempre
      LEFT JOIN d6b.demandas_manutencao AS m ON m.demanda_id = p_demanda_id
$$;

COMMENT ON FUNCTION d6b.contexto_do_plano(uuid, jsonb) IS
'{plano_manutencao, categoria, subcategoria, localizacao} da conclusão; numa demanda de manutenção, o que falta vem
dela, e a profundidade é a dela mais 1. Fonte: E07.';

CREATE OR REPLACE FUNCTION d6b.erros_plano(p_demanda_id uuid, p_conteudo jsonb)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_contexto jsonb := d6b.contexto_do_plano(p_demanda_id, p_conteudo);
    v_erros    jsonb;
BEGIN
    IF coalesce(p_conteudo -> 'plano_manutencao', 'null') = 'null' THEN
        RETURN '[]'::jsonb;
    END IF;
    v_erros := core.erros_plano(v_contexto -> 'plano_manutencao', v_contexto -> 'categoria', v_contexto -> 'localizacao');
    IF v_erros <> '[]' THEN
        RETURN v_erros;
    END IF;
    -- O que acompanha o plano também há de caber no contrato: uma saída recusada deteria a demanda na DLQ. Do payload
    -- inteiro só interessam aqui as faltas destes campos.
    RETURN (SELECT coalesce(jsonb_agg(jsonb_build_object('campo', f.partes[1], 'mensagem', f.partes[2])), '[]')
              FROM unnest(registro.faltas('demanda.concluída', '1.1.0', d6b.payload_do_plano(p_demanda_id, p_conteudo)))
                   AS r (falta)
             CROSS JOIN LATERAL regexp_match(r.falta, '^campo ([^:]+): (.*)$') AS f (partes)
             WHERE split_part(f.partes[1], '.', 1) IN ('plano_manutencao', 'categoria', 'subcategoria', 'localizacao'));
END
$$;

COMMENT ON FUNCTION d6b.erros_plano(uuid, jsonb) IS
'Faltas do plano de manutenção do conteúdo e do que o acompanha: [{campo, mensagem}]; vazio sem plano ou com plano que
serve. Fonte: E07.';
