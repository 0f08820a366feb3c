-- Quando o despacho terá o que fazer, se nada mais for publicado.

CREATE OR REPLACE FUNCTION core.proximo_despacho()
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN (SELECT least(
                       (SELECT statement_timestamp()
                         WHERE EXISTS (SELECT FROM core.consumidores AS c
                                        WHERE c.posicao < core.obter_maior_sequence() OR c.relendo <> '{}')),
                       (SELECT min(d.proxima_tentativa) FROM core.dlq AS d WHERE d.estado = 'pendente')));
END
$$;

COMMENT ON FUNCTION core.proximo_despacho() IS
'Agora, se há evento por ler (ainda que detido por uma lacuna); senão a próxima tentativa da DLQ; NULL se nada espera.';

GRANT EXECUTE ON FUNCTION core.proximo_despacho() TO formigueiro_app;
