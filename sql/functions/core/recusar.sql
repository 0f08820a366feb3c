-- As recusas de argumento: FM422, em português, com o nome do campo (N73).
--
-- Onde o custo conta, quem chama testa antes numa expressão booleana, e só chega aqui para recusar. STABLE e segura em
-- paralelo, para que o planejador dissolva também a função que a cita; IMMUTABLE, ele a chamaria ao planejar.

CREATE OR REPLACE FUNCTION core.recusar(p_valor anyelement, p_campo text, p_espera text)
RETURNS anyelement
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
COST 1
AS $$
BEGIN
    RAISE EXCEPTION 'O campo % deve ser %, e não %.', p_campo, p_espera, core.citar(p_valor::text) USING ERRCODE = 'FM422';
END
$$;

COMMENT ON FUNCTION core.recusar(anyelement, text, text) IS
'Sempre levanta FM422: o campo, o que se espera dele e o que veio. O tipo que diz devolver é o do valor, para caber num
CASE. Fonte: N73.';

CREATE OR REPLACE FUNCTION core.exigir_valor(p_valor anyelement, p_campo text)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
AS $$
BEGIN
    IF p_valor IS NULL THEN
        RAISE EXCEPTION 'O campo % é obrigatório.', p_campo USING ERRCODE = 'FM422';
    END IF;
END
$$;

COMMENT ON FUNCTION core.exigir_valor(anyelement, text) IS
'Levanta FM422 se o argumento é nulo, ou uma linha toda de nulos. Fonte: N73.';

CREATE OR REPLACE FUNCTION core.no_calendario(p_quando timestamptz)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    -- Um dia a menos em cada ponta: em qualquer fuso, a data ainda cai nesses anos.
    SELECT p_quando BETWEEN timestamptz '0001-01-02 00:00:00+00' AND timestamptz '9999-12-30 00:00:00+00'
$$;

COMMENT ON FUNCTION core.no_calendario(timestamptz) IS
'Se a data-hora está entre os anos 1 e 9999, que é o que cabe num payload; NULL de nulo, falso do infinito.';

CREATE OR REPLACE FUNCTION core.exigir_instante(p_quando timestamptz, p_campo text)
RETURNS void
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
AS $$
BEGIN
    IF core.no_calendario(p_quando) IS NOT TRUE THEN
        PERFORM core.recusar(p_quando, p_campo, 'uma data-hora entre os anos 1 e 9999');
    END IF;
END
$$;

COMMENT ON FUNCTION core.exigir_instante(timestamptz, text) IS
'Levanta FM422 se a data-hora é nula, infinita ou fora dos anos 1 a 9999. Fonte: N73.';

GRANT EXECUTE ON FUNCTION core.recusar(anyelement, text, text), core.exigir_valor(anyelement, text),
                          core.no_calendario(timestamptz), core.exigir_instante(timestamptz, text)
   TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
