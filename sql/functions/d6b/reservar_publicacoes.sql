-- O trabalhador toma da fila o que pode compor agora (E02).
--
-- De cada acompanhamento, só o primeiro da fila, para que os textos saiam em ordem; reservado por um prazo, para que
-- dois trabalhadores não façam o mesmo. A reserva acaba com a sessão que a fez: quem assume o lugar de um que morreu não
-- espera o prazo, que só vale atrás de um pool, cujas sessões sobrevivem aos trabalhadores. Do que outro tomou, quem
-- ainda vive nada publica: a reserva dele já não é a da linha (d6b.consumir_reserva).

CREATE OR REPLACE FUNCTION d6b.reservar_publicacoes(p_limite int DEFAULT 10)
RETURNS SETOF jsonb
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_espera interval := make_interval(hours => (core.parametro('horas_espera_transcricao_fecho'))::int + 1);
    v_vez    uuid[];
    v_livres uuid[];
BEGIN
    PERFORM core.exigir_limite(p_limite, 'limite');
    LOOP
        SELECT array_agg(l.atualizacao_id)
          INTO v_vez
          FROM (SELECT p.atualizacao_id
                  FROM d6b.publicacoes_pendentes AS p
                 -- Além da espera mais longa da espécie, a hora marcou-a um relógio adiantado.
                 WHERE p.proxima_tentativa NOT BETWEEN clock_timestamp()
                       AND clock_timestamp() + CASE p.especie WHEN 'fecho' THEN v_espera ELSE interval '61 minutes' END
                   AND d6b.reservada_ate(p) < clock_timestamp()
                   AND NOT EXISTS (SELECT FROM d6b.publicacoes_pendentes AS antes
                                    WHERE antes.acompanhamento_id = p.acompanhamento_id
                                      AND antes.sequencia < p.sequencia)
                 ORDER BY p.criado_em
                 LIMIT p_limite
                   FOR UPDATE SKIP LOCKED) AS l;
        v_livres := d6b.textos_sem_trava(v_vez);
        EXIT WHEN v_vez IS NULL OR v_livres <> '{}';
    END LOOP;
    RETURN QUERY
        WITH reservada AS (
            UPDATE d6b.publicacoes_pendentes AS p
               SET reserva = gen_random_uuid(),
                   reservada_ate = clock_timestamp() + interval '60 seconds',
                   reserva_pid = pg_backend_pid()
             WHERE p.atualizacao_id = ANY (v_livres)
            RETURNING p.atualizacao_id, p.acompanhamento_id, p.especie, p.reserva
        )
        SELECT jsonb_build_object(
                   'reserva', r.reserva,
                   'especie', r.especie,
                   'atualizacao_id', u.id,
                   'demanda_id', u.demanda_id,
                   'acompanhamento_id', u.acompanhamento_id,
                   'sequencia', u.sequencia,
                   'tipo', u.tipo,
                   'texto', u.texto_estruturado,
                   'conteudo', d6b.campos_do_conteudo(u.conteudo_estruturado),
                   'textos', d6b.textos_do_conteudo(u.conteudo_estruturado),
                   'criado_em', core.iso(u.criado_em),
                   'ciclo', d6b.ciclo_publicado(r.acompanhamento_id))
          FROM reservada AS r
          JOIN d6b.atualizacoes AS u ON u.id = r.atualizacao_id;
END
$$;

COMMENT ON FUNCTION d6b.reservar_publicacoes(int) IS
'Reserva por 60 s, ou enquanto a sessão durar, até p_limite textos por compor e devolve um objeto de cada: {reserva, especie: atualizacao | fecho,
atualizacao_id, demanda_id, acompanhamento_id, sequencia, tipo, texto, conteudo: {campo: texto}, textos: [todos os do
conteúdo], criado_em, ciclo: {data_inicio, data_fim, fuso, atualizacoes: [{atualizacao_id, sequencia, tipo, criado_em,
descricao, suspeita}], desfecho}}. Não reserva o texto de um acompanhamento que outra sessão segura.
Erros: FM422 limite menor que 1. Fonte: E02, N66.';

CREATE OR REPLACE FUNCTION d6b.textos_sem_trava(p_textos uuid[])
RETURNS uuid[]
LANGUAGE plpgsql
AS $$
DECLARE
    v_livres uuid[];
BEGIN
    SELECT coalesce(array_agg(l.atualizacao_id), '{}')
      INTO v_livres
      FROM (SELECT p.atualizacao_id
              FROM d6b.publicacoes_pendentes AS p
              JOIN d6b.acompanhamentos AS a ON a.id = p.acompanhamento_id
             WHERE p.atualizacao_id = ANY (p_textos)
               FOR NO KEY UPDATE OF a SKIP LOCKED) AS l;
    IF cardinality(v_livres) < cardinality(p_textos) THEN
        UPDATE d6b.publicacoes_pendentes AS p
           SET proxima_tentativa = clock_timestamp() + interval '1 second'
         WHERE p.atualizacao_id = ANY (p_textos)
           AND p.atualizacao_id <> ALL (v_livres);
    END IF;
    RETURN v_livres;
END
$$;

COMMENT ON FUNCTION d6b.textos_sem_trava(uuid[]) IS
'Dos textos dados, que quem chama travou na fila, aqueles cujo acompanhamento ninguém segura; os outros voltam a ser
vistos um segundo depois, sem que conte por falha. Não espera. Fonte: N66.';

-- Volátil, como o relógio que lê, e sem consulta: assim o planejador a dissolve em quem percorre a fila inteira.
CREATE OR REPLACE FUNCTION d6b.reservada_ate(p d6b.publicacoes_pendentes)
RETURNS timestamptz
LANGUAGE sql
AS $$
    -- O número de um processo volta a ser usado, mas não tão cedo; e então valeria o prazo. Além dele, marcou-o um relógio
    -- adiantado (N62). Quase nenhuma linha está reservada, e o AND não para num nulo.
    SELECT CASE
               WHEN p.reservada_ate IS NULL THEN '-infinity'
               WHEN p.reservada_ate BETWEEN clock_timestamp() AND clock_timestamp() + interval '2 minutes'
                    AND d6b.sessao_viva(p.reserva_pid)
               THEN p.reservada_ate
               ELSE '-infinity'
           END
$$;

COMMENT ON FUNCTION d6b.reservada_ate(d6b.publicacoes_pendentes) IS
'Até quando vale a reserva de um texto; -infinity se não há, se passou o prazo ou se acabou a sessão que a fez.
Fonte: N71.';

CREATE OR REPLACE FUNCTION d6b.sessao_viva(p_pid int)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pg_catalog.pg_stat_get_activity(p_pid));
END
$$;

COMMENT ON FUNCTION d6b.sessao_viva(int) IS
'Se há no servidor uma sessão com esse número de processo; verdadeiro de nulo, que é a reserva de antes de se anotar o processo.';

CREATE OR REPLACE FUNCTION d6b.ciclo_publicado(p_acompanhamento_id uuid)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_build_object(
               'data_inicio', core.iso(a.data_inicio),
               'data_fim', core.iso(a.data_conclusao),
               'fuso', core.parametro('fuso_horario'),
               'atualizacoes', coalesce((
                   SELECT jsonb_agg(jsonb_build_object('atualizacao_id', u.id,
                                                       'sequencia', u.sequencia,
                                                       'tipo', u.tipo,
                                                       'criado_em', core.iso(u.criado_em),
                                                       'descricao', p.descricao,
                                                       'suspeita', p.conteudo_suspeito)
                                    ORDER BY u.sequencia)
                     FROM d6b.publicacoes AS p
                     JOIN d6b.atualizacoes AS u ON u.id = p.atualizacao_id
                    WHERE p.acompanhamento_id = a.id), '[]'),
               'desfecho', (
                   SELECT jsonb_build_object('atualizacao_id', u.id,
                                             'sequencia', u.sequencia,
                                             'criado_em', core.iso(u.criado_em),
                                             'texto', a.texto_resumo_final)
                     FROM d6b.atualizacoes AS u
                    WHERE u.acompanhamento_id = a.id
                      AND a.status = 'concluido'
                    ORDER BY u.sequencia DESC
                    LIMIT 1))
      FROM d6b.acompanhamentos AS a
     WHERE a.id = p_acompanhamento_id
$$;

COMMENT ON FUNCTION d6b.ciclo_publicado(uuid) IS
'O que o resumo do ciclo pode contar: as atualizações publicadas, em ordem, e o desfecho se concluído. Fonte: 3.7.1, E05.';

CREATE OR REPLACE FUNCTION d6b.conteudo_publico(p_conteudo jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT p_conteudo - ARRAY['audio_object_key', 'transcricao_status']
$$;

COMMENT ON FUNCTION d6b.conteudo_publico(jsonb) IS
'O conteúdo estruturado sem o que é só do servidor: a chave do áudio e a situação da transcrição. Fonte: E18.';

-- O conteúdo não vai inteiro: o jsonb aceita aninhamentos e números que um leitor de JSON recusa, e o texto de um não há
-- de deter os dos outros.
CREATE OR REPLACE FUNCTION d6b.campos_do_conteudo(p_conteudo jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT coalesce(jsonb_object_agg(c.key, c.value #>> '{}'), '{}')
      FROM jsonb_each(d6b.conteudo_publico(p_conteudo)) AS c
     WHERE jsonb_typeof(c.value) IN ('string', 'number')
$$;

COMMENT ON FUNCTION d6b.campos_do_conteudo(jsonb) IS
'Os campos do conteúdo que são texto ou número, como texto: deles saem a descrição e o caminho. Fonte: E14.';

CREATE OR REPLACE FUNCTION d6b.textos_do_conteudo(p_conteudo jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT jsonb_path_query_array(d6b.conteudo_publico(p_conteudo), 'strict $.** ? (@.type() == "string")')
$$;

COMMENT ON FUNCTION d6b.textos_do_conteudo(jsonb) IS
'Todos os textos do conteúdo, em qualquer profundidade, para a denylist os ver. Fonte: N17.';

GRANT EXECUTE ON FUNCTION d6b.reservar_publicacoes(int) TO formigueiro_app;
