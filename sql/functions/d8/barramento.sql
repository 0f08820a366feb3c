-- A porta da colônia para o barramento: o que core.despachar e o DBA chamam. Tudo roda como o dono da D-8.
--
-- Enquanto a D-8 é mais velha que o log (N53), nada entra: uma execução não acharia seu ciclo e seria descartada. Os eventos
-- esperam por ler, em ordem, e a outra colônia segue.

CREATE OR REPLACE FUNCTION d8.processar_pendentes(p_limite int DEFAULT 30)
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF d8.aquem_do_log() IS NOT NULL THEN
        RETURN 0;
    END IF;
    RETURN core._drenar('D-8', p_limite);
END
$$;

COMMENT ON FUNCTION d8.processar_pendentes(int) IS
'Trata até p_limite (no máximo 30) eventos pendentes da D-8, em ordem, e devolve quantos; nenhum, se ela é mais velha que o
log. Fonte: regras 1 a 4, N53.';

CREATE OR REPLACE FUNCTION d8.reservar_lote()
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF d8.aquem_do_log() IS NOT NULL THEN
        RETURN 0;
    END IF;
    RETURN core._reservar_lote('D-8');
END
$$;

COMMENT ON FUNCTION d8.reservar_lote() IS
'Reserva o próximo lote e devolve seu tamanho, 0 se a D-8 é mais velha que o log; ver core._reservar_lote. Fonte: regra 4,
N53.';

CREATE OR REPLACE FUNCTION d8.tentar_dlq(p_id bigint)
RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM d8.exigir_log_conhecido();
    RETURN core._tentar_dlq('D-8', p_id);
END
$$;

COMMENT ON FUNCTION d8.tentar_dlq(bigint) IS
'Nova tentativa de uma entrada pendente da DLQ; ver core.dlq_reprocessar. Erros: FM404, FM409.';

CREATE OR REPLACE FUNCTION d8.descartar_dlq(p_id bigint, p_motivo text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM core._descartar_dlq('D-8', p_id, p_motivo);
    PERFORM d8.marcar_processado(d.event_id, d.tipo, 'descartado')
       FROM core.dlq AS d
      WHERE d.id = p_id
        AND d.especie = 'evento';
END
$$;

COMMENT ON FUNCTION d8.descartar_dlq(bigint, text) IS
'Encerra uma entrada da DLQ, e o evento descartado conta como processado (regra 1); ver core.dlq_descartar.
Erros: FM404, FM409, FM422.';

CREATE OR REPLACE FUNCTION d8.reposicionar(p_tipo text, p_sequencia bigint)
RETURNS void
LANGUAGE sql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT core._reposicionar('D-8', p_tipo, p_sequencia)
$$;

COMMENT ON FUNCTION d8.reposicionar(text, bigint) IS
'Recua um cursor da D-8; ver core.reposicionar. Erros: FM404, FM422.';

CREATE OR REPLACE FUNCTION d8.semear_cursores()
RETURNS void
LANGUAGE sql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT core._semear_cursores('D-8', d8.tipos_consumidos())
$$;

COMMENT ON FUNCTION d8.semear_cursores() IS
'Cria os cursores que faltam, no horizonte corrente, sem tocar nos que existem. Fonte: D-8 4.5.';

CREATE OR REPLACE FUNCTION d8.reprocessar(p_event_id uuid)
RETURNS text
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM d8.exigir_log_conhecido();
    IF EXISTS (SELECT FROM d8.processed_events AS p WHERE p.event_id = p_event_id AND p.resultado = 'processado') THEN
        RETURN 'duplicado';
    END IF;
    RETURN core._reprocessar('D-8', p_event_id);
END
$$;

COMMENT ON FUNCTION d8.reprocessar(uuid) IS
'Ver core.reprocessar. Erros: FM404, FM409.';

CREATE OR REPLACE FUNCTION d8.cursores()
RETURNS jsonb
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT jsonb_object_agg(o.tipo_evento, o.last_sequence) FROM d8.consumer_offset AS o);
END
$$;

COMMENT ON FUNCTION d8.cursores() IS
'Os cursores da colônia: {tipo: último número que seu tipo já passou}.';

CREATE OR REPLACE FUNCTION d8.travar_cursores()
RETURNS jsonb
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN (SELECT jsonb_object_agg(t.tipo_evento, t.last_sequence)
              FROM (SELECT o.tipo_evento, o.last_sequence
                      FROM d8.consumer_offset AS o
                     ORDER BY o.tipo_evento
                       FOR UPDATE) AS t);
END
$$;

COMMENT ON FUNCTION d8.travar_cursores() IS
'Trava os cursores da colônia, sempre na mesma ordem, e os devolve como d8.cursores().';

CREATE OR REPLACE FUNCTION d8.mover_cursores(p_novos jsonb)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE d8.consumer_offset AS o
       SET last_sequence = (p_novos ->> o.tipo_evento)::bigint,
           updated_at = clock_timestamp()
     WHERE p_novos ? o.tipo_evento;
END
$$;

COMMENT ON FUNCTION d8.mover_cursores(jsonb) IS
'Põe os cursores, que quem chama travou, em p_novos: {tipo: número}.';

GRANT EXECUTE ON FUNCTION d8.processar_pendentes(int), d8.reservar_lote(), d8.tentar_dlq(bigint), d8.cursores()
   TO formigueiro_app, formigueiro_dba;
GRANT EXECUTE ON FUNCTION d8.descartar_dlq(bigint, text), d8.reposicionar(text, bigint), d8.reprocessar(uuid)
   TO formigueiro_dba;
