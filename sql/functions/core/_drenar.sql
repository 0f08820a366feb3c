-- O laço que as colônias partilham: lê em ordem de sequência, até o horizonte, e trata cada evento em seu ponto de
-- salvamento (regras 1 a 4). SECURITY INVOKER: roda como o dono da colônia, de dentro de processar_pendentes.
--
-- Recebe   a colônia e o máximo de eventos a tratar
-- Devolve  quantos eventos passaram (tratados, ignorados, descartados ou postos na DLQ)
-- Chama    <esquema>.tratar(evento), que escreve o estado, as saídas e a linha de processed_events
-- Escreve  core.consumidores, core.dlq, <esquema>.consumer_offset

CREATE OR REPLACE FUNCTION core._drenar(p_colonia text, p_limite int)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
    v           core.consumidores;
    v_cursores  record;
    v_limite    int := least(p_limite, 30);  -- mais subtransações que isso transbordariam a lista do servidor (64)
    v_total     int := 0;
    v_fim       bigint;
    v_horizonte bigint;
    v_evento    core.event_log;
    v_tratado   boolean;
BEGIN
    PERFORM core._exigir_read_committed();
    PERFORM core._exigir_log_proprio();
    PERFORM core.exigir_limite(p_limite, 'limite');
    -- Um despachante por colônia: outro espera aqui.
    SELECT * INTO STRICT v FROM core.consumidores AS c WHERE c.colonia = p_colonia FOR UPDATE;
    IF v.reserva_pid = pg_backend_pid() THEN
        PERFORM core._soltar_ponte(v.ordem);
    END IF;

    SELECT * INTO v_cursores FROM core._ler_cursores(v);
    v_fim := v_cursores.inicio;
    v_horizonte := v.horizonte;
    LOOP
        IF v_fim >= v_horizonte THEN
            v_horizonte := core._avancar_horizonte(p_colonia);
            EXIT WHEN v_fim >= v_horizonte;
        END IF;

        FOR v_evento IN
            SELECT * FROM core._a_ler(v_cursores.desde, v_fim, v_horizonte, v_limite)
        LOOP
            v_tratado := core._tratar_ou_guardar(p_colonia, v.esquema, v_evento);
            v_fim := v_evento.sequence_number;
            v_total := v_total + 1;
            EXIT WHEN NOT v_tratado;  -- já se esperou uma vez: o resto do lote fica para depois da outra colônia
        END LOOP;
        EXIT WHEN v_total > 0;
        v_fim := v_horizonte;
    END LOOP;

    UPDATE core.consumidores AS c
       SET reserva_vxid = NULL,
           reserva_pid = NULL,
           reserva_limite = NULL,
           reserva_evento = NULL,
           isolado_ate = CASE WHEN c.isolado_ate > v_fim THEN c.isolado_ate END,
           mortes = 0
     WHERE c.colonia = p_colonia
       AND c.reserva_vxid IS NOT NULL;
    IF FOUND OR v_fim > v_cursores.inicio OR v_cursores.relendo <> v.relendo THEN
        PERFORM core._avancar_leitura(v, v_cursores.lidos, v_cursores.relendo, v_fim);
    END IF;
    RETURN v_total;
END
$$;

COMMENT ON FUNCTION core._drenar(text, int) IS
'Trata até p_limite (no máximo 30) eventos da colônia, em ordem de sequência, e devolve quantos. Um evento que falha
vai para core.dlq e não detém os de outras chaves. Erros: FM422 fora de READ COMMITTED, ou limite menor que 1; FM409 log assinado. Fonte: regras 1 a 4.';

GRANT EXECUTE ON FUNCTION core._drenar(text, int) TO d6b_dono, d8_dono;
