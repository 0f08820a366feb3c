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
    v_esquema  name;
    v_posicao  bigint;
    v_recuo    bigint;
    v_lidos    jsonb;
    v_cursores jsonb;
    v_limite   int := least(p_limite, 30);  -- mais subtransações que isso transbordariam a lista do servidor (64)
    v_total    int := 0;
    v_horizonte bigint;
    v_evento   core.event_log;
BEGIN
    PERFORM core._exigir_read_committed();
    PERFORM core.exigir_limite(p_limite);
    -- Um despachante por colônia: outro espera aqui.
    SELECT c.esquema, c.posicao, c.horizonte INTO STRICT v_esquema, v_posicao, v_horizonte
      FROM core.consumidores AS c
     WHERE c.colonia = p_colonia
       FOR UPDATE;

    SELECT r.lidos, r.recuo, r.cursores INTO v_lidos, v_recuo, v_cursores
      FROM core._ler_cursores(p_colonia, v_esquema, v_posicao) AS r;
    v_posicao := least(v_posicao, v_recuo);

    LOOP
        IF v_posicao >= v_horizonte THEN
            v_horizonte := core._avancar_horizonte(p_colonia);
            EXIT WHEN v_posicao >= v_horizonte;
        END IF;

        FOR v_evento IN
            SELECT * FROM core._a_ler(v_cursores, v_posicao, v_horizonte, v_limite)
        LOOP
            PERFORM core._tratar_ou_guardar(p_colonia, v_esquema, v_evento);
            v_posicao := v_evento.sequence_number;
            v_total := v_total + 1;
        END LOOP;
        EXIT WHEN v_total > 0;
        v_posicao := v_horizonte;
    END LOOP;

    UPDATE core.consumidores AS c
       SET posicao = v_posicao,
           reserva_vxid = NULL,
           reserva_limite = NULL,
           isolado_ate = CASE WHEN c.isolado_ate > v_posicao THEN c.isolado_ate END,
           mortes = 0,
           atualizado_em = clock_timestamp()
     WHERE c.colonia = p_colonia
       AND (c.posicao <> v_posicao OR c.reserva_vxid IS NOT NULL);
    -- Um recuo relido até a mesma posição também há de levar os cursores adiante.
    IF FOUND OR v_total > 0 THEN
        PERFORM core._levar_cursores(p_colonia, v_esquema, v_posicao, v_lidos);
    END IF;
    RETURN v_total;
END
$$;

COMMENT ON FUNCTION core._drenar(text, int) IS
'Trata até p_limite (no máximo 30) eventos da colônia, em ordem de sequência, e devolve quantos. Um evento que falha
vai para core.dlq e não detém os de outras chaves. Erros: FM422 fora de READ COMMITTED, ou limite menor que 1. Fonte: regras 1 a 4.';

GRANT EXECUTE ON FUNCTION core._drenar(text, int) TO d6b_dono, d8_dono;
