-- Por que uma atualização registrada não vale (D-6b 3.9, passo 2; limites de 6.2).

CREATE OR REPLACE FUNCTION d6b.recusa_da_atualizacao(p_evento core.event_log)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_payload  jsonb := p_evento.payload;
    v_conteudo jsonb := coalesce(nullif(v_payload -> 'conteudo_estruturado', 'null'), '{}');
    v_sugestao jsonb := nullif(v_payload -> 'sugestao_ia', 'null');
    v_origem   text  := coalesce(v_payload ->> 'origem_estruturacao', 'conselheiro');
    v_faltas   text[] := d6b.campos_ausentes(v_payload, 'conselheiro_id', 'demanda_id', 'unidade_civica_id', 'tipo',
                                             'texto_bruto', 'texto_estruturado');
    v_erros    jsonb;
BEGIN
    IF v_faltas <> '{}' THEN
        RETURN jsonb_build_object('mensagem', 'Payload incompleto', 'faltam', v_faltas);
    END IF;
    IF d6b.campos_obrigatorios(v_payload ->> 'tipo') IS NULL THEN
        RETURN jsonb_build_object('mensagem', 'Tipo de atualização inválido', 'recebido', v_payload -> 'tipo');
    END IF;
    IF v_origem NOT IN ('conselheiro', 'ia_assistida') THEN
        RETURN jsonb_build_object('mensagem', 'origem_estruturacao inválida', 'recebido', v_origem);
    END IF;
    IF v_origem = 'ia_assistida' AND v_sugestao IS NULL THEN
        RETURN jsonb_build_object('mensagem', 'origem_estruturacao ia_assistida exige sugestao_ia');
    END IF;
    IF jsonb_typeof(v_conteudo) <> 'object' THEN
        RETURN jsonb_build_object('mensagem', 'conteudo_estruturado não é um objeto');
    END IF;

    v_erros := d6b.erros_de_limite(v_payload, v_conteudo, v_sugestao)
            || d6b.erros_atualizacao(v_payload ->> 'tipo', v_conteudo, core.dia_civico(p_evento.publicado_em));
    IF v_erros <> '[]' THEN
        RETURN jsonb_build_object('mensagem', 'Atualização inválida', 'erros', v_erros);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION d6b.recusa_da_atualizacao(core.event_log) IS
'{mensagem, …detalhe} de por que a atualização não vale, ou NULL se vale. Fonte: D-6b 3.9, 4.2 e 6.2; E10, E12.';

CREATE OR REPLACE FUNCTION d6b.erros_de_limite(p_payload jsonb, p_conteudo jsonb, p_sugestao jsonb)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('campo', l.campo, 'mensagem', l.mensagem) ORDER BY l.n), '[]')
      FROM (
            SELECT t.n, t.campo,
                   CASE
                       WHEN length(p_payload ->> t.campo) > m.maximo THEN format('Texto acima de %s caracteres.', m.maximo)
                       ELSE 'Texto vazio, e sem áudio.'
                   END
              FROM (VALUES (1, 'texto_bruto'), (2, 'texto_estruturado')) AS t (n, campo)
             CROSS JOIN (SELECT (core.parametro('limite_texto'))::int) AS m (maximo)
             WHERE length(p_payload ->> t.campo) > m.maximo
                OR (p_payload ->> t.campo = '' AND d6b.audio(p_payload) IS NULL)
            UNION ALL
            SELECT b.n, b.campo, format('Acima de %s bytes.', core.parametro('limite_' || b.campo))
              FROM (VALUES (3, 'conteudo_estruturado', p_conteudo), (4, 'sugestao_ia', p_sugestao)) AS b (n, campo, valor)
             WHERE octet_length(b.valor::text) > (core.parametro('limite_' || b.campo))::int
           ) AS l (n, campo, mensagem)
$$;

COMMENT ON FUNCTION d6b.erros_de_limite(jsonb, jsonb, jsonb) IS
'O que passa dos limites da seção 6.2: [{campo, mensagem}]. Textos em caracteres, JSON em bytes. Fonte: E12.';
