-- O trabalhador devolve os textos prontos, e a publicação acontece toda aqui, numa transação (E02).

CREATE OR REPLACE FUNCTION d6b.publicar_atualizacao(
    p_atualizacao_id uuid,
    p_reserva        uuid,
    p_termos         text[],
    p_descricao      text,
    p_caminho        jsonb,
    p_resumo         text,
    p_fontes         uuid[]
)
RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET lock_timeout = '1s'  -- quem espera mais volta à fila, e não detém os outros textos nem o despacho (N66)
AS $$
DECLARE
    v_acompanhamento d6b.acompanhamentos;
    v_atualizacao    d6b.atualizacoes;
    v_causa          core.event_log;
    v_saida          jsonb;
    v_resumo         jsonb;
BEGIN
    IF num_nulls(p_atualizacao_id, p_reserva, p_termos, p_descricao, p_resumo, p_fontes) > 0 THEN
        RAISE EXCEPTION 'Campos obrigatórios: atualizacao_id, reserva, termos, descricao, resumo e fontes.'
            USING ERRCODE = 'FM422';
    END IF;
    IF NOT d6b.consumir_reserva(p_atualizacao_id, p_reserva, 'atualizacao') THEN
        RETURN false;
    END IF;
    SELECT * INTO STRICT v_atualizacao FROM d6b.atualizacoes AS u WHERE u.id = p_atualizacao_id;
    SELECT * INTO STRICT v_acompanhamento FROM d6b.acompanhamentos AS a WHERE a.id = v_atualizacao.acompanhamento_id;
    SELECT * INTO STRICT v_causa FROM core.event_log AS e WHERE e.event_id = v_atualizacao.event_id_publicacao;

    v_saida := d6b.saida_atualizacao_publicada(v_acompanhamento, v_atualizacao, p_termos, p_descricao, p_caminho);
    PERFORM core._exigir_saida(v_saida);
    INSERT INTO d6b.publicacoes (atualizacao_id, acompanhamento_id, sequencia, event_id, versao_schema,
                                 conteudo_suspeito, descricao, publicada_em)
    VALUES (v_atualizacao.id, v_acompanhamento.id, v_atualizacao.sequencia, (v_saida ->> 'event_id')::uuid,
            v_saida ->> 'versao_schema', p_termos <> '{}', p_descricao, d6b.centesimo(core.agora()));
    PERFORM d6b.guardar_resumo(v_acompanhamento.id, p_resumo);
    v_resumo := d6b.saida_resumo_ciclo(v_acompanhamento, p_resumo, p_fontes, false, v_atualizacao.correlacao_id);
    PERFORM core._exigir_saida(v_resumo);
    PERFORM core._publicar_saidas(v_causa, 'D-6b',
                                  CASE
                                      WHEN d6b.e_o_ciclo_mais_novo(v_acompanhamento) THEN jsonb_build_array(v_saida, v_resumo)
                                      ELSE jsonb_build_array(v_saida)
                                  END);
    RETURN true;
END
$$;

COMMENT ON FUNCTION d6b.publicar_atualizacao(uuid, uuid, text[], text, jsonb, text, uuid[]) IS
'Publica conselheiro.atualização_publicada e demanda.resumo_ciclo_atualizado de uma atualização reservada, com os textos
que o Python compôs (termos da denylist, descrição e resumo já sanitizados), e a tira da fila; de um ciclo que já não é o
mais novo da demanda, o resumo só se guarda. Devolve false, sem nada fazer, se a reserva não vale mais. Erros: FM422
argumento nulo, salvo caminho, ou texto que faria um evento que o Registro recusa, e nada muda.
Fonte: D-6b 3.4 e 3.7.1, E02, E05, N47, N74.';

CREATE OR REPLACE FUNCTION d6b.guardar_resumo(p_acompanhamento_id uuid, p_resumo text)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE d6b.acompanhamentos AS a
       SET texto_resumo_ciclo = p_resumo,
           atualizado_em = d6b.centesimo(core.agora())
     WHERE a.id = p_acompanhamento_id;
END
$$;

COMMENT ON FUNCTION d6b.guardar_resumo(uuid, text) IS
'Guarda o resumo do ciclo, publicado ou não, em seu acompanhamento. Fonte: D-6b 2.2.';

CREATE OR REPLACE FUNCTION d6b.consumir_reserva(p_atualizacao_id uuid, p_reserva uuid, p_especie text)
RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    -- O acompanhamento primeiro, como nos handlers.
    PERFORM FROM d6b.acompanhamentos AS a
      JOIN d6b.publicacoes_pendentes AS p ON p.acompanhamento_id = a.id
     WHERE p.atualizacao_id = p_atualizacao_id
       FOR UPDATE OF a;
    DELETE FROM d6b.publicacoes_pendentes AS p
     WHERE p.atualizacao_id = p_atualizacao_id
       AND p.reserva = p_reserva
       AND p.especie = p_especie;
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION d6b.consumir_reserva(uuid, uuid, text) IS
'Trava o acompanhamento e tira da fila o que a reserva tomou; false se ela já não vale (outro publicou). Fonte: E02.';

CREATE OR REPLACE FUNCTION d6b.saida_atualizacao_publicada(
    p_acompanhamento d6b.acompanhamentos, p_atualizacao d6b.atualizacoes, p_termos text[], p_descricao text,
    p_caminho jsonb
)
RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_transcrita boolean := p_atualizacao.conteudo_estruturado ->> 'transcricao_status' = 'concluida';
    v_versao     text;
    v_payload    jsonb;
BEGIN
    v_payload := jsonb_build_object('atualizacao_id', p_atualizacao.id,
                                    'demanda_id', p_atualizacao.demanda_id,
                                    'conselheiro_id', p_atualizacao.conselheiro_id,
                                    'unidade_civica_id', p_acompanhamento.unidade_civica_id,
                                    'tipo', p_atualizacao.tipo,
                                    'texto_estruturado', p_atualizacao.texto_estruturado,
                                    'descricao_sanitizada', p_descricao,
                                    'conteudo_estruturado', d6b.conteudo_publico(p_atualizacao.conteudo_estruturado),
                                    'origem_estruturacao', p_atualizacao.origem_estruturacao,
                                    'acompanhamento_id', p_acompanhamento.id,
                                    'numero_sequencial', p_atualizacao.sequencia,
                                    'timestamp', core.iso(p_atualizacao.criado_em));
    IF p_caminho IS NOT NULL THEN
        v_payload := v_payload || jsonb_build_object('caminho', p_caminho);
    END IF;
    IF v_transcrita THEN
        v_payload := v_payload || jsonb_build_object('origem_texto', 'automatico') || jsonb_strip_nulls(jsonb_build_object(
            'modelo_transcricao', p_atualizacao.conteudo_estruturado -> 'modelo_transcricao',
            'confianca_transcricao', p_atualizacao.conteudo_estruturado -> 'confianca_transcricao'));
    END IF;
    IF p_termos <> '{}' THEN
        v_payload := v_payload || jsonb_build_object('conteudo_suspeito', true, 'termos_suspeitos', p_termos);
    END IF;
    v_versao := CASE WHEN p_termos <> '{}' THEN '1.2.0' WHEN v_transcrita THEN '1.1.0' ELSE '1.0.0' END;
    RETURN core._saida('conselheiro.atualização_publicada', v_versao, v_payload, p_atualizacao.correlacao_id,
                       core.uuid_derivado('conselheiro.atualização_publicada', p_atualizacao.id::text));
END
$$;

COMMENT ON FUNCTION d6b.saida_atualizacao_publicada(d6b.acompanhamentos, d6b.atualizacoes, text[], text, jsonb) IS
'conselheiro.atualização_publicada: 1.2.0 com termo da denylist, 1.1.0 no texto limpo transcrito, 1.0.0 no digitado;
acompanhamento_id diz de que ciclo. O event_id deriva da atualização. Fonte: D-6b 3.4, N47.';

CREATE OR REPLACE FUNCTION d6b.saida_resumo_ciclo(
    p_acompanhamento d6b.acompanhamentos, p_resumo text, p_fontes uuid[], p_fecho boolean, p_correlacao_id uuid
)
RETURNS jsonb
LANGUAGE sql
AS $$
    SELECT core._saida('demanda.resumo_ciclo_atualizado', '1.0.0', jsonb_build_object(
               'demanda_id', p_acompanhamento.demanda_id,
               'acompanhamento_id', p_acompanhamento.id,
               'resumo', p_resumo,
               'total_atualizacoes', t.total,
               'data_inicio', core.iso(p_acompanhamento.data_inicio),
               'data_fim', core.iso(p_acompanhamento.data_conclusao),
               'versao_metodo', 'resumo_v1',
               'gerado_em', core.iso(d6b.centesimo(core.agora())),
               'fontes', (SELECT coalesce(jsonb_agg(jsonb_build_object('atualizacao_id', f.id) ORDER BY f.n), '[]')
                            FROM unnest(p_fontes) WITH ORDINALITY AS f (id, n))),
               p_correlacao_id,
               core.uuid_derivado('demanda.resumo_ciclo_atualizado', p_acompanhamento.id::text, t.total::text,
                                  CASE WHEN p_fecho THEN 'fecho' ELSE 'ciclo' END))
      FROM (SELECT (SELECT count(*) FROM d6b.publicacoes AS p WHERE p.acompanhamento_id = p_acompanhamento.id)
                   + (p_acompanhamento.status = 'concluido')::int) AS t (total)
$$;

COMMENT ON FUNCTION d6b.saida_resumo_ciclo(d6b.acompanhamentos, text, uuid[], boolean, uuid) IS
'demanda.resumo_ciclo_atualizado. total_atualizacoes conta o publicado, mais a de conclusão depois do fecho, e o
event_id deriva do acompanhamento, desse total e de ser ou não o fecho. Fonte: D-6b 3.7.1, E05.';

GRANT EXECUTE ON FUNCTION d6b.publicar_atualizacao(uuid, uuid, text[], text, jsonb, text, uuid[]) TO formigueiro_app;
