-- O que pede atenção num banco restaurado, copiado ou replicado, e as métricas disso.
--
-- SECURITY INVOKER, como core.estado.

CREATE OR REPLACE FUNCTION core._problemas_da_copia()
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT coalesce(jsonb_agg(p.frase ORDER BY p.n), '[]')
      FROM (SELECT 1, 'o log é alimentado por replicação de outro servidor: aqui nada se publica nem se despacha;'
                      ' para que passe a ser o barramento, core.promover()'
             WHERE (core._estado_da_sequencia() ->> 'assinado')::boolean
            UNION ALL
            SELECT 2, format('a sequência do log está %s números atrás: publicar é recusado até que se rode formigueiro migrar', s.atras)
              FROM (SELECT core.sequencia_atras()) AS s (atras)
             WHERE s.atras > 0
               AND NOT (core._estado_da_sequencia() ->> 'assinado')::boolean
            UNION ALL
            SELECT 3, o.frase FROM core._problemas_dos_objetos() AS o (frase)) AS p (n, frase)
$$;

COMMENT ON FUNCTION core._problemas_da_copia() IS
'O que pede atenção numa cópia, em frases: log assinado, sequência atrás dele, agenda no pg_cron de outro servidor, objetos
de outro dono ou sem direitos. Um vetor vazio é saúde. Fonte: N58 a N61.';

CREATE OR REPLACE FUNCTION core._problemas_dos_objetos()
RETURNS SETOF text
LANGUAGE sql
STABLE
AS $$
    SELECT 'a agenda está no pg_cron de outro servidor, ou de outro banco: rode formigueiro migrar'
      FROM core.objetos_danificados() AS d
     WHERE d.especie = 'pg_cron'
    UNION ALL
    SELECT format('%s objetos não são como migrar os deixou (%s%s): rode formigueiro migrar', count(*),
                  string_agg(concat_ws(' ', d.especie, nullif(d.nome, ''), d.defeito), '; ') FILTER (WHERE d.i <= 3),
                  CASE WHEN count(*) > 3 THEN '; …' END)
      FROM (SELECT o.*, row_number() OVER () AS i
              FROM core.objetos_danificados() AS o
             WHERE o.especie <> 'pg_cron') AS d
    HAVING count(*) > 0
$$;

COMMENT ON FUNCTION core._problemas_dos_objetos() IS
'De core._problemas_da_copia, o que se diz dos objetos: serve ainda que faltem os que as outras frases leem.';

CREATE OR REPLACE FUNCTION core._estado_danificado(p_erro text)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_agora  text := to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
    v_frases jsonb;
BEGIN
    BEGIN
        v_frases := (SELECT coalesce(jsonb_agg(o.frase), '[]') FROM core._problemas_dos_objetos() AS o (frase));
        v_agora := core.iso(core.agora());
    EXCEPTION WHEN insufficient_privilege OR undefined_function OR undefined_table OR invalid_schema_name THEN
        -- O que falta é do que se precisa para o dizer.
        v_frases := coalesce(nullif(v_frases, '[]'),
                             jsonb_build_array(format('os objetos não são como migrar os deixou (%s): rode formigueiro migrar', p_erro)));
    END;
    IF v_frases = '[]' THEN
        RETURN NULL;
    END IF;
    RETURN jsonb_build_object('agora', v_agora, 'maior_sequence', NULL, 'colonias', '[]'::jsonb, 'cursores', '{}'::jsonb,
                              'publicacoes', NULL, 'saidas_conclusao', NULL, 'd8_aquem_do_log', NULL, 'filas', '[]'::jsonb,
                              'filas_crescentes', NULL, 'trabalhador', '{"lider": false, "intrusos": []}'::jsonb,
                              'agenda', '[]'::jsonb, 'travas', '[]'::jsonb, 'aberto_ao_publico', NULL,
                              'produtores_de_mais', '[]'::jsonb, 'problemas', v_frases);
END
$$;

COMMENT ON FUNCTION core._estado_danificado(text) IS
'O que core.estado pode dizer se os direitos, ou objetos, que ela usa faltam: o que falta ou, se nem isso se apura, p_erro, o
erro em que parou. NULL se não falta nada.';

CREATE OR REPLACE FUNCTION core._metricas_da_copia()
RETURNS TABLE (nome text, rotulos jsonb, valor float8)
LANGUAGE sql
STABLE
AS $$
    SELECT m.nome, jsonb_build_object(), m.valor
      FROM core._estado_da_sequencia() AS s
     CROSS JOIN LATERAL (VALUES ('formigueiro_barramento_sequencia_atras', core.sequencia_atras()::float8),
                                ('formigueiro_barramento_assinado', ((s ->> 'assinado')::boolean)::int::float8),
                                ('formigueiro_objetos_danificados',
                                 (SELECT count(*) FROM core.objetos_danificados())::float8)) AS m (nome, valor)
$$;

COMMENT ON FUNCTION core._metricas_da_copia() IS
'De quantos números a sequência está atrás do log, se ele é assinado e quantos objetos não são como migrar os deixou.';

GRANT EXECUTE ON FUNCTION core._problemas_da_copia(), core._problemas_dos_objetos(), core._metricas_da_copia(),
                          core._estado_danificado(text)
   TO formigueiro_app, formigueiro_dba;
