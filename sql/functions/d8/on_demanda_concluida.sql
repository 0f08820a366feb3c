-- demanda.concluída com plano de manutenção vira projeto monitorado (D-8 3.1 e 3.8).

CREATE OR REPLACE FUNCTION d8.on_demanda_concluida(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload jsonb := p_evento.payload;
    v_plano   jsonb := nullif(v_payload -> 'plano_manutencao', 'null');
    v_erros   jsonb;
    v_projeto d8.projetos_monitorados;
BEGIN
    IF d8.ja_processado(p_evento) THEN
        RETURN 'duplicado';
    END IF;
    IF v_plano IS NULL THEN
        RETURN d8.marcar_processado(p_evento.event_id, p_evento.tipo, 'ignorado');
    END IF;

    IF core._inteiro_entre(v_plano -> 'profundidade', d8.profundidade_maxima() + 1, 36500) THEN
        RETURN d8.descartar(p_evento, 'aviso', 'Plano de manutenção ignorado — profundidade excede máximo.',
                            jsonb_build_object('profundidade', v_plano -> 'profundidade'));
    END IF;
    v_erros := core.erros_plano(v_plano, d8.categoria(v_payload), v_payload -> 'localizacao');
    IF v_erros <> '[]' THEN
        RETURN d8.descartar(p_evento, 'erro', 'Plano de manutenção recusado: não pode ser agendado.',
                            jsonb_build_object('erros', v_erros));
    END IF;

    v_projeto := d8.registrar_projeto(p_evento);
    IF v_projeto.id IS NULL THEN
        RETURN d8.marcar_processado(p_evento.event_id, p_evento.tipo, 'ignorado');
    END IF;
    PERFORM core.registrar('info', 'Projeto registrado para monitoramento de manutenção.',
                           d8.contexto(p_evento)
                           || jsonb_build_object('projeto_id', v_projeto.id,
                                                 'demanda_original_id', v_projeto.demanda_original_id,
                                                 'proximo_ciclo', core.iso(v_projeto.proximo_ciclo),
                                                 'intervalo_dias', v_projeto.plano_manutencao -> 'intervalo_dias',
                                                 'profundidade', v_projeto.profundidade));
    RETURN d8.marcar_processado(p_evento.event_id, p_evento.tipo);
END
$$;

COMMENT ON FUNCTION d8.on_demanda_concluida(core.event_log) IS
'Handler de demanda.concluída: registra o projeto e agenda o primeiro ciclo em data_conclusao + intervalo_dias. Sem
plano, ou de demanda já registrada, ignora. Descarta, com ocorrência: profundidade além da máxima (aviso), plano que
não pode ser agendado (erro, com cada falta). Fonte: D-8 3.1 e 3.8, E28, E29.';

CREATE OR REPLACE FUNCTION d8.registrar_projeto(p_evento core.event_log)
RETURNS d8.projetos_monitorados
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload   jsonb := p_evento.payload;
    v_plano     jsonb := d8.plano_limpo(v_payload -> 'plano_manutencao');
    v_conclusao timestamptz := date_trunc('milliseconds', (v_payload ->> 'data_conclusao')::timestamptz);
    v_projeto   d8.projetos_monitorados;
BEGIN
    INSERT INTO d8.projetos_monitorados AS p (
               id, demanda_original_id, categoria, subcategoria, localizacao, uc_id, plano_manutencao, profundidade,
               dossie_original, proximo_ciclo, ciclo_atual, status, event_id_origem, event_id_ultima_alteracao,
               criado_em, atualizado_em)
    VALUES (core.uuid_derivado('d8.projeto', lower(v_payload ->> 'demanda_id')),
            (v_payload ->> 'demanda_id')::uuid,
            d8.uma_linha(d8.categoria(v_payload), 100),
            d8.uma_linha(v_payload -> 'subcategoria', 100),
            d8.localizacao(v_payload -> 'localizacao'),
            (v_payload ->> 'unidade_civica_id')::uuid,
            v_plano,
            coalesce(nullif(v_plano -> 'profundidade', 'null')::int, 0),
            d8.dossie_original(v_payload),
            d8.mais_dias(v_conclusao, (v_plano -> 'intervalo_dias')::int),
            0,
            'ativo',
            p_evento.event_id,
            p_evento.event_id,
            p_evento.publicado_em,
            p_evento.publicado_em)
    ON CONFLICT DO NOTHING
    RETURNING p.* INTO v_projeto;
    RETURN v_projeto;
END
$$;

COMMENT ON FUNCTION d8.registrar_projeto(core.event_log) IS
'Cria o projeto monitorado de uma demanda.concluída já julgada, e o devolve; NULL se a demanda já tem um. O id deriva
da demanda, e todo o resto do evento (E23). Fonte: D-8 3.8.';

CREATE OR REPLACE FUNCTION d8.categoria(p_payload jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT coalesce(nullif(p_payload -> 'categoria', 'null'), p_payload -> 'categoria_id')
$$;

COMMENT ON FUNCTION d8.categoria(jsonb) IS
'A categoria da demanda concluída: o campo categoria ou, sem ele, categoria_id. Fonte: E07.';

CREATE OR REPLACE FUNCTION d8.plano_limpo(p_plano jsonb)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT core._mascarar(p_plano - 'tipo') || jsonb_strip_nulls(jsonb_build_object('tipo', d8.uma_linha(p_plano -> 'tipo', 100)))
$$;

COMMENT ON FUNCTION d8.plano_limpo(jsonb) IS
'O plano mascarado; o tipo, que vai ao texto público, também numa linha, ou fora se não é texto. Fonte: E29.';

CREATE OR REPLACE FUNCTION d8.profundidade_maxima()
RETURNS int
LANGUAGE sql
STABLE
AS $$
    SELECT least((core.parametro('profundidade_maxima'))::int, 2)
$$;

COMMENT ON FUNCTION d8.profundidade_maxima() IS
'O parâmetro profundidade_maxima, que só pode baixar o limite de 2 da tabela. Fonte: D-8 6.2.';
