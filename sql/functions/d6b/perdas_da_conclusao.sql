-- O que o conteúdo de uma conclusão traz e ninguém levaria adiante (N54, N56): dito antes a quem pergunta, e depois numa
-- ocorrência. Nada disso impede a conclusão.

CREATE OR REPLACE FUNCTION d6b.campos_de_fora(p_demanda_id uuid, p_conteudo jsonb, p_manutencao boolean)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_fora jsonb := '[]'::jsonb;
BEGIN
    IF jsonb_typeof(p_conteudo -> 'categoria_id') NOT IN ('string', 'null') THEN
        v_fora := v_fora || d6b.erro('categoria_id', 'Esperado um texto; fica de fora.');
    END IF;
    IF coalesce(p_conteudo -> 'plano_manutencao', 'null') <> 'null' THEN
        v_fora := v_fora || core.tipos_do_dossie(p_conteudo || d6b.contexto_do_plano(p_demanda_id, p_conteudo));
    END IF;
    IF p_manutencao AND jsonb_typeof(p_conteudo -> 'observacoes') NOT IN ('string', 'null') THEN
        v_fora := v_fora || d6b.erro('observacoes', 'Esperado um texto; fica de fora.');
    END IF;
    IF p_manutencao AND jsonb_typeof(p_conteudo -> 'plano_proximo_ciclo') NOT IN ('object', 'null') THEN
        v_fora := v_fora || d6b.erro('plano_proximo_ciclo', 'Esperado um objeto; fica de fora.');
    END IF;
    RETURN v_fora;
END
$$;

COMMENT ON FUNCTION d6b.campos_de_fora(uuid, jsonb, boolean) IS
'Os campos do conteúdo de uma conclusão que a D-6b não publica, por não serem do tipo do contrato: [{campo, mensagem}].
p_manutencao diz se a demanda é de manutenção. Fonte: E06, E07, N56.';

CREATE OR REPLACE FUNCTION d6b.erros_da_execucao(p_conteudo jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT CASE
               WHEN core.status_execucao(p_conteudo -> 'status_execucao') IS NULL
               THEN jsonb_build_array(d6b.erro('status_execucao',
                                               'Valor inválido. Esperado um dos: concluida, parcial, nao_executada.'))
               ELSE '[]'
           END
$$;

COMMENT ON FUNCTION d6b.erros_da_execucao(jsonb) IS
'O status_execucao que não se entende: [{campo, mensagem}]. Fonte: N54.';

CREATE OR REPLACE FUNCTION d6b.perdas_previstas(p_demanda_id uuid, p_conteudo jsonb, p_ditos jsonb)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_manutencao boolean := p_demanda_id IS NULL OR d6b.de_manutencao(p_demanda_id);
    v_contexto   jsonb := d6b.contexto_do_plano(p_demanda_id, p_conteudo);
    v_perdas     jsonb := d6b.campos_de_fora(p_demanda_id, p_conteudo, v_manutencao);
BEGIN
    IF coalesce(p_conteudo -> 'plano_manutencao', 'null') <> 'null' THEN
        v_perdas := v_perdas || core.cortes_do_dossie(p_conteudo || v_contexto);
        IF core._inteiro_entre(v_contexto #> '{plano_manutencao,profundidade}', core.profundidade_maxima() + 1, 36500) THEN
            v_perdas := v_perdas || d6b.erro('plano_manutencao.profundidade',
                                             format('A profundidade máxima é %s.', core.profundidade_maxima()));
        END IF;
    END IF;
    IF v_manutencao THEN
        v_perdas := v_perdas || d6b.erros_da_execucao(p_conteudo);
        IF jsonb_typeof(p_conteudo -> 'plano_proximo_ciclo') = 'object' THEN
            -- Só o intervalo desse plano é usado (E25).
            v_perdas := v_perdas || (SELECT coalesce(jsonb_agg(d6b.erro('plano_proximo_ciclo.intervalo_dias', e.erro ->> 'mensagem')), '[]')
                                       FROM jsonb_array_elements(core.erros_plano(p_conteudo -> 'plano_proximo_ciclo',
                                                                                  'null', 'null')) AS e (erro)
                                      WHERE e.erro ->> 'campo' = 'plano_manutencao.intervalo_dias');
        END IF;
    END IF;
    RETURN d6b.ainda_nao_ditas(v_perdas, p_ditos);
END
$$;

COMMENT ON FUNCTION d6b.perdas_previstas(uuid, jsonb, jsonb) IS
'O que se perderia concluindo com este conteúdo, além dos campos de que p_ditos já fala: [{campo, mensagem}]. Conta também o
que a D-8 cortaria ou recusaria. Fonte: N54, N56.';

CREATE OR REPLACE FUNCTION d6b.ainda_nao_ditas(p_perdas jsonb, p_ditos jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT coalesce(jsonb_agg(v.perda ORDER BY v.n), '[]')
      FROM jsonb_array_elements(p_perdas) WITH ORDINALITY AS v (perda, n)
     WHERE NOT p_ditos @> jsonb_build_array(jsonb_build_object('campo', v.perda -> 'campo'))
$$;

COMMENT ON FUNCTION d6b.ainda_nao_ditas(jsonb, jsonb) IS
'As perdas, {campo, mensagem}, de campos de que p_ditos, da mesma forma, ainda não fala.';

CREATE OR REPLACE FUNCTION d6b.registrar_perdas(
    p_acompanhamento d6b.acompanhamentos, p_atualizacao d6b.atualizacoes, p_correlacao_id uuid, p_ditos jsonb
)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_conteudo   jsonb := p_atualizacao.conteudo_estruturado;
    v_contexto   jsonb;
    v_manutencao boolean;
    v_fora       jsonb;
    v_erros      jsonb;
BEGIN
    IF NOT v_conteudo ?| ARRAY['categoria_id', 'plano_manutencao', 'observacoes', 'plano_proximo_ciclo', 'status_execucao'] THEN
        RETURN;  -- o caso comum
    END IF;
    v_contexto := d6b.contexto_da_conclusao(p_acompanhamento, p_atualizacao, p_correlacao_id);
    v_manutencao := d6b.de_manutencao(p_acompanhamento.demanda_id);
    v_fora := d6b.ainda_nao_ditas(d6b.campos_de_fora(p_acompanhamento.demanda_id, v_conteudo, v_manutencao), p_ditos);
    IF v_fora <> '[]' THEN
        PERFORM core.registrar('aviso', 'Campos da conclusão deixados de fora',
                               v_contexto || jsonb_build_object('erros', v_fora));
    END IF;
    v_erros := CASE WHEN v_manutencao THEN d6b.erros_da_execucao(v_conteudo) ELSE '[]' END;
    IF v_erros <> '[]' THEN
        PERFORM core.registrar('erro', 'Desfecho da manutenção não se entende; manutenção.executada não é publicada',
                               v_contexto || jsonb_build_object('status_execucao', v_conteudo -> 'status_execucao',
                                                                'erros', v_erros));
    END IF;
END
$$;

COMMENT ON FUNCTION d6b.registrar_perdas(d6b.acompanhamentos, d6b.atualizacoes, uuid, jsonb) IS
'Ocorrências do que a conclusão traz e a D-6b não publica, fora os campos de que p_ditos já fala: campos de fora (aviso),
desfecho de manutenção que não se entende (erro). Fonte: N54, N56.';

CREATE OR REPLACE FUNCTION d6b.contexto_da_conclusao(
    p_acompanhamento d6b.acompanhamentos, p_atualizacao d6b.atualizacoes, p_correlacao_id uuid
)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_build_object('colonia', 'D-6b',
                              'event_id', p_atualizacao.event_id_publicacao,
                              'correlacao_id', p_correlacao_id,
                              'demanda_id', p_acompanhamento.demanda_id,
                              'conselheiro_id', p_acompanhamento.conselheiro_id,
                              'acompanhamento_id', p_acompanhamento.id)
$$;

COMMENT ON FUNCTION d6b.contexto_da_conclusao(d6b.acompanhamentos, d6b.atualizacoes, uuid) IS
'O que toda ocorrência de uma conclusão diz dela.';

CREATE OR REPLACE FUNCTION d6b.de_manutencao(p_demanda_id uuid)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM d6b.demandas_manutencao AS m WHERE m.demanda_id = p_demanda_id);
END
$$;

COMMENT ON FUNCTION d6b.de_manutencao(uuid) IS
'Se a demanda foi gerada pela D-8. Fonte: E06.';
