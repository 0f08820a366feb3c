-- Gravar uma atualização e contá-la no acompanhamento (D-6b 3.9, passos 5 a 8).

CREATE OR REPLACE FUNCTION d6b.atualizacao_do_evento(p_evento core.event_log)
RETURNS d6b.atualizacoes
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    c_do_servidor CONSTANT text[] := ARRAY['audio_object_key', 'transcricao_status', 'modelo_transcricao',
                                           'confianca_transcricao'];
    v_payload     jsonb := p_evento.payload;
    v_audio       text  := d6b.audio(v_payload);
    v             d6b.atualizacoes;
BEGIN
    v.tipo := v_payload ->> 'tipo';
    v.texto_bruto := v_payload ->> 'texto_bruto';
    v.texto_estruturado := v_payload ->> 'texto_estruturado';
    v.conteudo_estruturado := coalesce(nullif(v_payload -> 'conteudo_estruturado', 'null'), '{}') - c_do_servidor;
    v.origem_estruturacao := coalesce(v_payload ->> 'origem_estruturacao', 'conselheiro');
    v.sugestao_ia := CASE v.origem_estruturacao WHEN 'ia_assistida' THEN v_payload -> 'sugestao_ia' END;
    v.event_id_publicacao := p_evento.event_id;
    v.correlacao_id := p_evento.correlacao_id;
    IF v_audio IS NOT NULL THEN
        v.texto_estruturado := '';
        v.conteudo_estruturado := v.conteudo_estruturado
                                  || jsonb_build_object('audio_object_key', v_audio, 'transcricao_status', 'aguardando');
    END IF;
    RETURN v;
END
$$;

COMMENT ON FUNCTION d6b.atualizacao_do_evento(core.event_log) IS
'A linha que um conselheiro.atualização_registrada pede, ainda sem identidade: os campos do servidor são descartados do
conteúdo (E18), a sugestão só fica se a origem é ia_assistida, e com áudio o texto nasce vazio e aguardando transcrição. Fonte: D-6b 2.3, 3.2.';

CREATE OR REPLACE FUNCTION d6b.audio(p_payload jsonb)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE
               WHEN jsonb_typeof(p_payload -> 'audio_object_key') = 'string'
                    AND p_payload ->> 'audio_object_key' ~ '[!-~]' COLLATE "C"
               THEN p_payload ->> 'audio_object_key'
           END
$$;

COMMENT ON FUNCTION d6b.audio(jsonb) IS
'A chave do relato em áudio; NULL sem áudio. Uma chave em branco, ou que não é texto, é o mesmo que nenhuma. Fonte: N48.';

CREATE OR REPLACE FUNCTION d6b.inserir_atualizacao(
    p_acompanhamento d6b.acompanhamentos, p_atualizacao d6b.atualizacoes, p_quando timestamptz
)
RETURNS d6b.atualizacoes
LANGUAGE plpgsql
AS $$
DECLARE
    v d6b.atualizacoes;
BEGIN
    INSERT INTO d6b.atualizacoes (acompanhamento_id, demanda_id, conselheiro_id, tipo, texto_bruto, texto_estruturado,
                                  sugestao_ia, conteudo_estruturado, origem_estruturacao, sequencia,
                                  event_id_publicacao, correlacao_id, criado_em)
    VALUES (p_acompanhamento.id, p_acompanhamento.demanda_id, p_acompanhamento.conselheiro_id, p_atualizacao.tipo,
            p_atualizacao.texto_bruto, p_atualizacao.texto_estruturado, p_atualizacao.sugestao_ia,
            p_atualizacao.conteudo_estruturado, p_atualizacao.origem_estruturacao,
            p_acompanhamento.total_atualizacoes + 1, p_atualizacao.event_id_publicacao, p_atualizacao.correlacao_id,
            d6b.centesimo(p_quando))
    RETURNING * INTO v;
    RETURN v;
END
$$;

COMMENT ON FUNCTION d6b.inserir_atualizacao(d6b.acompanhamentos, d6b.atualizacoes, timestamptz) IS
'Insere a atualização com a sequência seguinte do acompanhamento, que quem chama já travou. Fonte: D-6b 3.9, passo 6.';

CREATE OR REPLACE FUNCTION d6b.inserir_atualizacao_de_sistema(
    p_acompanhamento d6b.acompanhamentos, p_texto text, p_conteudo jsonb, p_event_id uuid, p_correlacao_id uuid,
    p_quando timestamptz
)
RETURNS d6b.atualizacoes
LANGUAGE plpgsql
AS $$
DECLARE
    v d6b.atualizacoes;
BEGIN
    v.tipo := 'status_atualizado';
    v.texto_bruto := p_texto;
    v.texto_estruturado := p_texto;
    v.conteudo_estruturado := p_conteudo;
    v.origem_estruturacao := 'sistema';
    v.event_id_publicacao := p_event_id;
    v.correlacao_id := p_correlacao_id;
    RETURN d6b.inserir_atualizacao(p_acompanhamento, v, p_quando);
END
$$;

COMMENT ON FUNCTION d6b.inserir_atualizacao_de_sistema(d6b.acompanhamentos, text, jsonb, uuid, uuid, timestamptz) IS
'Insere a atualização que a conclusão coletiva ou a ratificação gera: frase fixa nos dois textos. Fonte: E16.';

CREATE OR REPLACE FUNCTION d6b.contar_atualizacao(
    p_acompanhamento d6b.acompanhamentos, p_event_id uuid, p_quando timestamptz, p_inicia boolean
)
RETURNS d6b.acompanhamentos
LANGUAGE plpgsql
AS $$
DECLARE
    v d6b.acompanhamentos;
BEGIN
    UPDATE d6b.acompanhamentos AS a
       SET total_atualizacoes = a.total_atualizacoes + 1,
           status = CASE WHEN p_inicia THEN 'em_andamento' ELSE a.status END,
           data_inicio = CASE WHEN p_inicia THEN coalesce(a.data_inicio, d6b.centesimo(p_quando)) ELSE a.data_inicio END,
           event_id_ultima_alteracao = p_event_id,
           atualizado_em = d6b.centesimo(p_quando)
     WHERE a.id = p_acompanhamento.id
    RETURNING * INTO v;
    RETURN v;
END
$$;

COMMENT ON FUNCTION d6b.contar_atualizacao(d6b.acompanhamentos, uuid, timestamptz, boolean) IS
'Soma uma atualização ao acompanhamento e, se p_inicia, deixa-o em_andamento com data_inicio. Fonte: D-6b 3.9, passo 7.';

CREATE OR REPLACE FUNCTION d6b.registrar_prazo(p_atualizacao d6b.atualizacoes)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM d6b.encerrar_prazos(p_atualizacao.acompanhamento_id, p_atualizacao.criado_em, 'substituido');
    INSERT INTO d6b.prazos (acompanhamento_id, demanda_id, data_estimada, descricao, event_id_atualizacao, criado_em)
    VALUES (p_atualizacao.acompanhamento_id, p_atualizacao.demanda_id,
            d6b.data_valida(p_atualizacao.conteudo_estruturado -> 'data_estimada'),
            d6b.texto_ou_nulo(p_atualizacao.conteudo_estruturado -> 'descricao_prazo'),
            p_atualizacao.event_id_publicacao, p_atualizacao.criado_em);
END
$$;

COMMENT ON FUNCTION d6b.registrar_prazo(d6b.atualizacoes) IS
'Registra o prazo de uma atualização prazo_registrado e substitui o vigente. Fonte: D-6b 3.9, passo 8.';

CREATE OR REPLACE FUNCTION d6b.saida_demanda_iniciada(p_acompanhamento d6b.acompanhamentos, p_atualizacao d6b.atualizacoes)
RETURNS jsonb
LANGUAGE sql
AS $$
    SELECT core._saida('conselheiro.demanda_iniciada', '1.0.0', jsonb_build_object(
               'demanda_id', p_acompanhamento.demanda_id,
               'conselheiro_id', p_acompanhamento.conselheiro_id,
               'unidade_civica_id', p_acompanhamento.unidade_civica_id,
               'tipo_primeira_acao', p_atualizacao.tipo,
               'timestamp_inicio', core.iso(p_acompanhamento.data_inicio)),
               p_atualizacao.correlacao_id)
$$;

COMMENT ON FUNCTION d6b.saida_demanda_iniciada(d6b.acompanhamentos, d6b.atualizacoes) IS
'conselheiro.demanda_iniciada da primeira atualização. Fonte: D-6b 3.3, E03.';
