-- Uma peça de Python falhou com um texto: ele volta à fila com recuo, e o motivo fica à vista (E02).

CREATE OR REPLACE FUNCTION d6b.adiar_publicacao(p_atualizacao_id uuid, p_reserva uuid, p_erro text)
RETURNS void
LANGUAGE sql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT core.exigir_valor(p_atualizacao_id, 'atualizacao_id'), core.exigir_valor(p_reserva, 'reserva'),
           core.exigir_valor(p_erro, 'erro');
    UPDATE d6b.publicacoes_pendentes AS p
       SET reserva = NULL,
           reservada_ate = NULL,
           tentativas = p.tentativas + 1,
           proxima_tentativa = clock_timestamp() + core._recuo_da_tentativa(p.tentativas),
           ultimo_erro = core.citar(p_erro, 1000)
     WHERE p.atualizacao_id = p_atualizacao_id
       AND p.reserva = p_reserva
$$;

COMMENT ON FUNCTION d6b.adiar_publicacao(uuid, uuid, text) IS
'Devolve à fila um texto reservado que não pôde ser composto: nova tentativa em 0,5, 1, 2 s … até uma hora.
Erros: FM422 argumento nulo. Fonte: E02.';

CREATE OR REPLACE FUNCTION d6b.publicacoes_em_espera()
RETURNS TABLE (espera bigint, com_erro bigint, mais_antiga timestamptz, ultimo_erro text)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT count(*),
           count(*) FILTER (WHERE p.tentativas > 0),
           min(p.criado_em),
           (array_agg(p.ultimo_erro ORDER BY p.tentativas DESC, p.criado_em))[1]
      FROM d6b.publicacoes_pendentes AS p
$$;

COMMENT ON FUNCTION d6b.publicacoes_em_espera() IS
'A fila de publicações num relance: quantas esperam, quantas já falharam, a mais antiga e o erro da que mais falhou.';

CREATE OR REPLACE FUNCTION d6b.fila_de_publicacao(OUT pendentes bigint, OUT segundos float8)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    -- O resumo de fecho que espera uma transcrição não está atrasado (E15); o que já falhou, sim.
    SELECT count(*),
           coalesce(extract(epoch FROM clock_timestamp() - min(p.criado_em)
                                       FILTER (WHERE p.tentativas > 0 OR p.proxima_tentativa <= clock_timestamp())), 0)::float8
      FROM d6b.publicacoes_pendentes AS p
$$;

COMMENT ON FUNCTION d6b.fila_de_publicacao() IS
'Quantos textos esperam publicação e há quantos segundos espera o mais antigo que já podia ter saído. Fonte: E02.';

CREATE OR REPLACE FUNCTION d6b.proxima_publicacao()
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT min(greatest(p.proxima_tentativa, d6b.reservada_ate(p)))
              FROM d6b.publicacoes_pendentes AS p
             -- O que espera outro de seu acompanhamento não tem hora: com a dele, o trabalhador não dormiria.
             WHERE NOT EXISTS (SELECT FROM d6b.publicacoes_pendentes AS antes
                                WHERE antes.acompanhamento_id = p.acompanhamento_id
                                  AND antes.sequencia < p.sequencia));
END
$$;

COMMENT ON FUNCTION d6b.proxima_publicacao() IS
'Quando o trabalhador terá o que compor, se nada mais chegar; NULL com a fila vazia.';

GRANT EXECUTE ON FUNCTION d6b.adiar_publicacao(uuid, uuid, text), d6b.proxima_publicacao() TO formigueiro_app;
GRANT EXECUTE ON FUNCTION d6b.publicacoes_em_espera(), d6b.fila_de_publicacao()
   TO formigueiro_app, formigueiro_dba;
