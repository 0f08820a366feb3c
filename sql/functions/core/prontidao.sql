-- O estado da rede num olhar, para /readyz e /metrics: barato, a ponto de ser pedido a cada poucos segundos.

CREATE OR REPLACE FUNCTION core.prontidao(p_migracoes text[] DEFAULT '{}')
RETURNS jsonb
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT jsonb_build_object(
               'migracoes_ausentes', (
                   SELECT coalesce(jsonb_agg(m.nome ORDER BY m.nome), '[]')
                     FROM unnest(p_migracoes) AS m (nome)
                    WHERE NOT EXISTS (SELECT FROM migracoes.conteudo AS a WHERE a.migration_id = m.nome)),
               'colonias', (
                   SELECT coalesce(
                              jsonb_agg(jsonb_build_object(
                                            'colonia', c.colonia,
                                            'atraso_eventos', greatest(m.maior - c.posicao, 0),
                                            'atraso_segundos', coalesce(a.segundos, 0),
                                            'horizonte_retido_segundos', coalesce(h.segundos, 0),
                                            'dlq_pendente', d.pendente,
                                            'dlq_em_espera', d.em_espera)
                                        ORDER BY c.ordem),
                              '[]')
                     FROM core.consumidores AS c
                    CROSS JOIN LATERAL (SELECT core.obter_maior_sequence()) AS m (maior)
                    CROSS JOIN LATERAL (SELECT extract(epoch FROM clock_timestamp() - c.lacuna_desde)) AS h (segundos)
                     -- O primeiro por ler, pela chave primária: não se conta o que pode ser um milhão.
                     LEFT JOIN LATERAL (SELECT greatest(extract(epoch FROM core.agora() - e.publicado_em), 0)
                                          FROM core.event_log AS e
                                         WHERE e.sequence_number > c.posicao
                                         ORDER BY e.sequence_number
                                         LIMIT 1) AS a (segundos) ON true
                    CROSS JOIN LATERAL (SELECT count(*) FILTER (WHERE f.estado = 'pendente'),
                                               count(*) FILTER (WHERE f.estado = 'em_espera')
                                          FROM core.dlq AS f
                                         WHERE f.colonia = c.colonia
                                           AND f.estado IN ('pendente', 'em_espera')) AS d (pendente, em_espera)))
$$;

COMMENT ON FUNCTION core.prontidao(text[]) IS
'{migracoes_ausentes, colonias}: quais de p_migracoes este banco não tem e, por colônia, o atraso da leitura (em números
de sequência e em segundos do primeiro evento por ler), há quanto tempo uma transação alheia segura o horizonte e
quantas entradas da DLQ estão em aberto.';

CREATE OR REPLACE FUNCTION core.filas_de_publicacao()
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_filas   jsonb := jsonb_build_array();
    v_colonia record;
    v_fila    jsonb;
BEGIN
    -- SECURITY INVOKER: o núcleo não lê as tabelas das colônias; cada uma conta as suas.
    FOR v_colonia IN
        SELECT c.colonia, c.esquema
          FROM core.consumidores AS c
         WHERE to_regprocedure(format('%I.fila_de_publicacao()', c.esquema)) IS NOT NULL
         ORDER BY c.ordem
    LOOP
        EXECUTE format('SELECT jsonb_build_object(''colonia'', $1, ''pendentes'', f.pendentes, ''segundos'', f.segundos)
                          FROM %I.fila_de_publicacao() AS f', v_colonia.esquema)
           INTO v_fila
          USING v_colonia.colonia;
        v_filas := v_filas || v_fila;
    END LOOP;
    RETURN v_filas;
END
$$;

COMMENT ON FUNCTION core.filas_de_publicacao() IS
'[{colonia, pendentes, segundos}] das colônias que têm textos à espera do trabalhador e os contam em
<esquema>.fila_de_publicacao(); segundos é a idade do mais antigo. Fonte: E02.';

GRANT EXECUTE ON FUNCTION core.prontidao(text[]), core.filas_de_publicacao() TO formigueiro_app, formigueiro_dba;
