-- A fila dos textos que dependem do Python (E02), gravada na transação do handler.

CREATE OR REPLACE FUNCTION d6b.enfileirar_publicacao(p_atualizacao d6b.atualizacoes)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO d6b.publicacoes_pendentes (atualizacao_id, acompanhamento_id, sequencia, especie)
    VALUES (p_atualizacao.id, p_atualizacao.acompanhamento_id, p_atualizacao.sequencia, 'atualizacao');
    PERFORM core.acordar();
END
$$;

COMMENT ON FUNCTION d6b.enfileirar_publicacao(d6b.atualizacoes) IS
'Põe uma atualização na fila de publicação e acorda o trabalhador. Fonte: E02.';

CREATE OR REPLACE FUNCTION d6b.enfileirar_fecho(p_atualizacao d6b.atualizacoes)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    -- Relatada em áudio, a conclusão espera o texto; sem ele no prazo, o resumo sai assim mesmo.
    INSERT INTO d6b.publicacoes_pendentes (atualizacao_id, acompanhamento_id, sequencia, especie, proxima_tentativa)
    VALUES (p_atualizacao.id, p_atualizacao.acompanhamento_id, p_atualizacao.sequencia, 'fecho',
            CASE
                WHEN p_atualizacao.conteudo_estruturado ->> 'transcricao_status' = 'aguardando'
                THEN clock_timestamp()
                     + make_interval(hours => (core.parametro('horas_espera_transcricao_fecho'))::int)
                ELSE clock_timestamp()
            END);
    PERFORM core.acordar();
END
$$;

COMMENT ON FUNCTION d6b.enfileirar_fecho(d6b.atualizacoes) IS
'Põe na fila o resumo de fecho do ciclo, atrás das publicações anteriores. Fonte: E04, E15.';
