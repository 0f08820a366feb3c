-- A hora da rede (regra 10): a do servidor ou, num banco de simulação, a do relógio parado.

CREATE OR REPLACE FUNCTION core.agora()
RETURNS timestamptz
LANGUAGE sql
STABLE
AS $$
    SELECT coalesce((SELECT r.quando FROM core.relogio AS r), now())
$$;

COMMENT ON FUNCTION core.agora() IS
'Hora corrente da rede: início da transação ou o relógio simulado (core.definir_relogio). Fonte: regra 10.';

GRANT EXECUTE ON FUNCTION core.agora() TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
