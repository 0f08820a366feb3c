-- Para o relógio da rede numa data (demonstração e testes), ou o solta, com NULL.

CREATE OR REPLACE FUNCTION core.definir_relogio(p_quando timestamptz)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT core.no_calendario(p_quando) THEN
        PERFORM core.exigir_instante(p_quando, 'quando');
    END IF;
    UPDATE core.relogio AS r
       SET quando = p_quando
     WHERE r.simulacao;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'O relógio só pode ser definido num banco de simulação.'
            USING ERRCODE = 'FM403';
    END IF;
END
$$;

COMMENT ON FUNCTION core.definir_relogio(timestamptz) IS
'Define a hora que core.agora() devolve; NULL volta à do servidor. Só num banco marcado como de simulação, e
só por quem instalou: mover o relógio é pôr datas nos eventos. Erros: FM403 fora dele; FM422 hora
infinita ou fora dos anos 1 a 9999. Fonte: regra 10.';
