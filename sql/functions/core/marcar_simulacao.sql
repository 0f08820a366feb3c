-- Se o banco é de simulação, diz a tabela core.relogio; core.simulacao() é a cópia que o planejador dissolve.

CREATE OR REPLACE FUNCTION core.marcar_simulacao(p_simulacao boolean)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    UPDATE core.relogio AS r SET simulacao = true WHERE p_simulacao AND NOT r.simulacao;
    IF (SELECT r.simulacao FROM core.relogio AS r) <> core.simulacao() THEN
        EXECUTE format('CREATE OR REPLACE FUNCTION core.simulacao() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE'
                       ' AS $corpo$SELECT %s$corpo$', (SELECT r.simulacao::text FROM core.relogio AS r));
    END IF;
END
$$;

COMMENT ON FUNCTION core.marcar_simulacao(boolean) IS
'Marca o banco como de simulação, se p_simulacao; se não, só põe core.simulacao() de acordo com core.relogio.
Fonte: regra 10.';

-- Instalar de novo não tira o banco da simulação.
SELECT core.marcar_simulacao(false);
