-- O que um EXCEPTION não apanha: um evento que derruba quem o trata, ou que passa do statement_timeout (regra 4).
--
-- Cada lote é reservado numa transação própria, confirmada antes de ele rodar, e a reserva se apaga na transação do
-- lote. Se ela ficou, o lote morreu: seus eventos passam a rodar um por transação, e o que morrer três vezes sozinho
-- vai para a DLQ, de onde só sai à mão.
--
-- A reserva guarda a transação virtual em que o lote vai rodar: a seguinte à que reserva, pois num procedimento o
-- COMMIT começa logo outra. Enquanto ela aparece em pg_locks, o lote vive, ainda que não tenha travado a linha.

CREATE OR REPLACE FUNCTION core._reservar_lote(p_colonia text)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
    c_lote     CONSTANT int := 30;
    c_ocupado  CONSTANT int := -1;
    v          core.consumidores;
    v_recuo    bigint;
    v_lidos    jsonb;
    v_cursores jsonb;
BEGIN
    PERFORM core._exigir_read_committed();
    SELECT * INTO STRICT v FROM core.consumidores AS c WHERE c.colonia = p_colonia FOR UPDATE;
    IF core._transacao_viva(v.reserva_vxid) THEN
        RETURN c_ocupado;
    END IF;

    SELECT r.lidos, r.recuo, r.cursores INTO v_lidos, v_recuo, v_cursores
      FROM core._ler_cursores(v.colonia, v.esquema, v.posicao) AS r;
    IF v.reserva_vxid IS NOT NULL THEN
        v := core._contar_morte(v, least(v.posicao, v_recuo), v_cursores, v_lidos);
    END IF;
    IF core.obter_maior_sequence() <= least(v.posicao, v_recuo) THEN
        RETURN 0;
    END IF;

    -- Perder a reserva numa queda do servidor só custa repetir um lote inteiro.
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE core.consumidores AS c
       SET reserva_vxid = core._proxima_transacao(),
           reserva_limite = CASE WHEN v.isolado_ate > least(v.posicao, v_recuo) THEN 1 ELSE c_lote END
     WHERE c.colonia = p_colonia
    RETURNING c.reserva_limite INTO v.reserva_limite;
    RETURN v.reserva_limite;
END
$$;

COMMENT ON FUNCTION core._reservar_lote(text) IS
'Reserva o próximo lote da colônia e devolve de quantos eventos ele é (30, ou 1 depois de uma morte); 0 se não há o que
ler, -1 se outro despachante acaba de reservar. Quem chama confirma antes de rodar o lote. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._contar_morte(
    p core.consumidores, p_posicao bigint, p_cursores jsonb, p_lidos jsonb
)
RETURNS core.consumidores
LANGUAGE plpgsql
AS $$
DECLARE
    c_mortes CONSTANT int := 3;
    v_evento core.event_log;
BEGIN
    p.reserva_vxid := NULL;
    IF p.reserva_limite > 1 THEN
        SELECT max(e.sequence_number) INTO p.isolado_ate
          FROM core._a_ler(p_cursores, p_posicao, 9223372036854775807, p.reserva_limite) AS e;
    ELSE
        p.mortes := p.mortes + 1;
        IF p.mortes >= c_mortes THEN
            SELECT * INTO v_evento FROM core._a_ler(p_cursores, p_posicao, 9223372036854775807, 1);
            PERFORM core._guardar_evento(p.colonia, v_evento, 'pendente', '57P01',
                                         format('Quem o tratava morreu %s vezes.', p.mortes));
            UPDATE core.dlq AS d
               SET proxima_tentativa = NULL
             WHERE d.colonia = p.colonia
               AND d.event_id = v_evento.event_id
               AND d.estado = 'pendente';
            p.mortes := 0;
            p.posicao := v_evento.sequence_number;
        END IF;
    END IF;
    UPDATE core.consumidores AS c
       SET posicao = p.posicao,
           reserva_vxid = NULL,
           isolado_ate = p.isolado_ate,
           mortes = p.mortes
     WHERE c.colonia = p.colonia;
    PERFORM core._levar_cursores(p.colonia, p.esquema, p.posicao, p_lidos);
    RETURN p;
END
$$;

COMMENT ON FUNCTION core._contar_morte(core.consumidores, bigint, jsonb, jsonb) IS
'Um lote reservado morreu: se levava vários eventos, isola-os; se levava um, conta, e na terceira vez o põe na DLQ, sem
nova tentativa automática. Devolve a linha da colônia como ficou. Fonte: regra 4.';

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

CREATE OR REPLACE FUNCTION core._transacao_viva(p_vxid text)
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN p_vxid IS NOT NULL
       AND EXISTS (SELECT
                     FROM pg_catalog.pg_locks AS t
                    WHERE t.locktype = 'virtualxid'
                      AND t.virtualtransaction = p_vxid
                      AND t.pid <> pg_backend_pid());
END
$$;

COMMENT ON FUNCTION core._transacao_viva(text) IS
'Se a transação virtual dada está em curso em outra sessão.';

GRANT EXECUTE ON FUNCTION core._reservar_lote(text), core._contar_morte(core.consumidores, bigint, jsonb, jsonb),
                          core._proxima_transacao(), core._transacao_viva(text)
   TO d6b_dono, d8_dono;
