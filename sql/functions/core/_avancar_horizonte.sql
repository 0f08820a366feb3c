-- Até onde é seguro ler (regra 3).
--
-- Um número menor pode ser confirmado depois de um maior, ou nunca. Quem insere no event_log segura ROW EXCLUSIVE na
-- tabela desde antes de tomar o número até o fim da transação; logo, ao ver uma lacuna, quem a fará aparecer (se
-- alguém) está entre os detentores dessa trava. Guarda-se o conjunto deles, lido em comando posterior ao que viu a
-- lacuna, e passa-se a lacuna quando nenhum mais a segura: o que havia de ser confirmado até ali já é visível aos
-- comandos seguintes. Não há espera por relógio, e quem publica não toma trava global.

CREATE OR REPLACE FUNCTION core._avancar_horizonte(p_colonia text)
RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    c_janela  CONSTANT int := 10000;
    v         core.consumidores;
    v_corrido bigint;
    v_visto   bigint;
BEGIN
    SELECT * INTO STRICT v FROM core.consumidores AS c WHERE c.colonia = p_colonia;
    LOOP
        IF v.lacuna_ate IS NOT NULL THEN
            EXIT WHEN core._algum_escritor(v.lacuna_detentores);
            v.horizonte := v.lacuna_ate;
            v.lacuna_ate := NULL;
        END IF;

        -- Sem lacuna, a n-ésima linha depois do horizonte tem o número horizonte + n.
        SELECT coalesce(max(e.sequence_number) FILTER (WHERE e.sequence_number = v.horizonte + e.n), v.horizonte),
               coalesce(max(e.sequence_number), v.horizonte)
          INTO v_corrido, v_visto
          FROM (SELECT l.sequence_number, row_number() OVER (ORDER BY l.sequence_number) AS n
                  FROM core.event_log AS l
                 WHERE l.sequence_number > v.horizonte
                 ORDER BY l.sequence_number
                 LIMIT c_janela) AS e;
        v.horizonte := v_corrido;
        EXIT WHEN v_corrido = v_visto;

        -- Antes de anotar quem detém a lacuna: quem depois disso tomar um número dela é recusado (core._barreira).
        PERFORM core._erguer_barreira(p_colonia, v_visto);
        v.lacuna_ate := v_visto;
        v.lacuna_detentores := core._escritores();
        v.lacuna_desde := clock_timestamp();
    END LOOP;

    UPDATE core.consumidores AS c
       SET horizonte = v.horizonte,
           lacuna_ate = v.lacuna_ate,
           lacuna_detentores = CASE WHEN v.lacuna_ate IS NOT NULL THEN v.lacuna_detentores END,
           lacuna_desde = CASE WHEN v.lacuna_ate IS NOT NULL THEN v.lacuna_desde END
     WHERE c.colonia = p_colonia
       AND (c.horizonte, c.lacuna_ate) IS DISTINCT FROM (v.horizonte, v.lacuna_ate);
    RETURN v.horizonte;
END
$$;

COMMENT ON FUNCTION core._avancar_horizonte(text) IS
'Avança e devolve o horizonte da colônia: abaixo dele todo número está confirmado ou não existirá. Quem chama já
segura a linha da colônia em core.consumidores. Fonte: regra 3.';

CREATE OR REPLACE FUNCTION core._escritores()
RETURNS text[]
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN (SELECT coalesce(array_agg(DISTINCT t.virtualtransaction), '{}')
              FROM pg_catalog.pg_locks AS t
             WHERE t.locktype = 'relation'
               AND t.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
               AND t.relation = 'core.event_log'::regclass
               AND t.mode = 'RowExclusiveLock'
               AND t.granted
               AND t.pid IS DISTINCT FROM pg_backend_pid());  -- o que esta própria transação inseriu, ela já vê
END
$$;

COMMENT ON FUNCTION core._escritores() IS
'Transações virtuais de outras sessões que seguram ROW EXCLUSIVE em core.event_log: as que podem ainda fazer surgir um número.';

CREATE OR REPLACE FUNCTION core._algum_escritor(p_detentores text[])
RETURNS boolean
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    -- Uma transação preparada muda de nome (-1/…) quando o servidor reinicia: na dúvida, ela segura.
    RETURN EXISTS (SELECT
                     FROM unnest(core._escritores()) AS e (nome)
                    WHERE e.nome = ANY (p_detentores)
                       OR starts_with(e.nome, '-1/'));
END
$$;

COMMENT ON FUNCTION core._algum_escritor(text[]) IS
'Se alguma das transações dadas ainda segura o log, ou se há uma preparada de antes de um reinício.';

GRANT EXECUTE ON FUNCTION core._avancar_horizonte(text), core._escritores(), core._algum_escritor(text[])
   TO d6b_dono, d8_dono;
