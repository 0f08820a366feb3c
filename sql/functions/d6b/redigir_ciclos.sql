-- As cópias dos textos que a D-6b guarda: saem, com os do log, quando o ciclo já acabou e não deve nada a ninguém.
--
-- Um acompanhamento ativo, com texto na fila, saída por publicar ou transcrição por chegar fica como está; a transcrição
-- que não chegou no prazo do fecho (E15) não o segura mais, e se um dia chegar é descartada. Das atualizações saem os textos, a sugestão e o conteúdo, salvo o que diz o que ela foi; as do sistema são frases fixas.

CREATE OR REPLACE FUNCTION d6b.redigir_ciclos(p_antes_de timestamptz, p_lote int)
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_espera CONSTANT timestamptz := core.agora()
                                     - make_interval(hours => (core.parametro('horas_espera_transcricao_fecho'))::int);
    v_alvos  uuid[];
BEGIN
    PERFORM core._exigir_retencao(p_antes_de, p_lote);
    SELECT array_agg(l.id)
      INTO v_alvos
      FROM (SELECT a.id
              FROM d6b.acompanhamentos AS a
             WHERE a.redigido_em IS NULL
               AND a.status NOT IN ('aguardando_inicio', 'em_andamento')
               AND coalesce(a.data_conclusao, a.atualizado_em) < p_antes_de
               AND NOT a.saidas_conclusao_pendentes
               AND NOT EXISTS (SELECT FROM d6b.publicacoes_pendentes AS p WHERE p.acompanhamento_id = a.id)
               AND NOT EXISTS (SELECT FROM d6b.atualizacoes AS u
                                WHERE u.acompanhamento_id = a.id
                                  AND u.conteudo_estruturado ->> 'transcricao_status' = 'aguardando'
                                  AND u.criado_em > v_espera)
             ORDER BY coalesce(a.data_conclusao, a.atualizado_em), a.id
             LIMIT p_lote
               FOR UPDATE SKIP LOCKED) AS l;
    IF v_alvos IS NULL THEN
        RETURN NULL;
    END IF;

    UPDATE d6b.acompanhamentos AS a
       SET redigido_em = clock_timestamp(),
           redigido_por = session_user,
           texto_resumo_final = NULL,
           texto_resumo_ciclo = NULL,
           atualizado_em = d6b.centesimo(core.agora()),
           saidas_conclusao = (SELECT jsonb_agg(jsonb_set(s.saida, '{payload}',
                                                          core._redigir_payload(s.saida ->> 'tipo',
                                                                                s.saida ->> 'versao_schema',
                                                                                s.saida -> 'payload'))
                                                ORDER BY s.n)
                                 FROM jsonb_array_elements(a.saidas_conclusao) WITH ORDINALITY AS s (saida, n))
     WHERE a.id = ANY (v_alvos);
    UPDATE d6b.atualizacoes AS u
       SET texto_bruto = '',
           texto_estruturado = '',
           sugestao_ia = NULL,
           conteudo_estruturado = d6b.conteudo_redigido(u.conteudo_estruturado)
     WHERE u.acompanhamento_id = ANY (v_alvos)
       AND u.origem_estruturacao <> 'sistema';
    UPDATE d6b.publicacoes AS p SET descricao = '' WHERE p.acompanhamento_id = ANY (v_alvos);
    UPDATE d6b.prazos AS p SET descricao = NULL WHERE p.acompanhamento_id = ANY (v_alvos) AND p.descricao IS NOT NULL;
    RETURN cardinality(v_alvos);
END
$$;

COMMENT ON FUNCTION d6b.redigir_ciclos(timestamptz, int) IS
'Remove os textos de até p_lote acompanhamentos encerrados antes de p_antes_de e sem nada por fazer, e os marca com
redigido_em e redigido_por; devolve quantos, ou NULL se nenhum. Ver core.redigir. Erros: FM422, FM403. Fonte: E15.';

CREATE OR REPLACE FUNCTION d6b.conteudo_redigido(p_conteudo jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT coalesce(jsonb_object_agg(c.campo, c.valor) FILTER (WHERE c.campo IN ('novo_status', 'transcricao_status')), '{}')
      FROM jsonb_each(p_conteudo) AS c (campo, valor)
$$;

COMMENT ON FUNCTION d6b.conteudo_redigido(jsonb) IS
'O que fica do conteúdo de uma atualização redigida: novo_status e transcricao_status, que dizem o que ela foi.';

GRANT EXECUTE ON FUNCTION d6b.redigir_ciclos(timestamptz, int) TO formigueiro_app, formigueiro_dba;
