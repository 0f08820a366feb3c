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
        RAISE EXCEPTION 'A colônia % não existe.', core.citar(p_colonia) USING ERRCODE = 'FM404';
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
    v        core.consumidores;
    v_atuais jsonb;
BEGIN
    SELECT * INTO STRICT v FROM core.consumidores AS c WHERE c.colonia = p_colonia FOR UPDATE;
    IF p_sequencia IS NULL OR p_sequencia NOT BETWEEN 0 AND v.posicao THEN
        -- Adiante da posição, os eventos que viessem até lá seriam pulados.
        RAISE EXCEPTION 'O campo sequencia deve ser um número de 0 a %, até onde a % já leu.', v.posicao, p_colonia
            USING ERRCODE = 'FM422';
    END IF;
    EXECUTE format('SELECT %I.travar_cursores()', v.esquema) INTO v_atuais;
    IF (v_atuais ? p_tipo) IS NOT TRUE THEN
        RAISE EXCEPTION 'A % não consome o tipo %.', p_colonia, core.citar(p_tipo) USING ERRCODE = 'FM404';
    END IF;
    -- O que já estava por reler de antes continua por reler.
    IF p_sequencia < coalesce((v.relendo ->> p_tipo)::bigint, v.posicao) THEN
        UPDATE core.consumidores AS c
           SET relendo = c.relendo || jsonb_build_object(p_tipo, p_sequencia)
         WHERE c.colonia = p_colonia;
    END IF;
    EXECUTE format('SELECT %I.mover_cursores($1)', v.esquema)
      USING jsonb_build_object(p_tipo, least(p_sequencia, (v_atuais ->> p_tipo)::bigint));
    PERFORM core.acordar();
END
$$;

COMMENT ON FUNCTION core._reposicionar(text, text, bigint) IS
'Põe o cursor de um tipo da colônia em p_sequencia. Erros: FM404 tipo não consumido; FM422 sequência que não é de 0 à posição.';

GRANT EXECUTE ON FUNCTION core.reposicionar(text, text, bigint) TO formigueiro_dba;
GRANT EXECUTE ON FUNCTION core._reposicionar(text, text, bigint) TO d6b_dono, d8_dono;
