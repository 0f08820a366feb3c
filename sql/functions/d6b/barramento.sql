-- A porta da colônia para o barramento: o que core.despachar e o DBA chamam. Tudo roda como o dono da D-6b.

CREATE OR REPLACE FUNCTION d6b.processar_pendentes(p_limite int DEFAULT 30)
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN core._drenar('D-6b', p_limite);
END
$$;

COMMENT ON FUNCTION d6b.processar_pendentes(int) IS
'Trata até p_limite (no máximo 30) eventos pendentes da D-6b, em ordem, e devolve quantos. Fonte: regras 1 a 4.';

CREATE OR REPLACE FUNCTION d6b.reservar_lote()
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN core._reservar_lote('D-6b');
END
$$;

COMMENT ON FUNCTION d6b.reservar_lote() IS
'Reserva o próximo lote e devolve seu tamanho; ver core._reservar_lote. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION d6b.tentar_dlq(p_id bigint)
RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN core._tentar_dlq('D-6b', p_id);
END
$$;

COMMENT ON FUNCTION d6b.tentar_dlq(bigint) IS
'Nova tentativa de uma entrada pendente da DLQ; ver core.dlq_reprocessar. Erros: FM404, FM409.';

CREATE OR REPLACE FUNCTION d6b.descartar_dlq(p_id bigint, p_motivo text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM core._descartar_dlq('D-6b', p_id, p_motivo);
    PERFORM d6b.marcar_descartada(d) FROM core.dlq AS d WHERE d.id = p_id;
    PERFORM d6b.marcar_processado(e)
       FROM core.dlq AS d
       JOIN core.event_log AS e ON e.event_id = d.event_id
      WHERE d.id = p_id
        AND d.especie = 'evento';
END
$$;

COMMENT ON FUNCTION d6b.descartar_dlq(bigint, text) IS
'Encerra uma entrada da DLQ, e o evento descartado conta como processado (regra 1); ver core.dlq_descartar.
Erros: FM404, FM409, FM422.';

CREATE OR REPLACE FUNCTION d6b.reposicionar(p_tipo text, p_sequencia bigint)
RETURNS void
LANGUAGE sql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT core._reposicionar('D-6b', p_tipo, p_sequencia)
$$;

COMMENT ON FUNCTION d6b.reposicionar(text, bigint) IS
'Recua um cursor da D-6b; ver core.reposicionar. Erros: FM404, FM422.';

CREATE OR REPLACE FUNCTION d6b.semear_cursores()
RETURNS void
LANGUAGE sql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT core._semear_cursores('D-6b', d6b.tipos_consumidos())
$$;

COMMENT ON FUNCTION d6b.semear_cursores() IS
'Cria os cursores que faltam, no horizonte corrente, sem tocar nos que existem. Fonte: D-6b 2.8 e 4.3.';

CREATE OR REPLACE FUNCTION d6b.cursores()
RETURNS jsonb
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT jsonb_object_agg(o.tipo_evento, o.last_sequence) FROM d6b.consumer_offset AS o);
END
$$;

COMMENT ON FUNCTION d6b.cursores() IS
'Os cursores da colônia: {tipo: último número que seu tipo já passou}.';

CREATE OR REPLACE FUNCTION d6b.travar_cursores()
RETURNS jsonb
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN (SELECT jsonb_object_agg(t.tipo_evento, t.last_sequence)
              FROM (SELECT o.tipo_evento, o.last_sequence
                      FROM d6b.consumer_offset AS o
                     ORDER BY o.tipo_evento
                       FOR UPDATE) AS t);
END
$$;

COMMENT ON FUNCTION d6b.travar_cursores() IS
'Trava os cursores da colônia, sempre na mesma ordem, e os devolve como d6b.cursores().';

CREATE OR REPLACE FUNCTION d6b.mover_cursores(p_novos jsonb)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE d6b.consumer_offset AS o
       SET last_sequence = (p_novos ->> o.tipo_evento)::bigint,
           updated_at = clock_timestamp()
     WHERE p_novos ? o.tipo_evento;
END
$$;

COMMENT ON FUNCTION d6b.mover_cursores(jsonb) IS
'Põe os cursores, que quem chama travou, em p_novos: {tipo: número}.';

GRANT EXECUTE ON FUNCTION d6b.processar_pendentes(int), d6b.reservar_lote(), d6b.tentar_dlq(bigint), d6b.cursores()
   TO formigueiro_app, formigueiro_dba;
GRANT EXECUTE ON FUNCTION d6b.descartar_dlq(bigint, text), d6b.reposicionar(text, bigint) TO formigueiro_dba;
