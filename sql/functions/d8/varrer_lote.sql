-- Um lote da varredura, numa só consulta (D-8 4.3, regra 9). Roda como o dono da D-8 e não confirma nada.
--
-- Cada passo é um CTE MATERIALIZED, lido em ordem, e o plano é sempre o mesmo, digam o que disserem as estatísticas:
-- - travados: Index Scan em projetos_monitorados_vencimento_idx (proximo_ciclo, id), com as duas pontas da chave como
--   condição do índice; para no p_lote-ésimo, sem ordenar. O índice da especificação, (status, proximo_ciclo), pediria
--   uma ordenação por lote de todos os que vencem no mesmo instante.
-- - montados: por projeto, um Index Scan Backward em historico_manutencoes_ciclo_key, que para no limite de ciclos.
-- - movidos e fechados: laço pela chave primária.
-- Um Seq Scan ou um Hash Join, que estatísticas velhas pedem (medido: cinco vezes mais lento), são proibidos pelos SET
-- abaixo; e o plano genérico poupa planejar a cada lote.
--
-- Medido (perf), em 50.000 projetos com 0 a 3 ciclos cada: 238 µs de CPU por projeto, de que 56 o Registro, 42 gravar
-- as quatro linhas e seus índices, 25 o SHA-256 dos dois eventos, 22 montar os jsonb, 20 mover o projeto com seus 7
-- índices, 12 os quatro UUIDs.

CREATE OR REPLACE FUNCTION d8.varrer_lote(
    p_agora      timestamptz,
    p_apos_ciclo timestamptz,
    p_apos_id    uuid,
    p_ate_ciclo  timestamptz,
    p_ate_id     uuid,
    p_lote       int,
    OUT encontrados  int,
    OUT geradas      int,
    OUT encerrados   int,
    OUT dias_atraso  bigint,
    OUT ultimo_ciclo timestamptz,
    OUT ultimo_id    uuid
)
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET enable_bitmapscan = off
SET enable_sort = off
SET enable_incremental_sort = off
SET jit = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    v_fase1_max float8 := (core.parametro('peso_atraso_fase1_max'))::float8;
    v_fase2_max float8 := (core.parametro('peso_atraso_fase2_max'))::float8;
    v_teto      float8 := (core.parametro('peso_atraso_teto'))::float8;
    v_ciclos    int := (core.parametro('limite_historico_dossie'))::int;
    v_texto     int := (core.parametro('limite_texto_demanda'))::int;
    v_eventos   int;
    v_fechados  jsonb;
BEGIN
    PERFORM core.exigir_hora(p_agora);
    PERFORM d8.exigir_log_conhecido();
    IF num_nulls(p_apos_ciclo, p_apos_id, p_ate_id) > 0 THEN
        RAISE EXCEPTION 'Campos obrigatórios: apos_ciclo, apos_id e ate_id.' USING ERRCODE = 'FM422';
    END IF;
    IF (p_lote >= 1) IS NOT TRUE THEN
        PERFORM core.exigir_limite(p_lote, 'lote');
    END IF;
    IF (p_ate_ciclo <= p_agora) IS NOT TRUE THEN
        RAISE EXCEPTION 'O campo ate_ciclo não pode passar do campo agora, %: é de um ciclo que ainda não venceu, %.',
                        p_agora, coalesce(p_ate_ciclo::text, 'nulo')
            USING ERRCODE = 'FM422';
    END IF;
    p_agora := date_trunc('milliseconds', p_agora);  -- a coluna e o payload dizem o mesmo (regra 10)
    -- Todo escritor toma primeiro esta tabela: d8.reconstruir a trava, e espera quem já entrou.
    LOCK TABLE d8.projetos_monitorados IN ROW EXCLUSIVE MODE;

    WITH travados AS MATERIALIZED (
        SELECT p AS projeto
          FROM d8.projetos_monitorados AS p
         WHERE p.status = 'ativo'
           AND (p.proximo_ciclo, p.id) > (p_apos_ciclo, p_apos_id)
           AND (p.proximo_ciclo, p.id) <= (p_ate_ciclo, p_ate_id)
         ORDER BY p.proximo_ciclo, p.id
         LIMIT p_lote
           FOR UPDATE SKIP LOCKED
    ), julgados AS MATERIALIZED (
        SELECT t.projeto,
               row_number() OVER () AS n,
               (t.projeto).id AS projeto_id,
               (t.projeto).proximo_ciclo AS prevista,
               (t.projeto).ciclo_atual + 1 AS ciclo,
               d8.dias_de_atraso((t.projeto).proximo_ciclo, p_agora) AS atraso,
               d8.esgotado(t.projeto) AS esgotado,
               gen_random_uuid() AS demanda_id,
               gen_random_uuid() AS event_id,
               gen_random_uuid() AS aviso_id,
               gen_random_uuid() AS correlacao_id
          FROM travados AS t
    ), montados AS MATERIALIZED (
        SELECT j.*, d.dossie, t.texto
          FROM julgados AS j
         CROSS JOIN LATERAL d8.dossie(j.projeto, j.ciclo, j.prevista, p_agora, j.atraso,
                                      d8.peso_atraso(j.atraso, v_fase1_max, v_fase2_max, v_teto), v_ciclos) AS d
         CROSS JOIN LATERAL d8.texto_demanda(j.ciclo, d.dossie, v_texto) AS t
         WHERE j.esgotado IS NOT TRUE
    ), eventos AS (
        SELECT e.*
          FROM montados AS m
         CROSS JOIN LATERAL (VALUES
                   ('demanda.recebida', '2.0.0', m.event_id, m.correlacao_id,
                    d8.payload_recebida(m.projeto, m.demanda_id, m.ciclo, p_agora, m.texto, m.dossie)),
                   ('demanda.manutenção_gerada', '1.0.0', m.aviso_id, m.correlacao_id,
                    d8.payload_gerada(m.projeto, m.demanda_id, m.ciclo, m.prevista, p_agora, m.atraso, m.dossie))
               ) AS e (tipo, versao, event_id, correlacao_id, payload)
        UNION ALL
        SELECT 'manutenção.ciclo_encerrado', '1.0.0', j.aviso_id, j.correlacao_id,
               d8.payload_encerrado(j.projeto, 'vida_util_esgotada', p_agora)
          FROM julgados AS j
         WHERE j.esgotado
    ), gravados AS (
        INSERT INTO d8.historico_manutencoes
        SELECT c.*
          FROM montados AS m
         CROSS JOIN LATERAL d8.ciclo_gerado(m.projeto_id, m.demanda_id, m.ciclo, m.prevista, p_agora,
                                            ((m.projeto).plano_manutencao -> 'prazo_tolerancia_dias')::int,
                                            m.dossie, m.event_id) AS c
    ), movidos AS (
        UPDATE d8.projetos_monitorados AS p
           SET proximo_ciclo = d8.mais_dias(p_agora, (p.plano_manutencao -> 'intervalo_dias')::int),
               ciclo_atual = m.ciclo,
               event_id_ultima_alteracao = m.event_id,
               atualizado_em = p_agora
          FROM montados AS m
         WHERE p.id = m.projeto_id
    ), fechados AS (
        UPDATE d8.projetos_monitorados AS p
           SET status = 'encerrado',
               data_encerramento = p_agora,
               motivo_encerramento = 'vida_util_esgotada',
               event_id_ultima_alteracao = j.aviso_id,
               atualizado_em = p_agora
          FROM julgados AS j
         WHERE p.id = j.projeto_id
           AND j.esgotado
    ), marcados AS (
        INSERT INTO d8.processed_events (event_id, tipo_evento, processed_at)
        SELECT j.aviso_id,
               CASE WHEN j.esgotado THEN 'manutenção.ciclo_encerrado' ELSE 'demanda.manutenção_gerada' END,
               p_agora
          FROM julgados AS j
    ), publicados AS (
        SELECT core._publicar_lote(array_agg(e.tipo), array_agg(e.payload), array_agg('D-8'::text), array_agg(e.versao),
                                   array_agg(e.event_id), array_agg(e.correlacao_id), false) AS sequencias
          FROM eventos AS e
        HAVING count(*) > 0
    )
    SELECT count(*)::int,
           (count(*) FILTER (WHERE j.esgotado IS NOT TRUE))::int,
           (count(*) FILTER (WHERE j.esgotado))::int,
           coalesce(sum(j.atraso) FILTER (WHERE j.esgotado IS NOT TRUE), 0),
           (array_agg(j.prevista ORDER BY j.n DESC))[1],
           (array_agg(j.projeto_id ORDER BY j.n DESC))[1],
           (SELECT cardinality(p.sequencias) FROM publicados AS p),
           jsonb_agg(d8.contexto_do_encerramento(j.projeto, 'vida_util_esgotada', j.aviso_id)
                     || jsonb_build_object('correlacao_id', j.correlacao_id)) FILTER (WHERE j.esgotado)
      INTO encontrados, geradas, encerrados, dias_atraso, ultimo_ciclo, ultimo_id, v_eventos, v_fechados
      FROM julgados AS j;
    ASSERT coalesce(v_eventos, 0) = 2 * geradas + encerrados, 'cada ciclo publica dois eventos, cada fim, um';
    IF encerrados > 0 THEN
        PERFORM core.registrar('info', 'Monitoramento de manutenção encerrado.', f.contexto)
           FROM jsonb_array_elements(v_fechados) AS f (contexto);
    END IF;
END
$$;

COMMENT ON FUNCTION d8.varrer_lote(timestamptz, timestamptz, uuid, timestamptz, uuid, int) IS
'Gera, de uma vez, os ciclos vencidos dos projetos depois da chave (p_apos_ciclo, p_apos_id) e até (p_ate_ciclo,
p_ate_id), no máximo p_lote, saltando os que outra sessão trava. Devolve quantos encontrou, gerou e encerrou, a soma
dos dias de atraso e a chave do último; cada encerrado deixa uma ocorrência de nível info. Erros: FM422 chave nula, p_lote
menor que 1, ou p_ate_ciclo nulo ou depois de p_agora; FM409 o log tem eventos da D-8 que ela não conhece; os de
core.exigir_hora e core._publicar_lote, e os de um projeto malformado.
Fonte: D-8 4.3, E21, E27, regra 9.';

CREATE OR REPLACE FUNCTION d8.abrir_varredura(p_agora timestamptz)
RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
AS $$
DECLARE
    v_total bigint;
BEGIN
    PERFORM core.exigir_instante(p_agora, 'agora');
    RAISE DEBUG 'Iniciando varredura de ciclos de manutenção.';
    PERFORM d8.exigir_log_conhecido();
    v_total := (SELECT count(*)
                  FROM d8.projetos_monitorados AS p
                 WHERE p.status = 'ativo'
                   AND p.proximo_ciclo <= p_agora);
    IF v_total = 0 THEN
        RAISE DEBUG 'Nenhum ciclo de manutenção vencido.';
    ELSE
        PERFORM core.registrar('info', 'Ciclos de manutenção vencidos encontrados.',
                               jsonb_build_object('colonia', 'D-8', 'total', v_total));
    END IF;
    RETURN v_total;
END
$$;

COMMENT ON FUNCTION d8.abrir_varredura(timestamptz) IS
'As linhas iniciais da varredura, e quantos ciclos estão vencidos em p_agora. Erros: FM422 hora nula ou infinita; FM409 o
log tem eventos da D-8 que ela não conhece. Fonte: D-8 4.3.';

CREATE OR REPLACE FUNCTION d8.proximos_vencidos(
    p_agora timestamptz, p_apos_ciclo timestamptz, p_apos_id uuid, p_lote int
)
RETURNS TABLE (proximo_ciclo timestamptz, id uuid)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT core.exigir_instante(p_agora, 'agora'), core.exigir_valor(p_apos_ciclo, 'apos_ciclo'),
           core.exigir_valor(p_apos_id, 'apos_id'), core.exigir_limite(p_lote, 'lote');
    SELECT p.proximo_ciclo, p.id
      FROM d8.projetos_monitorados AS p
     WHERE p.status = 'ativo'
       AND p.proximo_ciclo <= p_agora
       AND (p.proximo_ciclo, p.id) > (p_apos_ciclo, p_apos_id)
     ORDER BY p.proximo_ciclo, p.id
     LIMIT p_lote
$$;

COMMENT ON FUNCTION d8.proximos_vencidos(timestamptz, timestamptz, uuid, int) IS
'As chaves do lote que d8.varrer_lote tomaria, sem travar: para repeti-lo projeto a projeto.
Erros: FM422 argumento nulo, hora infinita ou p_lote menor que 1.';

CREATE OR REPLACE FUNCTION d8.registrar_falha(p_projeto_id uuid, p_sqlstate text, p_erro text)
RETURNS void
LANGUAGE sql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT core.exigir_valor(p_projeto_id, 'projeto_id');
    SELECT core.registrar('erro', 'Falha ao gerar demanda de manutenção.',
                          jsonb_build_object('colonia', 'D-8',
                                             'event_id', p.event_id_origem,
                                             'demanda_id', p.demanda_original_id,
                                             'projeto_id', p.id,
                                             'demanda_original_id', p.demanda_original_id,
                                             'sqlstate', p_sqlstate,
                                             'erro', p_erro))
      FROM d8.projetos_monitorados AS p
     WHERE p.id = p_projeto_id
$$;

COMMENT ON FUNCTION d8.registrar_falha(uuid, text, text) IS
'Ocorrência de nível erro: um projeto que a varredura não pôde gerar. Erros: FM422 projeto nulo. Fonte: D-8 4.3.';

CREATE OR REPLACE FUNCTION d8.relatar_varredura(
    p_encontrados int, p_geradas int, p_encerrados int, p_falhas int, p_dias_atraso bigint
)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF num_nulls(p_encontrados, p_geradas, p_encerrados, p_falhas, p_dias_atraso) > 0 THEN
        RAISE EXCEPTION 'Campos obrigatórios: encontrados, geradas, encerrados, falhas e dias_atraso.'
            USING ERRCODE = 'FM422';
    END IF;
    PERFORM core.marcar_execucao('d8-ciclos');
    IF p_encontrados = 0 THEN
        RETURN;
    END IF;
    PERFORM core.registrar('info', 'Varredura de ciclos concluída.',
                           jsonb_build_object(
                               'colonia', 'D-8',
                               'total_projetos_verificados', p_encontrados,
                               'demandas_geradas', p_geradas,
                               'projetos_encerrados', p_encerrados,
                               'falhas', p_falhas,
                               'atraso_medio_dias', round(p_dias_atraso::numeric / nullif(p_geradas, 0), 2),
                               'projetos_ativos', (SELECT count(*)
                                                     FROM d8.projetos_monitorados AS p
                                                    WHERE p.status = 'ativo')));
END
$$;

COMMENT ON FUNCTION d8.relatar_varredura(int, int, int, int, bigint) IS
'A linha final da varredura, com seus contadores, como ocorrência de nível info; calada se nada estava vencido.
Marca o agendamento d8-ciclos como concluído. Erros: FM422 contador nulo. Fonte: D-8 4.3 e 8.1.';

GRANT EXECUTE ON FUNCTION d8.varrer_lote(timestamptz, timestamptz, uuid, timestamptz, uuid, int),
                          d8.abrir_varredura(timestamptz),
                          d8.proximos_vencidos(timestamptz, timestamptz, uuid, int),
                          d8.registrar_falha(uuid, text, text),
                          d8.relatar_varredura(int, int, int, int, bigint)
   TO formigueiro_app, formigueiro_dba;
