-- O despacho precisa ver, a cada comando, o que outros acabam de confirmar (regra 3).

CREATE OR REPLACE FUNCTION core._exigir_read_committed()
RETURNS void
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'O despacho só roda em READ COMMITTED, não em %.', current_setting('transaction_isolation')
            USING ERRCODE = 'FM422',
                  HINT = 'CALL core.despachar() serve em qualquer sessão; ou SET default_transaction_isolation = ''read committed''.';
    END IF;
END
$$;

COMMENT ON FUNCTION core._exigir_read_committed() IS
'Levanta FM422 em qualquer isolamento que não READ COMMITTED. Fonte: regra 3.';

GRANT EXECUTE ON FUNCTION core._exigir_read_committed() TO d6b_dono, d8_dono;
