-- Recua um cursor, para ler de novo a partir dali.

CREATE OR REPLACE FUNCTION core.reposicionar(p_colonia text, p_tipo text, p_sequencia bigint)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_esquema name;
BEGIN
    SELECT c.esquema INTO v_esquema FROM core.consumidores AS c WHERE c.colonia = p_colonia;
    IF v_esquema IS NULL THEN
        RAISE EXCEPTION 'A colônia % não existe.', p_colonia USING ERRCODE = 'FM404';
    END IF;
    EXECUTE format('SELECT %I.reposicionar($1, $2)', v_esquema) USING p_tipo, p_sequencia;
END
$$;

COMMENT ON FUNCTION core.reposicionar(text, text, bigint) IS
'Põe o cursor de um tipo em p_sequencia; o próximo despacho lê desse tipo o que vem depois. O já processado é
reconhecido e não se repete. Erros: FM404 colônia ou tipo que ela não consome; FM422 sequência nula, negativa ou além do já lido.
Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._reposicionar(p_colonia text, p_tipo text, p_sequencia bigint)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_esquema name;
    v_posicao bigint;
    v_mexidos bigint;
BEGIN
    SELECT c.esquema, c.posicao INTO STRICT v_esquema, v_posicao
      FROM core.consumidores AS c
     WHERE c.colonia = p_colonia
       FOR UPDATE;
    IF p_sequencia IS NULL OR p_sequencia NOT BETWEEN 0 AND v_posicao THEN
        -- Adiante da posição, os eventos que viessem até lá seriam pulados.
        RAISE EXCEPTION 'O campo sequencia deve ser um número de 0 a %, até onde a % já leu.', v_posicao, p_colonia
            USING ERRCODE = 'FM422';
    END IF;
    EXECUTE format('UPDATE %I.consumer_offset AS o
                       SET last_sequence = $2,
                           updated_at = clock_timestamp()
                     WHERE o.tipo_evento = $1', v_esquema)
      USING p_tipo, p_sequencia;
    GET DIAGNOSTICS v_mexidos = ROW_COUNT;
    IF v_mexidos = 0 THEN
        RAISE EXCEPTION 'A % não consome o tipo %.', p_colonia, p_tipo USING ERRCODE = 'FM404';
    END IF;
END
$$;

COMMENT ON FUNCTION core._reposicionar(text, text, bigint) IS
'Põe o cursor de um tipo da colônia em p_sequencia. Erros: FM404 tipo não consumido; FM422 sequência que não é de 0 à posição.';

GRANT EXECUTE ON FUNCTION core.reposicionar(text, text, bigint) TO formigueiro_dba;
GRANT EXECUTE ON FUNCTION core._reposicionar(text, text, bigint) TO d6b_dono, d8_dono;
