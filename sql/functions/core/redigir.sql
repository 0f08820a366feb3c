-- A retenção: os campos pessoais que o Registro nomeia saem dos eventos antigos, e das cópias que ficaram deles.
--
-- O que a D-8 guarda de um evento não sai, pois ela se reconstrói dele (E23): fica mascarado. Ela só guarda o que
-- mascarou, e mascarar de novo não muda nada; por isso reconstrói o mesmo.
--
-- Só o que já foi tratado: até onde todas as colônias leram, e nada em aberto na DLQ. O percurso segue a chave primária
-- e guarda onde parou (core.retencao.visto); um lote por transação, curto, pois enquanto dura segura, como qualquer
-- escritor do log, o horizonte de leitura. A ordem dos números não é bem a das datas: o lote em que aparece o primeiro
-- evento novo demais é redigido no que já pode, e o percurso fica nele até a próxima vez.
--
-- A impressão do evento não muda: republicado inteiro, ele ainda é reconhecido.

CREATE OR REPLACE PROCEDURE core.redigir(p_antes_de timestamptz, p_lote int DEFAULT 500)
LANGUAGE plpgsql
AS $$
DECLARE
    v_prazo    CONSTANT timestamptz := core._prazo_do_comando();
    v_passos   CONSTANT text[] := ARRAY['core._redigir_eventos', 'core._redigir_da_dlq', 'core._redigir_saidas',
                                        'd6b.redigir_ciclos'];
    v_feitos   int;
    v_total    int;
    v_contagem jsonb := '{}'::jsonb;
BEGIN
    CALL core.preparar_transacao();
    FOR i IN 1 .. cardinality(v_passos) LOOP
        v_total := 0;
        LOOP
            EXECUTE format('SELECT %s($1, $2)', v_passos[i]) INTO v_feitos USING p_antes_de, p_lote;
            COMMIT AND CHAIN;
            v_total := v_total + coalesce(v_feitos, 0);
            EXIT WHEN v_feitos IS NULL OR clock_timestamp() > v_prazo;
        END LOOP;
        v_contagem := v_contagem || jsonb_build_object(v_passos[i], v_total);
    END LOOP;
    IF v_contagem @? '$.* ? (@ > 0)' THEN
        PERFORM core.registrar('info', 'Dados pessoais antigos redigidos.',
                               jsonb_build_object('antes_de', core.iso(p_antes_de), 'redigidos', v_contagem));
    END IF;
END
$$;

COMMENT ON PROCEDURE core.redigir(timestamptz, int) IS
'Remove dos eventos publicados antes de p_antes_de os campos pessoais que o Registro nomeia (x-campos-pessoais), e as
cópias deles: saídas encerradas da DLQ e, na D-6b, os textos dos ciclos encerrados com tudo publicado. O que ainda não
foi tratado fica para a próxima vez, e o que a D-8 guarda para se reconstruir fica mascarado (E23). Cada evento redigido
fica em core.redacoes; cada ciclo ganha redigido_em e redigido_por; uma ocorrência diz quantos e por quem. Repetida, não
muda nada. p_lote eventos por transação; não pode ser chamada dentro de uma. Erros: FM422 hora nula ou que ainda não
passou, ou lote menor que 1; FM403 o aplicativo, aquém do que dias_guarda_dados_pessoais permite. Fonte: projeto, seção 2; D-6b 3.2.';

CREATE OR REPLACE PROCEDURE core.reter()
LANGUAGE plpgsql
AS $$
DECLARE
    v_limite CONSTANT timestamptz := core._limite_da_retencao();
BEGIN
    CALL core.preparar_transacao();
    IF v_limite IS NOT NULL THEN
        CALL core.redigir(v_limite);
    END IF;
    PERFORM core.marcar_execucao('core-retencao');
END
$$;

COMMENT ON PROCEDURE core.reter() IS
'A retenção do dia: core.redigir até dias_guarda_dados_pessoais atrás; nada faz com o parâmetro nulo, que é o padrão.
Erros: FM422 parâmetro que não serve.';

CREATE OR REPLACE FUNCTION core._limite_da_retencao()
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_dias CONSTANT jsonb := nullif(core.parametro('dias_guarda_dados_pessoais'), 'null');
BEGIN
    IF v_dias IS NOT NULL AND NOT core._inteiro_entre(v_dias, 1, 36500) THEN
        RAISE EXCEPTION 'O parâmetro dias_guarda_dados_pessoais deve ser nulo ou um inteiro de 1 a 36500, não %.', v_dias
            USING ERRCODE = 'FM422';
    END IF;
    RETURN core.agora() - make_interval(days => v_dias::int);
END
$$;

COMMENT ON FUNCTION core._limite_da_retencao() IS
'Data até a qual a retenção do dia redige; NULL se dias_guarda_dados_pessoais é nulo. Erros: FM422 parâmetro que não
serve.';

CREATE OR REPLACE FUNCTION core._exigir_retencao(p_antes_de timestamptz, p_lote int)
RETURNS void
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    IF (core.no_calendario(p_antes_de) AND p_antes_de <= core.agora()) IS NOT TRUE THEN
        RAISE EXCEPTION 'O campo antes_de deve ser uma data-hora que já passou.' USING ERRCODE = 'FM422';
    END IF;
    PERFORM core.exigir_limite(p_lote, 'lote');
    -- O aplicativo cumpre a agenda, e nada além dela: quem decide redigir mais cedo é o DBA.
    IF NOT pg_has_role(session_user, 'formigueiro_dba', 'MEMBER') AND NOT core._sem_restricao()
       AND (p_antes_de <= core._limite_da_retencao()) IS NOT TRUE THEN
        RAISE EXCEPTION 'O papel % só redige o que passou de dias_guarda_dados_pessoais.', session_user
            USING ERRCODE = 'FM403';
    END IF;
END
$$;

COMMENT ON FUNCTION core._exigir_retencao(timestamptz, int) IS
'A guarda de cada passo da retenção, que também se chama sozinho: levanta FM422 com hora nula ou que ainda não passou, ou
lote menor que 1, e FM403 se quem não é DBA pede para redigir aquém do que o parâmetro permite. Fonte: regra 8.';

CREATE OR REPLACE FUNCTION core._campos_a_redigir(p_tipo text, p_versao text, p_payload jsonb)
RETURNS text[]
LANGUAGE sql
STABLE
AS $$
    SELECT array_agg(c.campo ORDER BY c.campo)
      FROM core.esquemas AS e
     CROSS JOIN LATERAL unnest(e.campos_pessoais) AS c (campo)
     WHERE e.tipo = p_tipo
       AND e.versao = p_versao
       AND p_payload ? c.campo
       AND c.campo <> ALL (core._campos_da_d8(p_tipo, p_payload))
$$;

COMMENT ON FUNCTION core._campos_a_redigir(text, text, jsonb) IS
'Os campos pessoais do Registro que o payload ainda tem, fora os que a D-8 guarda; NULL se nenhum.';

CREATE OR REPLACE FUNCTION core._campos_da_d8(p_tipo text, p_payload jsonb)
RETURNS text[]
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT CASE
               -- De uma conclusão com plano, seja qual for a versão, ela tira o projeto e o dossiê.
               WHEN p_tipo = 'demanda.concluída' AND coalesce(p_payload -> 'plano_manutencao', 'null') <> 'null'
               THEN ARRAY['titulo', 'resumo_final', 'responsavel_tecnico', 'materiais_utilizados', 'categoria',
                          'categoria_id', 'subcategoria', 'localizacao', 'plano_manutencao']
               WHEN p_tipo = 'manutenção.executada' THEN ARRAY['observacoes', 'plano_manutencao']
               ELSE '{}'
           END
$$;

COMMENT ON FUNCTION core._campos_da_d8(text, jsonb) IS
'Os campos com texto livre que a D-8 lê do evento para se reconstruir: a retenção os mascara, em vez de tirar.
Fonte: E23, E29.';

CREATE OR REPLACE FUNCTION core._campos_a_mascarar(p_tipo text, p_payload jsonb)
RETURNS text[]
LANGUAGE sql
STABLE
AS $$
    SELECT array_agg(c.campo ORDER BY c.campo)
      FROM unnest(core._campos_da_d8(p_tipo, p_payload)) AS c (campo)
     WHERE core._mascarar(p_payload -> c.campo) <> p_payload -> c.campo
$$;

COMMENT ON FUNCTION core._campos_a_mascarar(text, jsonb) IS
'Os campos que a D-8 guarda e que ainda trazem um identificador; NULL se nenhum.';

CREATE OR REPLACE FUNCTION core._redigir_payload(p_tipo text, p_versao text, p_payload jsonb)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT p_payload - coalesce(core._campos_a_redigir(p_tipo, p_versao, p_payload), '{}')
           || (SELECT coalesce(jsonb_object_agg(c.campo, core._mascarar(p_payload -> c.campo)), '{}')
                 FROM unnest(core._campos_a_mascarar(p_tipo, p_payload)) AS c (campo))
$$;

COMMENT ON FUNCTION core._redigir_payload(text, text, jsonb) IS
'O payload sem os campos pessoais que o Registro nomeia, e com os que a D-8 guarda mascarados; igual ao que veio, se nada
há a redigir. Redigir de novo não muda nada.';

CREATE OR REPLACE FUNCTION core._redigir_eventos(p_antes_de timestamptz, p_lote int)
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_retencao core.retencao;
    v_registro text;
    v_tratado  bigint;
    v_feitos   int;
    v_lidos    int;
    v_ultimo   bigint;
    v_novo     bigint;
    v_alvos    bigint[];
BEGIN
    PERFORM core._exigir_retencao(p_antes_de, p_lote);
    SELECT * INTO STRICT v_retencao FROM core.retencao AS r FOR UPDATE;
    SELECT md5(string_agg(format('%s %s %s', e.tipo, e.versao, e.campos_pessoais), '|' ORDER BY e.tipo, e.versao))
      INTO v_registro
      FROM core.esquemas AS e;
    IF v_retencao.registro <> v_registro THEN
        v_retencao.visto := 0;
    END IF;
    SELECT min(least(c.posicao, (SELECT min(r.desde::bigint) FROM jsonb_each_text(c.relendo) AS r (tipo, desde))))
      INTO v_tratado
      FROM core.consumidores AS c;

    WITH lote AS MATERIALIZED (
        SELECT e.*
          FROM core.event_log AS e
         WHERE e.sequence_number > v_retencao.visto
           AND e.sequence_number <= v_tratado
         ORDER BY e.sequence_number
         LIMIT p_lote
    )
    SELECT count(*), max(l.sequence_number), min(l.sequence_number) FILTER (WHERE l.publicado_em >= p_antes_de),
           array_agg(l.sequence_number) FILTER (
               WHERE l.publicado_em < p_antes_de
                 AND core._redigir_payload(l.tipo, l.versao_schema, l.payload) <> l.payload
                 AND NOT core._evento_em_aberto(l.event_id))
      INTO v_lidos, v_ultimo, v_novo, v_alvos
      FROM lote AS l;
    v_feitos := core._redigir(v_alvos, p_antes_de);

    UPDATE core.retencao AS r
       SET visto = coalesce(v_novo - 1, v_ultimo, v_retencao.visto),
           registro = v_registro;
    IF v_lidos < p_lote OR v_novo IS NOT NULL THEN
        RETURN CASE WHEN v_feitos > 0 THEN v_feitos END;  -- nada adiante, ou novo demais
    END IF;
    RETURN v_feitos;
END
$$;

COMMENT ON FUNCTION core._redigir_eventos(timestamptz, int) IS
'Redige um lote do log, de onde o percurso parou; devolve quantos eventos redigiu, ou NULL no fim. Se os campos pessoais
do Registro mudaram, recomeça do primeiro evento. Erros: FM422, FM403.';

CREATE OR REPLACE FUNCTION core._redigir_da_dlq(p_antes_de timestamptz, p_lote int)
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_alvos bigint[];
BEGIN
    PERFORM core._exigir_retencao(p_antes_de, p_lote);
    SELECT array_agg(a.sequence_number)
      INTO v_alvos
      FROM (SELECT DISTINCT e.sequence_number
              FROM core.dlq AS d
              JOIN core.event_log AS e ON e.sequence_number = d.sequence_number
             WHERE d.especie = 'evento'
               AND d.estado IN ('resolvida', 'descartada')
               AND d.sequence_number <= (SELECT r.visto FROM core.retencao AS r)
               AND e.publicado_em < p_antes_de
               AND core._redigir_payload(e.tipo, e.versao_schema, e.payload) <> e.payload
               AND NOT core._evento_em_aberto(e.event_id)
             LIMIT p_lote) AS a;
    RETURN nullif(core._redigir(v_alvos, p_antes_de), 0);
END
$$;

COMMENT ON FUNCTION core._redigir_da_dlq(timestamptz, int) IS
'Redige os eventos que o percurso deixou para trás por estarem em aberto na DLQ, e já não estão; NULL se nenhum.
Erros: FM422, FM403.';

CREATE OR REPLACE FUNCTION core._redigir_saidas(p_antes_de timestamptz, p_lote int)
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_feitos int;
BEGIN
    PERFORM core._exigir_retencao(p_antes_de, p_lote);
    UPDATE core.dlq AS d
       SET saida = jsonb_set(d.saida, '{payload}',
                             core._redigir_payload(d.saida ->> 'tipo', d.saida ->> 'versao_schema', d.saida -> 'payload'))
     WHERE d.id IN (SELECT s.id
                      FROM core.dlq AS s
                     WHERE s.especie = 'saida'
                       AND s.estado IN ('resolvida', 'descartada')
                       AND s.atualizado_em < p_antes_de
                       AND core._redigir_payload(s.saida ->> 'tipo', s.saida ->> 'versao_schema', s.saida -> 'payload')
                           <> s.saida -> 'payload'
                     LIMIT p_lote);
    GET DIAGNOSTICS v_feitos = ROW_COUNT;
    IF v_feitos > 0 THEN
        PERFORM core.registrar('info', 'Saídas encerradas da DLQ redigidas.',
                               jsonb_build_object('antes_de', core.iso(p_antes_de), 'por', session_user,
                                                  'redigidas', v_feitos));
    END IF;
    RETURN nullif(v_feitos, 0);
END
$$;

COMMENT ON FUNCTION core._redigir_saidas(timestamptz, int) IS
'Redige saídas já encerradas da DLQ, que guardam o payload inteiro, e deixa ocorrência com quem o fez; NULL se nenhuma.
Erros: FM422, FM403.';

CREATE OR REPLACE FUNCTION core._evento_em_aberto(p_event_id uuid)
RETURNS boolean
LANGUAGE sql
STABLE
AS $$
    SELECT EXISTS (SELECT
                     FROM core.consumidores AS c
                     JOIN core.dlq AS d ON d.colonia = c.colonia
                    WHERE d.event_id = p_event_id
                      AND d.especie = 'evento'
                      AND d.estado IN ('pendente', 'em_espera'))
$$;

COMMENT ON FUNCTION core._evento_em_aberto(uuid) IS
'Se alguma colônia ainda tem o evento em aberto na DLQ, e vai lê-lo de novo.';

CREATE OR REPLACE FUNCTION core._redigir(p_sequencias bigint[], p_antes_de timestamptz)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
    v_feitos int;
BEGIN
    INSERT INTO core.redacoes (sequence_number, campos, mascarados, antes_de)
    SELECT e.sequence_number,
           coalesce(core._campos_a_redigir(e.tipo, e.versao_schema, e.payload), '{}'),
           coalesce(core._campos_a_mascarar(e.tipo, e.payload), '{}'),
           p_antes_de
      FROM core.event_log AS e
     WHERE e.sequence_number = ANY (p_sequencias);
    UPDATE core.event_log AS e
       SET payload = core._redigir_payload(e.tipo, e.versao_schema, e.payload)
     WHERE e.sequence_number = ANY (p_sequencias);
    GET DIAGNOSTICS v_feitos = ROW_COUNT;
    RETURN v_feitos;
END
$$;

COMMENT ON FUNCTION core._redigir(bigint[], timestamptz) IS
'Registra e faz a redação de cada evento dado, que ainda tem o que perder; devolve quantos. O gatilho de
core.event_log só deixa passar o que core.redacoes registra.';

GRANT EXECUTE ON PROCEDURE core.redigir(timestamptz, int), core.reter() TO formigueiro_app, formigueiro_dba;
GRANT EXECUTE ON FUNCTION core._redigir_eventos(timestamptz, int), core._redigir_da_dlq(timestamptz, int),
                          core._redigir_saidas(timestamptz, int), core._limite_da_retencao()
   TO formigueiro_app, formigueiro_dba;
GRANT EXECUTE ON FUNCTION core._redigir_payload(text, text, jsonb), core._campos_a_redigir(text, text, jsonb),
                          core._campos_a_mascarar(text, jsonb), core._campos_da_d8(text, jsonb),
                          core._exigir_retencao(timestamptz, int), core._limite_da_retencao(), core._sem_restricao()
   TO d6b_dono;
