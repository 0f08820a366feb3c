-- demanda.concluída com plano de manutenção vira projeto monitorado (D-8 3.1 e 3.8).

CREATE OR REPLACE FUNCTION d8.on_demanda_concluida(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload  jsonb := p_evento.payload;
    v_plano    jsonb := nullif(v_payload -> 'plano_manutencao', 'null');
    v_erros    jsonb;
    v_projeto  d8.projetos_monitorados;
    v_contexto jsonb;
BEGIN
    IF d8.ja_processado(p_evento) THEN
        RETURN 'duplicado';
    END IF;
    IF v_plano IS NULL THEN
        RETURN d8.marcar_processado(p_evento.event_id, p_evento.tipo, 'ignorado');
    END IF;

    IF core._inteiro_entre(v_plano -> 'profundidade', core.profundidade_maxima() + 1, 36500) THEN
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
        RETURN d8.concluida_de_novo(p_evento);
    END IF;
    v_contexto := d8.contexto(p_evento) || jsonb_build_object('projeto_id', v_projeto.id,
                                                              'demanda_original_id', v_projeto.demanda_original_id);
    PERFORM core.registrar('info', 'Projeto registrado para monitoramento de manutenção.',
                           v_contexto
                           || jsonb_build_object('proximo_ciclo', core.iso(v_projeto.proximo_ciclo),
                                                 'intervalo_dias', v_projeto.plano_manutencao -> 'intervalo_dias',
                                                 'profundidade', v_projeto.profundidade));
    v_erros := d8.perdas_do_dossie(v_payload);
    IF v_erros <> '[]' THEN
        PERFORM core.registrar('aviso', 'Campos da conclusão que o dossiê corta ou deixa de fora.',
                               v_contexto || jsonb_build_object('erros', v_erros));
    END IF;
    RETURN d8.marcar_processado(p_evento.event_id, p_evento.tipo);
END
$$;

COMMENT ON FUNCTION d8.on_demanda_concluida(core.event_log) IS
'Handler de demanda.concluída: registra o projeto e agenda o primeiro ciclo em data_conclusao + intervalo_dias. Sem
plano, ou de demanda já registrada, ignora. Descarta, com ocorrência: profundidade além da máxima (aviso), plano que
não pode ser agendado (erro, com cada falta). O que o dossiê não guarda fica numa ocorrência. Fonte: D-8 3.1 e 3.8, E28, E29, N56, N57.';

CREATE OR REPLACE FUNCTION d8.concluida_de_novo(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_plano     jsonb := d8.plano_limpo(p_evento.payload -> 'plano_manutencao');
    v_projeto   d8.projetos_monitorados;
    v_encerrado boolean;
BEGIN
    SELECT * INTO STRICT v_projeto
      FROM d8.projetos_monitorados AS p
     WHERE p.demanda_original_id = (p_evento.payload ->> 'demanda_id')::uuid;
    v_encerrado := v_projeto.status = 'encerrado';
    IF v_encerrado OR v_projeto.plano_manutencao <> v_plano THEN
        PERFORM core.registrar(CASE WHEN v_encerrado THEN 'aviso' ELSE 'info' END,
                               CASE
                                   WHEN v_encerrado THEN 'demanda.concluída com plano para projeto já encerrado; não é reaberto.'
                                   ELSE 'demanda.concluída com outro plano para projeto já monitorado; vale o primeiro.'
                               END,
                               d8.contexto(p_evento)
                               || jsonb_build_object('projeto_id', v_projeto.id,
                                                     'demanda_original_id', v_projeto.demanda_original_id,
                                                     'status', v_projeto.status,
                                                     'plano_manutencao', v_plano));
    END IF;
    RETURN d8.marcar_processado(p_evento.event_id, p_evento.tipo, 'ignorado');
END
$$;

COMMENT ON FUNCTION d8.concluida_de_novo(core.event_log) IS
'O fim de uma demanda.concluída com plano cuja demanda já tem projeto: é ignorada, e o plano que por isso não vale fica numa
ocorrência, aviso se o projeto está encerrado, info se o plano é outro. Fonte: D-8 3.1, N57.';

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
