-- A D-8 restaurada de uma cópia mais velha que o log (N53): há no log ciclos e encerramentos que ela mesma publicou e já
-- não conhece, e varrer os geraria outra vez.
--
-- Cada evento próprio entra em processed_events na transação que o publica, ou antes (a saída que espera na DLQ): num mesmo
-- instantâneo, o que está no log está lá. Basta olhar o último de cada tipo, pois enquanto ele falta nada de novo se
-- publica: a varredura e o encerramento manual são recusados, e o despacho da colônia espera, com os eventos por ler.

CREATE OR REPLACE FUNCTION d8.tipos_proprios()
RETURNS text[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT ARRAY['demanda.manutenção_gerada',
                 'manutenção.ciclo_encerrado']
$$;

COMMENT ON FUNCTION d8.tipos_proprios() IS
'Tipos que a D-8 publica e de que se reconstrói; demanda.recebida, que também publica, ela consome. Fonte: E23.';

CREATE OR REPLACE FUNCTION d8.aquem_do_log()
RETURNS jsonb
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Duas sondas em event_log_tipo_sequence_idx e duas em processed_events: a varredura e o despacho ociosos também a
    -- chamam. Com a igualdade no lugar da comparação de linhas, o planejador prefere a chave primária, e desce por ela o log
    -- inteiro até achar um evento do tipo.
    RETURN (SELECT jsonb_build_object('tipo', u.tipo,
                                      'sequence_number', u.sequence_number,
                                      'event_id', u.event_id,
                                      'publicado_em', core.iso(u.publicado_em))
              FROM unnest(d8.tipos_proprios()) AS t (tipo)
             CROSS JOIN LATERAL (SELECT e.*
                                   FROM core.event_log AS e
                                  WHERE (e.tipo, e.sequence_number) <= (t.tipo, 9223372036854775807)
                                  ORDER BY e.tipo DESC, e.sequence_number DESC
                                  LIMIT 1) AS u
             WHERE u.tipo = t.tipo
               AND NOT EXISTS (SELECT FROM d8.processed_events AS p WHERE p.event_id = u.event_id)
             ORDER BY u.sequence_number DESC
             LIMIT 1);
END
$$;

COMMENT ON FUNCTION d8.aquem_do_log() IS
'O último evento que a D-8 publicou e não conhece, {tipo, sequence_number, event_id, publicado_em}: seu esquema é mais
velho que o log, e só d8.reconstruir() o põe em dia. NULL, o normal, se conhece o último de cada tipo. Fonte: E23, N53.';

CREATE OR REPLACE FUNCTION d8.exigir_log_conhecido()
RETURNS void
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_evento CONSTANT jsonb := d8.aquem_do_log();
BEGIN
    IF v_evento IS NOT NULL THEN
        RAISE EXCEPTION 'A D-8 é mais velha que o log: não conhece % nº %, que ela publicou. Rode antes SELECT d8.reconstruir().',
                        v_evento ->> 'tipo', v_evento ->> 'sequence_number'
            USING ERRCODE = 'FM409';
    END IF;
END
$$;

COMMENT ON FUNCTION d8.exigir_log_conhecido() IS
'Levanta FM409 se a D-8 é mais velha que o log. Fonte: N53.';

GRANT EXECUTE ON FUNCTION d8.aquem_do_log() TO formigueiro_app, formigueiro_dba;
