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
    IF v_origem = 'ia_assistida' AND jsonb_typeof(v_sugestao) IS DISTINCT FROM 'object' THEN
        RETURN jsonb_build_object('mensagem', 'origem_estruturacao ia_assistida exige sugestao_ia');
    END IF;
    IF jsonb_typeof(v_conteudo) <> 'object' THEN
        RETURN jsonb_build_object('mensagem', 'conteudo_estruturado não é um objeto');
    END IF;

    v_erros := d6b.erros_de_limite(v_payload, v_conteudo, v_sugestao)
            || d6b.erros_atualizacao(v_payload ->> 'tipo', v_conteudo, d6b.dia_dos_prazos(p_evento.publicado_em));
    IF v_erros <> '[]' THEN
        RETURN jsonb_build_object('mensagem', 'Atualização inválida', 'erros', v_erros);
    END IF;
    RETURN NULL;
END
$$;

COMMENT ON FUNCTION d6b.recusa_da_atualizacao(core.event_log) IS
'{mensagem, …detalhe} de por que a atualização não vale, ou NULL se vale. Fonte: D-6b 3.9, 4.2 e 6.2; E10, E12.';

-- Sem consultas: quase sempre nada passa dos limites, e uma consulta custaria mais que todas as comparações.
CREATE OR REPLACE FUNCTION d6b.erros_de_limite(p_payload jsonb, p_conteudo jsonb, p_sugestao jsonb)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_texto    CONSTANT int := (core.parametro('limite_texto'))::int;
    v_conteudo CONSTANT int := (core.parametro('limite_conteudo_estruturado'))::int;
    v_sugestao CONSTANT int := (core.parametro('limite_sugestao_ia'))::int;
    v_campo    text;
    v_erros    jsonb := '[]'::jsonb;
BEGIN
    FOREACH v_campo IN ARRAY ARRAY['texto_bruto', 'texto_estruturado'] LOOP
        IF length(p_payload ->> v_campo) > v_texto THEN
            v_erros := v_erros || d6b.erro(v_campo, format('Texto acima de %s caracteres.', v_texto));
        ELSIF p_payload ->> v_campo = '' AND d6b.audio(p_payload) IS NULL THEN
            v_erros := v_erros || d6b.erro(v_campo, 'Texto vazio, e sem áudio.');
        END IF;
    END LOOP;
    IF length(p_payload ->> 'audio_object_key') > 1024 THEN
        v_erros := v_erros || d6b.erro('audio_object_key', 'Texto acima de 1024 caracteres.');
    END IF;
    IF octet_length(p_conteudo::text) > v_conteudo THEN
        v_erros := v_erros || d6b.erro('conteudo_estruturado', format('Acima de %s bytes.', v_conteudo));
    END IF;
    IF octet_length(p_sugestao::text) > v_sugestao THEN
        v_erros := v_erros || d6b.erro('sugestao_ia', format('Acima de %s bytes.', v_sugestao));
    END IF;
    RETURN v_erros;
END
$$;

COMMENT ON FUNCTION d6b.erros_de_limite(jsonb, jsonb, jsonb) IS
'O que passa dos limites da seção 6.2: [{campo, mensagem}]. Textos em caracteres, JSON em bytes. Fonte: E12.';
