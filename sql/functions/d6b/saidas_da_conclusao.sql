-- As saídas da conclusão, uma função para cada (D-6b 3.6 e 3.7; E06, E07).

CREATE OR REPLACE FUNCTION d6b.saida_demanda_concluida(
    p_acompanhamento d6b.acompanhamentos, p_atualizacao d6b.atualizacoes, p_quando timestamptz, p_correlacao_id uuid
)
RETURNS jsonb
LANGUAGE plpgsql
AS $$
DECLARE
    v_conteudo jsonb := p_atualizacao.conteudo_estruturado;
    v_simples  jsonb := d6b.payload_concluida(p_acompanhamento, p_atualizacao, p_quando);
    v_erros    jsonb := d6b.erros_plano(p_acompanhamento.demanda_id, v_conteudo);
BEGIN
    PERFORM d6b.registrar_perdas(p_acompanhamento, p_atualizacao, p_correlacao_id, v_erros);
    IF coalesce(v_conteudo -> 'plano_manutencao', 'null') = 'null' THEN
        RETURN core._saida('demanda.concluída', '1.0.0', v_simples, p_correlacao_id);
    END IF;
    IF v_erros = '[]' THEN
        RETURN core._saida('demanda.concluída', '1.1.0',
                           v_simples || d6b.payload_do_plano(p_acompanhamento.demanda_id, v_conteudo),
                           p_correlacao_id);
    END IF;
    PERFORM core.registrar('erro', 'Plano de manutenção recusado; a conclusão segue sem ele',
                           d6b.contexto_da_conclusao(p_acompanhamento, p_atualizacao, p_correlacao_id)
                           || jsonb_build_object('erros', v_erros));
    RETURN core._saida('demanda.concluída', '1.0.0', v_simples, p_correlacao_id);
END
$$;

COMMENT ON FUNCTION d6b.saida_demanda_concluida(d6b.acompanhamentos, d6b.atualizacoes, timestamptz, uuid) IS
'demanda.concluída: 1.1.0 com o plano de manutenção do conteúdo, se há um que sirva; senão 1.0.0, e um plano recusado
deixa ocorrência de nível erro com cada falta. Fonte: D-6b 3.6, E07.';

CREATE OR REPLACE FUNCTION d6b.payload_concluida(
    p_acompanhamento d6b.acompanhamentos, p_atualizacao d6b.atualizacoes, p_quando timestamptz
)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_strip_nulls(jsonb_build_object(
               'demanda_id', p_acompanhamento.demanda_id,
               'unidade_civica_id', p_acompanhamento.unidade_civica_id,
               'data_conclusao', core.iso(p_quando),
               'conselheiro_id', p_acompanhamento.conselheiro_id,
               'categoria_id', d6b.texto_ou_nulo(p_atualizacao.conteudo_estruturado -> 'categoria_id'),
               'dias_ate_conclusao', d6b.dias_entre(p_acompanhamento.data_sorteio, p_quando),
               'total_atualizacoes', p_acompanhamento.total_atualizacoes,
               'resumo_final', d6b.resumo_final(p_atualizacao),
               'timestamp', core.iso(p_quando)))
$$;

COMMENT ON FUNCTION d6b.payload_concluida(d6b.acompanhamentos, d6b.atualizacoes, timestamptz) IS
'O payload de demanda.concluída 1.0.0. Fonte: D-6b 3.6.';

CREATE OR REPLACE FUNCTION d6b.payload_do_plano(p_demanda_id uuid, p_conteudo jsonb)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_strip_nulls(d6b.contexto_do_plano(p_demanda_id, p_conteudo)
                             || jsonb_build_object(
                                    'titulo', d6b.texto_ou_nulo(p_conteudo -> 'titulo'),
                                    'responsavel_tecnico', d6b.texto_ou_nulo(p_conteudo -> 'responsavel_tecnico'),
                                    'materiais_utilizados', d6b.textos_ou_nulo(p_conteudo -> 'materiais_utilizados')))
$$;

COMMENT ON FUNCTION d6b.payload_do_plano(uuid, jsonb) IS
'O que demanda.concluída 1.1.0 acrescenta: o plano e o que a D-8 precisa para o dossiê. Fonte: D-8 3.1, E07.';

CREATE OR REPLACE FUNCTION d6b.saidas_manutencao_executada(
    p_acompanhamento d6b.acompanhamentos, p_atualizacao d6b.atualizacoes, p_quando timestamptz, p_correlacao_id uuid
)
RETURNS jsonb
LANGUAGE sql
AS $$
    SELECT coalesce(jsonb_agg(core._saida('manutenção.executada', '1.0.0', jsonb_strip_nulls(jsonb_build_object(
               'demanda_id', m.demanda_id,
               'projeto_original_id', m.projeto_original_id,
               'conselheiro_id', p_acompanhamento.conselheiro_id,
               'data_conclusao', core.iso(p_quando),
               'status_execucao', core.status_execucao(c.conteudo -> 'status_execucao'),
               'observacoes', d6b.texto_ou_nulo(c.conteudo -> 'observacoes'),
               'plano_manutencao', CASE WHEN jsonb_typeof(c.conteudo -> 'plano_proximo_ciclo') = 'object'
                                        THEN c.conteudo -> 'plano_proximo_ciclo' END)),
               p_correlacao_id)), '[]')
      FROM d6b.demandas_manutencao AS m
     CROSS JOIN (SELECT p_atualizacao.conteudo_estruturado) AS c (conteudo)
     WHERE m.demanda_id = p_acompanhamento.demanda_id
       -- Um desfecho que não se entende não é uma execução: o ciclo fica aberto, à espera de quem o diga.
       AND core.status_execucao(c.conteudo -> 'status_execucao') IS NOT NULL
$$;

COMMENT ON FUNCTION d6b.saidas_manutencao_executada(d6b.acompanhamentos, d6b.atualizacoes, timestamptz, uuid) IS
'Vetor com manutenção.executada se a demanda veio da D-8; vazio se não, ou se não se entende o status_execucao.
Fonte: D-8 3.2 e 5.7, E06, N54.';

CREATE OR REPLACE FUNCTION d6b.saida_ciclo_concluido(
    p_acompanhamento d6b.acompanhamentos, p_resumo text, p_quando timestamptz, p_correlacao_id uuid
)
RETURNS jsonb
LANGUAGE sql
AS $$
    SELECT core._saida('conselheiro.ciclo_concluído', '1.0.0', jsonb_build_object(
               'conselheiro_id', p_acompanhamento.conselheiro_id,
               'demanda_id', p_acompanhamento.demanda_id,
               'unidade_civica_id', p_acompanhamento.unidade_civica_id,
               'motivo_encerramento', 'demanda_concluida',
               'total_atualizacoes', p_acompanhamento.total_atualizacoes,
               'data_inicio', core.iso(i.inicio),
               'data_fim', core.iso(p_quando),
               'dias_duracao', d6b.dias_entre(i.inicio, p_quando),
               'resumo_final', p_resumo,
               'timestamp', core.iso(p_quando)),
               p_correlacao_id)
      FROM (SELECT coalesce(p_acompanhamento.data_inicio, p_quando)) AS i (inicio)
$$;

COMMENT ON FUNCTION d6b.saida_ciclo_concluido(d6b.acompanhamentos, text, timestamptz, uuid) IS
'conselheiro.ciclo_concluído, que libera o conselheiro. Fonte: D-6b 3.7 e 3.10.';

CREATE OR REPLACE FUNCTION d6b.texto_ou_nulo(p_valor jsonb)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE WHEN jsonb_typeof(p_valor) = 'string' THEN p_valor #>> '{}' END
$$;

COMMENT ON FUNCTION d6b.texto_ou_nulo(jsonb) IS
'O texto de um valor JSON que é texto; NULL para o resto, que não cabe no campo.';

CREATE OR REPLACE FUNCTION d6b.textos_ou_nulo(p_valor jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT jsonb_agg(e.valor ORDER BY e.n)
      FROM jsonb_array_elements(CASE WHEN jsonb_typeof(p_valor) = 'array' THEN p_valor ELSE '[]' END)
           WITH ORDINALITY AS e (valor, n)
     WHERE jsonb_typeof(e.valor) = 'string'
$$;

COMMENT ON FUNCTION d6b.textos_ou_nulo(jsonb) IS
'Os textos de um vetor JSON, em ordem; NULL se não sobra nenhum.';
