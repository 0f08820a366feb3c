-- A hora da rede (regra 10): a do servidor ou, num banco de simulação, a do relógio parado.
--
-- Todo evento pergunta a hora. O planejador dissolve core.simulacao() numa constante e com ela a pergunta inteira: fora
-- da simulação, core.agora() é now(). Ler core.relogio a cada vez custava 12 µs por evento publicado, um décimo do total.

CREATE OR REPLACE FUNCTION core.agora()
RETURNS timestamptz
LANGUAGE sql
STABLE
AS $$
    SELECT CASE WHEN core.simulacao() THEN core._hora_simulada() ELSE now() END
$$;

COMMENT ON FUNCTION core.agora() IS
'Hora corrente da rede: início da transação ou o relógio simulado (core.definir_relogio). Fonte: regra 10.';

CREATE OR REPLACE FUNCTION core._hora_simulada()
RETURNS timestamptz
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN coalesce((SELECT r.quando FROM core.relogio AS r), now());
END
$$;

COMMENT ON FUNCTION core._hora_simulada() IS
'A hora em que o relógio da rede está parado ou, se está solto, a do servidor.';

-- core.marcar_simulacao troca o corpo. STABLE, para que o plano de quem a dissolveu caduque com a troca: o valor de uma
-- IMMUTABLE o planejador calcula e esquece de onde veio.
CREATE OR REPLACE FUNCTION core.simulacao()
RETURNS boolean
LANGUAGE sql
STABLE
PARALLEL SAFE
AS $$SELECT false$$;

COMMENT ON FUNCTION core.simulacao() IS
'Se este banco é de simulação, em que o relógio da rede se pode mexer.';

GRANT EXECUTE ON FUNCTION core.agora(), core._hora_simulada(), core.simulacao()
   TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
