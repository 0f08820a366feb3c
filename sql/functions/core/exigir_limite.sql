-- Quantos, no máximo: o que vem de fora numa função que toma um lote.

CREATE OR REPLACE FUNCTION core.exigir_limite(p_limite int, p_campo text)
RETURNS void
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    IF p_limite IS NULL OR p_limite < 1 THEN
        PERFORM core.recusar(p_limite, p_campo, 'de pelo menos 1');
    END IF;
END
$$;

COMMENT ON FUNCTION core.exigir_limite(int, text) IS
'Levanta FM422 se o limite é nulo ou menor que 1; p_campo é o nome dele na mensagem.';

GRANT EXECUTE ON FUNCTION core.exigir_limite(int, text) TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
