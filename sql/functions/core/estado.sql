-- A saúde da rede num relance: quanto falta ler, o que segura a leitura, o que espera e o que falhou.
--
-- SECURITY INVOKER: cada parte é lida pela função que tem direito a ela, e a que falta, ou que quem chama não pode
-- ler, vem nula. Um banco meio instalado ainda se explica.

CREATE OR REPLACE FUNCTION core.estado()
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_estado jsonb;
BEGIN
    v_estado := core._estado_do_barramento() || jsonb_build_object(
        'cursores', (SELECT coalesce(jsonb_object_agg(c.colonia, core._estado_da_colonia(c.esquema || '.cursores()')), '{}')
                       FROM core.consumidores AS c),
        'publicacoes', core._estado_da_colonia('d6b.publicacoes_em_espera()'),
        'saidas_conclusao', core._estado_da_colonia('d6b.saidas_em_espera()'),
        'd8_aquem_do_log', core._estado_da_colonia('d8.aquem_do_log()'),
        'filas', core.filas_de_publicacao(),
        'filas_crescentes', core.filas_crescentes(),
        'trabalhador', jsonb_build_object(
                           'lider', core.ha_lider(),
                           'intrusos', (SELECT coalesce(jsonb_agg(jsonb_build_object('pid', d.pid, 'papel', d.papel)), '[]')
                                          FROM core._detentores_da_lideranca() AS d
                                         WHERE NOT d.lidera)),
        'agenda', core._estado_da_agenda(),
        'travas', (SELECT coalesce(jsonb_agg(to_jsonb(t)), '[]') FROM core.travas_longas() AS t),
        'aberto_ao_publico', EXISTS (SELECT FROM core._abertas_ao_publico()),
        'produtores_de_mais', (SELECT coalesce(jsonb_agg(to_jsonb(p)), '[]') FROM core.produtores_de_mais() AS p));
    RETURN v_estado || jsonb_build_object('problemas', core._problemas(v_estado) || core._problemas_da_copia());
EXCEPTION WHEN insufficient_privilege OR undefined_function OR undefined_table OR invalid_schema_name THEN
    v_estado := core._estado_danificado(SQLERRM);
    IF v_estado IS NULL THEN
        RAISE;
    END IF;
    RETURN v_estado;
END
$$;

COMMENT ON FUNCTION core.estado() IS
'Estado da rede: {agora, maior_sequence, colonias: o que core.prontidao diz de cada uma, com posicao, horizonte e
detentores da lacuna; cursores, publicacoes, d8_aquem_do_log, filas, filas_crescentes, saidas_conclusao, trabalhador:
{lider, intrusos: [{pid, papel}] que
seguram a trava do líder sem ser do aplicativo}, agenda: [{nome, cron, comando, por, ultima_execucao, ultima_conclusao,
atrasado}], travas: o que core.travas_longas diz, aberto_ao_publico: se qualquer login pode tomar travas consultivas, produtores_de_mais: [{papel, membro_de}],
problemas}. problemas é um vetor de frases, vazio quando tudo vai bem. Fonte: projeto, seção 3.';

CREATE OR REPLACE FUNCTION core._estado_do_barramento()
RETURNS jsonb
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_build_object(
               'agora', core.iso(core.agora()),
               'maior_sequence', core.obter_maior_sequence(),
               'colonias', coalesce(
                   jsonb_agg(p.colonia || jsonb_build_object(
                                 'posicao', c.posicao,
                                 'horizonte', c.horizonte,
                                 'detentores', core._estado_dos_detentores(c.lacuna_detentores),
                                 'esperam_trava', (SELECT count(*)
                                                     FROM core.dlq AS d
                                                    WHERE d.colonia = c.colonia
                                                      AND d.estado = 'pendente'
                                                      AND d.sqlstate = '55P03'))
                             ORDER BY c.ordem),
                   '[]'))
      FROM jsonb_array_elements(core.prontidao() -> 'colonias') AS p (colonia)
      JOIN core.consumidores AS c ON c.colonia = p.colonia ->> 'colonia'
$$;

COMMENT ON FUNCTION core._estado_do_barramento() IS
'A parte do núcleo em core.estado: hora da rede, maior número e o estado de cada colônia.';

CREATE OR REPLACE FUNCTION core._estado_dos_detentores(p_detentores text[])
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT coalesce(jsonb_agg(DISTINCT jsonb_build_object('transacao', t.virtualtransaction,
                                                          'pid', t.pid,
                                                          'papel', s.usename,
                                                          'preparada', x.gid,
                                                          'dono', x.owner)), '[]')
      FROM pg_catalog.pg_locks AS t
      LEFT JOIN pg_catalog.pg_stat_activity AS s ON s.pid = t.pid
      LEFT JOIN core._preparadas() AS x ON t.pid IS NULL AND x.transacao = t.virtualtransaction
     WHERE p_detentores IS NOT NULL
       AND t.locktype = 'relation'
       AND t.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
       AND t.relation = 'core.event_log'::regclass
       AND t.mode = 'RowExclusiveLock'
       AND (t.virtualtransaction = ANY (p_detentores) OR starts_with(t.virtualtransaction, '-1/'))
$$;

COMMENT ON FUNCTION core._estado_dos_detentores(text[]) IS
'Quem, dos detentores de uma lacuna, ainda a segura: transação, pid e papel ou, de uma transação preparada, seu nome e
dono; vazio sem lacuna.';

CREATE OR REPLACE FUNCTION core._estado_da_colonia(p_funcao text)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    -- Até o PostgreSQL 15, to_regprocedure falha com o que não tem a forma de uma função.
    v_funcao CONSTANT regprocedure := to_regprocedure(CASE WHEN p_funcao ~ '^[a-z0-9_]+[.][a-z0-9_]+[(][)]$' THEN p_funcao END);
    v_estado jsonb;
BEGIN
    IF has_function_privilege(v_funcao, 'EXECUTE') THEN
        EXECUTE format('SELECT to_jsonb(f) FROM %s AS f', v_funcao) INTO v_estado;
    END IF;
    RETURN v_estado;
END
$$;

COMMENT ON FUNCTION core._estado_da_colonia(text) IS
'O que uma função de estado de uma colônia devolve, em jsonb; NULL se ela não existe ou quem chama não pode chamá-la.';

CREATE OR REPLACE FUNCTION core._estado_da_agenda()
RETURNS jsonb
LANGUAGE plpgsql
STABLE
SET row_security = on  -- como em core.espelhar_agenda
AS $$
DECLARE
    v_no_pg_cron boolean := coalesce((core.parametro('agenda_no_pg_cron'))::boolean, false);
    v_execucoes  jsonb := '{}'::jsonb;
BEGIN
    -- O pg_cron guarda suas execuções no banco em que mora, e só ali se leem.
    IF v_no_pg_cron AND core.cron_neste_banco() AND has_schema_privilege(to_regnamespace('cron'), 'USAGE') THEN
        EXECUTE 'SELECT coalesce(jsonb_object_agg(e.jobname, e.quando), ''{}'')
                   FROM (SELECT j.jobname, max(d.start_time) AS quando
                           FROM cron.job_run_details AS d
                           JOIN cron.job AS j ON j.jobid = d.jobid
                          GROUP BY j.jobname) AS e'
           INTO v_execucoes;
    END IF;
    RETURN (SELECT coalesce(jsonb_agg(jsonb_build_object(
                                'nome', a.nome,
                                'cron', a.cron,
                                'comando', a.comando,
                                'por', CASE WHEN v_no_pg_cron THEN 'pg_cron' ELSE 'app' END,
                                'ultima_execucao', core.iso(coalesce(
                                    (v_execucoes ->> core.nome_no_cron(current_database(), a.nome))::timestamptz,
                                    a.ultima_execucao)),
                                'ultima_conclusao', core.iso(a.ultima_conclusao),
                                'atrasado', core.agendamento_atrasado(a))
                            ORDER BY a.nome), '[]')
              FROM core.agendamentos AS a);
END
$$;

COMMENT ON FUNCTION core._estado_da_agenda() IS
'A agenda, quem a cumpre (pg_cron ou app), quando cada entrada rodou pela última vez, se daqui se pode saber, quando
acabou bem pela última vez e se passou da hora.';

CREATE OR REPLACE FUNCTION core._problemas(p_estado jsonb)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    -- O pg_cron despacha, e republica saídas, a cada minuto: dois sem ler, ou dez sem publicar, não são normais.
    SELECT coalesce(jsonb_agg(p.frase ORDER BY p.n), '[]')
      FROM (SELECT 1, format('%s: %s eventos por ler, o mais antigo há %s s', c ->> 'colonia', c ->> 'atraso_eventos',
                             (c ->> 'atraso_segundos')::numeric::int)
              FROM jsonb_array_elements(p_estado -> 'colonias') AS c
             WHERE (c ->> 'atraso_segundos')::numeric > 120
            UNION ALL
            SELECT 2, d.frase FROM core._problemas_de_detencao(p_estado) AS d (frase)
            UNION ALL
            SELECT 3, format('%s: %s na DLQ (%s em espera atrás)', c ->> 'colonia', c ->> 'dlq_pendente',
                             c ->> 'dlq_em_espera')
              FROM jsonb_array_elements(p_estado -> 'colonias') AS c
             WHERE (c ->> 'dlq_pendente')::bigint + (c ->> 'dlq_em_espera')::bigint > 0
            UNION ALL
            SELECT 4, format('%s textos não puderam ser publicados: %s',
                             p_estado -> 'publicacoes' ->> 'com_erro', p_estado -> 'publicacoes' ->> 'ultimo_erro')
             WHERE (p_estado -> 'publicacoes' ->> 'com_erro')::bigint > 0
            UNION ALL
            SELECT 5, format('%s conclusões com saídas por publicar, a mais antiga de %s',
                             p_estado -> 'saidas_conclusao' ->> 'espera',
                             p_estado -> 'saidas_conclusao' ->> 'mais_antiga')
             WHERE (p_estado ->> 'agora')::timestamptz - (p_estado -> 'saidas_conclusao' ->> 'mais_antiga')::timestamptz
                   > interval '10 minutes'
            UNION ALL
            SELECT 6, format('%s textos da %s esperam o trabalhador, o mais antigo há %s s: %s',
                             f ->> 'pendentes', f ->> 'colonia', (f ->> 'segundos')::numeric::int,
                             CASE WHEN (p_estado -> 'trabalhador' ->> 'lider')::boolean
                                  THEN 'há trabalhador na liderança'
                                  ELSE 'não há trabalhador na liderança' END)
              FROM jsonb_array_elements(p_estado -> 'filas') AS f
             WHERE (f ->> 'segundos')::numeric > 600
            UNION ALL
            SELECT 7, format('o agendamento %s (%s) não acaba bem desde %s', a ->> 'nome', a ->> 'cron',
                             coalesce(a ->> 'ultima_conclusao', 'a instalação'))
              FROM jsonb_array_elements(p_estado -> 'agenda') AS a
             WHERE (a ->> 'atrasado')::boolean
            UNION ALL
            SELECT 8, format('nenhum trabalhador pode liderar: a trava do líder está com %s, que não é do aplicativo',
                             coalesce((i ->> 'papel') || ' (pid ' || (i ->> 'pid') || ')', 'uma transação preparada'))
              FROM jsonb_array_elements(p_estado -> 'trabalhador' -> 'intrusos') AS i
            UNION ALL
            SELECT 9, format('a D-8 é mais velha que o log (não conhece %s nº %s, que publicou): não varre nem lê até SELECT d8.reconstruir()',
                             p_estado -> 'd8_aquem_do_log' ->> 'tipo',
                             p_estado -> 'd8_aquem_do_log' ->> 'sequence_number')
             WHERE jsonb_typeof(p_estado -> 'd8_aquem_do_log') = 'object'
            UNION ALL
            SELECT 10, format('o produtor %s é também membro de %s: publica e opera quem só havia de publicar', p ->> 'papel',
                              p ->> 'membro_de')
              FROM jsonb_array_elements(p_estado -> 'produtores_de_mais') AS p
            UNION ALL
            SELECT 11, format('%s: a fila de %s cresce: %s, %s a mais que há %s s', f ->> 'colonia', f ->> 'fila',
                              f ->> 'tamanho', f ->> 'crescimento', (f ->> 'segundos')::numeric::int)
              FROM jsonb_array_elements(p_estado -> 'filas_crescentes') AS f
            UNION ALL
            SELECT 12, format('a colônia do esquema %s não está em core.consumidores: nada se lê por ela', t.pronamespace::regnamespace)
              FROM pg_catalog.pg_proc AS t
             WHERE t.proname = 'tratar'
               AND t.proargtypes[0] = 'core.event_log'::regtype
               AND t.pronamespace NOT IN (SELECT to_regnamespace(quote_ident(c.esquema))
                                            FROM core.consumidores AS c
                                           WHERE to_regnamespace(quote_ident(c.esquema)) IS NOT NULL)
            UNION ALL
            SELECT 13, 'core.agendamentos está vazia: nada se despacha nem se varre por si'
             WHERE p_estado -> 'agenda' = '[]') AS p (n, frase)
$$;

COMMENT ON FUNCTION core._problemas(jsonb) IS
'O que pede atenção num estado, em frases; um vetor vazio é saúde.';

CREATE OR REPLACE FUNCTION core._problemas_de_detencao(p_estado jsonb)
RETURNS SETOF text
LANGUAGE sql
STABLE
AS $$
    SELECT format('%s: leitura detida há %s s por %s', c ->> 'colonia',
                  (c ->> 'horizonte_retido_segundos')::numeric::int,
                  coalesce((SELECT string_agg(coalesce('pid ' || (d ->> 'pid') || coalesce(' (' || (d ->> 'papel') || ')', ''),
                                                       format('transação preparada %s, de %s', d ->> 'preparada',
                                                              d ->> 'dono')), ', ')
                              FROM jsonb_array_elements(c -> 'detentores') AS d),
                           'quem já terminou'))
      FROM jsonb_array_elements(p_estado -> 'colonias') AS c
     WHERE make_interval(secs => (c ->> 'horizonte_retido_segundos')::float8) > core._detencao_que_importa()
    UNION ALL
    SELECT format('%s: %s na DLQ esperam por uma trava', c ->> 'colonia', c ->> 'esperam_trava')
      FROM jsonb_array_elements(p_estado -> 'colonias') AS c
     WHERE (c ->> 'esperam_trava')::bigint > 0
    UNION ALL
    -- De quem não se sabe desde quando, só se diz se alguém espera.
    SELECT format('%s segura %s%s, e o que precisa do que travou espera',
                  coalesce('a transação preparada ' || (t ->> 'preparada') || ', de ' || (t ->> 'papel') || ',',
                           format('%s (pid %s%s)', t ->> 'papel', t ->> 'pid', ', ' || (t ->> 'fazendo'))),
                  t ->> 'tabelas',
                  ' desde ' || core.iso((t ->> 'desde')::timestamptz))
      FROM jsonb_array_elements(p_estado -> 'travas') AS t
     WHERE t ->> 'desde' IS NOT NULL
        OR EXISTS (SELECT FROM jsonb_array_elements(p_estado -> 'colonias') AS c WHERE (c ->> 'esperam_trava')::bigint > 0)
$$;

COMMENT ON FUNCTION core._problemas_de_detencao(jsonb) IS
'Dos problemas de um estado, quem detém a leitura e quem segura o que o despacho precisa mudar. Fonte: N66, N67.';

GRANT EXECUTE ON FUNCTION core.estado(), core._estado_do_barramento(), core._estado_da_colonia(text),
                          core._estado_da_agenda(), core._problemas(jsonb), core._problemas_de_detencao(jsonb)
   TO formigueiro_app, formigueiro_dba;
