-- O que um EXCEPTION não apanha: um evento que derruba quem o trata, ou que passa do statement_timeout (regra 4).
--
-- Cada lote é reservado numa transação própria, confirmada antes de ele rodar, e a reserva se apaga na transação do
-- lote. Se ela ficou, o lote morreu: seus eventos passam a rodar um por transação, e o que morrer três vezes sozinho
-- vai para a DLQ, de onde só sai à mão.
--
-- A reserva guarda a transação virtual em que o lote vai rodar: a seguinte à que reserva, pois num procedimento o
-- COMMIT começa logo outra. Enquanto ela aparece em pg_locks, o lote vive, ainda que não tenha travado a linha. Entre uma
-- transação e a outra ela ainda não existe: sobre esse vão passa uma ponte, uma trava consultiva da sessão, que o lote
-- solta depois de travar a linha. Quem julga segura a linha, e por isso vê sempre uma das duas. A ponte vale um minuto:
-- quem reserva à mão e não roda o lote não há de parar a rede.

CREATE OR REPLACE FUNCTION core._reservar_lote(p_colonia text)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
    c_lote     CONSTANT int := 30;
    c_ocupado  CONSTANT int := -1;
    v          core.consumidores;
    v_cursores record;
    v_sozinho  bigint;
BEGIN
    PERFORM core._exigir_read_committed();
    PERFORM core._exigir_log_proprio();
    SELECT * INTO STRICT v FROM core.consumidores AS c WHERE c.colonia = p_colonia FOR UPDATE;
    IF core._reserva_viva(v) THEN
        RETURN c_ocupado;
    END IF;

    SELECT * INTO v_cursores FROM core._ler_cursores(v);
    IF v.reserva_vxid IS NOT NULL THEN
        PERFORM core._contar_morte(v, v_cursores.lidos, v_cursores.relendo, v_cursores.inicio, v_cursores.desde);
        SELECT * INTO STRICT v FROM core.consumidores AS c WHERE c.colonia = p_colonia;
        SELECT * INTO v_cursores FROM core._ler_cursores(v);
    END IF;
    IF core.obter_maior_sequence() <= v_cursores.inicio THEN
        RETURN 0;
    END IF;
    IF v.isolado_ate > v_cursores.inicio THEN
        v_sozinho := core._proximo_evento(p_colonia, v_cursores.desde, v_cursores.inicio);
    END IF;

    -- Perder a reserva numa queda do servidor só custa repetir um lote inteiro.
    PERFORM set_config('synchronous_commit', 'off', true);
    PERFORM core._lancar_ponte(v.ordem);
    UPDATE core.consumidores AS c
       SET reserva_vxid = core._proxima_transacao(),
           reserva_pid = pg_backend_pid(),
           reserva_em = clock_timestamp(),
           reserva_limite = CASE WHEN v.isolado_ate > v_cursores.inicio THEN 1 ELSE c_lote END,
           reserva_evento = v_sozinho,
           mortes = CASE WHEN v_sozinho = v.reserva_evento THEN v.mortes ELSE 0 END
     WHERE c.colonia = p_colonia
    RETURNING c.reserva_limite INTO v.reserva_limite;
    RETURN v.reserva_limite;
END
$$;

COMMENT ON FUNCTION core._reservar_lote(text) IS
'Reserva o próximo lote da colônia e devolve de quantos eventos ele é (30, ou 1 depois de uma morte); 0 se não há o que
ler, -1 se outro despachante acaba de reservar. Quem chama confirma antes de rodar o lote. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core.soltar_reserva(p_colonia text)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE core.consumidores AS c
       SET reserva_vxid = NULL,
           reserva_pid = NULL
     WHERE c.colonia = (SELECT t.colonia
                          FROM core.consumidores AS t
                         WHERE t.colonia = p_colonia
                           AND t.reserva_pid = pg_backend_pid()
                           FOR UPDATE SKIP LOCKED);
END
$$;

COMMENT ON FUNCTION core.soltar_reserva(text) IS
'Apaga a reserva desta sessão, cujo lote não chegou a rodar e por isso não conta como morte. Não espera: se outro segura a
linha, a reserva fica, e o lote passa a correr evento a evento. Fonte: regra 4, N66.';

CREATE OR REPLACE FUNCTION core.ha_lote_em_curso(p_colonia text)
RETURNS boolean
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT core._reserva_viva(c) FROM core.consumidores AS c WHERE c.colonia = p_colonia
$$;

COMMENT ON FUNCTION core.ha_lote_em_curso(text) IS
'Se outra sessão tem um lote da colônia por correr ou a correr, vista sem esperar pela linha dela. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._contar_morte(
    p core.consumidores, p_lidos jsonb, p_relendo jsonb, p_inicio bigint, p_desde jsonb
)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    c_mortes CONSTANT int := 3;
    v_mortes int := p.mortes;
    v_evento core.event_log;
BEGIN
    -- Só até o horizonte: além dele o lote não leu, e um número menor ainda pode aparecer.
    IF p.reserva_limite > 1 THEN
        SELECT max(e.sequence_number) INTO p.isolado_ate
          FROM core._a_ler(p_desde, p_inicio, core._avancar_horizonte(p.colonia), p.reserva_limite) AS e;
    ELSIF p.reserva_evento = core._proximo_evento(p.colonia, p_desde, p_inicio) THEN
        v_mortes := v_mortes + 1;
    END IF;
    UPDATE core.consumidores AS c
       SET reserva_vxid = NULL,
           reserva_pid = NULL,
           isolado_ate = p.isolado_ate,
           mortes = v_mortes % c_mortes
     WHERE c.colonia = p.colonia;
    IF v_mortes < c_mortes THEN
        RETURN;
    END IF;

    SELECT * INTO STRICT v_evento FROM core.event_log AS e WHERE e.sequence_number = p.reserva_evento;
    PERFORM core._guardar_evento(p.colonia, v_evento, 'pendente', '57P01',
                                 format('Quem o tratava morreu %s vezes.', v_mortes));
    UPDATE core.dlq AS d
       SET proxima_tentativa = NULL
     WHERE d.colonia = p.colonia
       AND d.event_id = v_evento.event_id
       AND d.estado = 'pendente';
    PERFORM core._avancar_leitura(p, p_lidos, p_relendo, v_evento.sequence_number);
END
$$;

COMMENT ON FUNCTION core._contar_morte(core.consumidores, jsonb, jsonb, bigint, jsonb) IS
'Um lote reservado morreu: se levava vários eventos, isola-os; se levava um, e é ainda o da vez, conta, e na terceira vez
o põe na DLQ, sem nova tentativa automática. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._proximo_evento(p_colonia text, p_desde jsonb, p_inicio bigint)
RETURNS bigint
LANGUAGE plpgsql
AS $$
BEGIN
    RETURN (SELECT e.sequence_number FROM core._a_ler(p_desde, p_inicio, core._avancar_horizonte(p_colonia), 1) AS e);
END
$$;

COMMENT ON FUNCTION core._proximo_evento(text, jsonb, bigint) IS
'Número do evento da vez, ou NULL se não há nenhum até o horizonte. Quem chama segura a linha da colônia.';

CREATE OR REPLACE FUNCTION core._reserva_viva(p core.consumidores)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN p.reserva_vxid IS NOT NULL
       AND EXISTS (SELECT
                     FROM pg_catalog.pg_locks AS t
                    WHERE t.pid = p.reserva_pid
                      AND t.pid <> pg_backend_pid()
                      AND ((t.locktype = 'virtualxid' AND t.virtualtransaction = p.reserva_vxid)
                           OR (p.reserva_em BETWEEN clock_timestamp() - interval '1 minute' AND clock_timestamp() + interval '1 minute'
                               AND t.locktype = 'advisory' AND t.granted AND t.objsubid = 2
                               AND t.classid = core._chave_da_ponte() AND t.objid = p.ordem)));
END
$$;

COMMENT ON FUNCTION core._reserva_viva(core.consumidores) IS
'Se o lote reservado corre, ou está por correr, em outra sessão. Quem chama segura a linha da colônia. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._lancar_ponte(p_ordem int)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    -- Uma transação desfeita não solta a da vez anterior, e duas pediriam dois soltares.
    IF NOT EXISTS (SELECT
                     FROM pg_catalog.pg_locks AS t
                    WHERE t.pid = pg_backend_pid()
                      AND t.locktype = 'advisory'
                      AND t.objsubid = 2
                      AND t.classid = core._chave_da_ponte()
                      AND t.objid = p_ordem) THEN
        -- Partilhada, e sem esperar: a ponte só diz algo de quem a lança, e ninguém de fora há de deter o despacho.
        PERFORM pg_try_advisory_lock_shared(core._chave_da_ponte()::int, p_ordem);
    END IF;
END
$$;

COMMENT ON FUNCTION core._lancar_ponte(int) IS
'Toma a trava consultiva, de sessão, que diz viva a reserva até seu lote começar.';

CREATE OR REPLACE FUNCTION core._soltar_ponte(p_ordem int)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM pg_advisory_unlock_shared(core._chave_da_ponte()::int, p_ordem);
END
$$;

COMMENT ON FUNCTION core._soltar_ponte(int) IS
'Solta a trava de core._lancar_ponte.';

CREATE OR REPLACE FUNCTION core._chave_da_ponte()
RETURNS oid
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT 7031003::oid
$$;

COMMENT ON FUNCTION core._chave_da_ponte() IS
'Primeira metade da chave da ponte; a outra é a ordem da colônia.';

CREATE OR REPLACE FUNCTION core._proxima_transacao()
RETURNS text
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN (SELECT split_part(t.virtualtransaction, '/', 1) || '/' || split_part(t.virtualtransaction, '/', 2)::bigint + 1
              FROM pg_catalog.pg_locks AS t
             WHERE t.locktype = 'virtualxid'
               AND t.pid = pg_backend_pid());
END
$$;

COMMENT ON FUNCTION core._proxima_transacao() IS
'Transação virtual que esta sessão terá ao confirmar a corrente dentro de um procedimento.';

GRANT EXECUTE ON FUNCTION core._reservar_lote(text), core._contar_morte(core.consumidores, jsonb, jsonb, bigint, jsonb),
                          core._proximo_evento(text, jsonb, bigint), core._reserva_viva(core.consumidores),
                          core._lancar_ponte(int), core._soltar_ponte(int), core._chave_da_ponte(),
                          core._proxima_transacao()
   TO d6b_dono, d8_dono;
GRANT EXECUTE ON FUNCTION core.soltar_reserva(text), core.ha_lote_em_curso(text) TO formigueiro_app, formigueiro_dba;
