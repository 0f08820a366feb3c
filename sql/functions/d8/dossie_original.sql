-- O que a D-8 guarda do projeto, para contar em cada manutenção (E29). Tudo o que um dia irá a um texto público passa
-- aqui pela máscara e pelo corte; na varredura só se copia.

CREATE OR REPLACE FUNCTION d8.dossie_original(p_payload jsonb)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_build_object(
               'titulo', coalesce(d8.uma_linha(p_payload -> 'titulo', 200),
                                  d8.primeira_frase(d.descricao),
                                  concat_ws(' — ', d8.uma_linha(p_payload -> 'subcategoria', 100),
                                                   d8.uma_linha(p_payload -> 'localizacao' -> 'endereco', 200))),
               'descricao', d.descricao,
               'responsavel_tecnico', d8.uma_linha(p_payload -> 'responsavel_tecnico', 200),
               'data_conclusao', core.iso((p_payload ->> 'data_conclusao')::timestamptz),
               'materiais_utilizados', d8.materiais(p_payload -> 'materiais_utilizados'),
               'localizacao', d8.localizacao(p_payload -> 'localizacao'))
      FROM d8.descricao(p_payload -> 'resumo_final') AS d (descricao)
$$;

COMMENT ON FUNCTION d8.dossie_original(jsonb) IS
'{titulo, descricao, responsavel_tecnico, data_conclusao, materiais_utilizados, localizacao} do payload de
demanda.concluída, mascarado e com menos de 49.000 bytes. Fonte: D-8 2.2 e 3.8, E29.';

CREATE OR REPLACE FUNCTION d8.perdas_do_dossie(p_payload jsonb)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT core.tipos_do_dossie(p_payload) || core.cortes_do_dossie(p_payload)
           || CASE
                  WHEN d8.descricao(p_payload -> 'resumo_final') <> d8.texto_publico(p_payload -> 'resumo_final')
                  THEN jsonb_build_object('campo', 'resumo_final',
                                          'mensagem', 'Texto acima de 28000 bytes: só os 7000 primeiros caracteres ficam.')
                  ELSE '[]'
              END
$$;

COMMENT ON FUNCTION d8.perdas_do_dossie(jsonb) IS
'O que d8.dossie_original não guarda do payload, e por quê: [{campo, mensagem}]. Fonte: E29, N56.';

CREATE OR REPLACE FUNCTION d8.uma_linha(p_valor jsonb, p_limite int)
RETURNS text
LANGUAGE sql
STABLE
AS $$
    SELECT nullif(btrim(left(core.uma_linha(p_valor #>> '{}'), p_limite)), '')
     WHERE jsonb_typeof(p_valor) = 'string'
$$;

COMMENT ON FUNCTION d8.uma_linha(jsonb, int) IS
'O texto JSON mascarado, numa linha só, com até p_limite caracteres; NULL se não é texto ou nada sobra. Cada linha do
texto da demanda diz uma coisa (D-8 4.4): um valor com quebras não pode forjar outra.';

CREATE OR REPLACE FUNCTION d8.descricao(p_valor jsonb)
RETURNS text
LANGUAGE sql
STABLE
AS $$
    -- 28.000 bytes, e na pior hipótese (4 bytes por caractere) 7.000 caracteres: deixa lugar ao resto dos 50 KB.
    SELECT CASE WHEN octet_length(to_jsonb(d.texto)::text) <= 28000 THEN d.texto ELSE left(d.texto, 7000) END
      FROM d8.texto_publico(p_valor) AS d (texto)
$$;

COMMENT ON FUNCTION d8.descricao(jsonb) IS
'O resumo_final como texto público, cortado se passaria de 28.000 bytes no dossiê. Fonte: E29.';

CREATE OR REPLACE FUNCTION d8.texto_publico(p_valor jsonb)
RETURNS text
LANGUAGE sql
STABLE
AS $$
    SELECT core.mascarar_identificadores(regexp_replace(core.mascarar_identificadores(p_valor #>> '{}'),
                                                        E'[\x01-\x08\x0B-\x1F\x7F]', '', 'g'))
$$;

COMMENT ON FUNCTION d8.texto_publico(jsonb) IS
'O texto JSON mascarado e sem caracteres de controle, que no JSON custariam seis bytes cada; quebras de linha ficam.';

CREATE OR REPLACE FUNCTION d8.primeira_frase(p_texto text)
RETURNS text
LANGUAGE sql
STABLE
AS $$
    -- O ponto depois de uma palavra curta costuma ser abreviatura ("Av. Paulista", "R. das Flores").
    SELECT d8.uma_linha(to_jsonb(rtrim(coalesce(substring(t.texto FROM E'^[^\n]*?[[:alnum:])]{4}[.!?](?=\\s|$)'),
                                                split_part(t.texto, E'\n', 1)), '.')), 100)
      FROM (SELECT btrim(p_texto, E' \t\n')) AS t (texto)
$$;

COMMENT ON FUNCTION d8.primeira_frase(text) IS
'A primeira frase, sem o ponto final, com até 100 caracteres; NULL se não há. Fonte: E29.';

CREATE OR REPLACE FUNCTION d8.materiais(p_valor jsonb)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT coalesce(jsonb_agg(m.material ORDER BY m.n), '[]')
      FROM (SELECT d8.uma_linha(e.valor, 80), e.n
              FROM jsonb_array_elements(CASE WHEN jsonb_typeof(p_valor) = 'array' THEN p_valor ELSE '[]' END)
                   WITH ORDINALITY AS e (valor, n)
             WHERE e.n <= 50) AS m (material, n)
     WHERE m.material IS NOT NULL
$$;

COMMENT ON FUNCTION d8.materiais(jsonb) IS
'Os primeiros 50 textos do vetor, com até 80 caracteres cada; vetor vazio se não há.';

CREATE OR REPLACE FUNCTION d8.localizacao(p_valor jsonb)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object('lat', d8.coordenada(p_valor -> 'lat'),
                                                'lng', d8.coordenada(p_valor -> 'lng'),
                                                'endereco', d8.uma_linha(p_valor -> 'endereco', 200)))
$$;

COMMENT ON FUNCTION d8.localizacao(jsonb) IS
'{lat, lng, endereco}, e só isso: o resto que viesse iria a um evento público. Fonte: D-8 2.2.';

CREATE OR REPLACE FUNCTION d8.coordenada(p_valor jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    -- Um número JSON pode ter 16 mil casas, e duas coordenadas assim passariam sozinhas dos 50 KB do dossiê.
    SELECT CASE WHEN scale((p_valor)::numeric) > 20 THEN to_jsonb(round((p_valor)::numeric, 20)) ELSE p_valor END
     WHERE jsonb_typeof(p_valor) = 'number'
$$;

COMMENT ON FUNCTION d8.coordenada(jsonb) IS
'A coordenada como veio, com até 20 casas decimais; NULL se não é número.';
