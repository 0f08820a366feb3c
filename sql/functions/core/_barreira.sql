-- Nenhum evento recebe um número que a leitura já passou (regra 3).
--
-- Uma sequência que voltou atrás (um setval, uma restauração sem ela, uma réplica lógica) daria a um evento um número
-- abaixo do horizonte, e ele nunca seria tratado. Os números abaixo do horizonte ou existem, e a chave primária os
-- recusa, ou ficaram em lacunas. Por isso a colônia ergue sua barreira até o fim da lacuna antes de anotar quem a detém.
-- Quem publica toma a trava da tabela, olha a barreira e só então toma o número: se a viu abaixo dele, ela subiu depois da
-- trava, e quem publica está entre os detentores, por quem a colônia espera; se não, o número é dos que já passaram. Um
-- número dado em ordem é sempre maior que a barreira vista antes dele, e nunca é recusado.
--
-- A barreira é uma sequência, e não uma coluna: lê-se numa expressão, sem abrir consulta; não tem versões mortas que uma
-- transação longa faça crescer; vale logo, sem esperar o COMMIT de quem a ergue; e não vai numa réplica lógica. No alto
-- da escala, diz que o log é de outro servidor (core.guarda_assinatura).

CREATE OR REPLACE FUNCTION core._barreira()
RETURNS bigint
LANGUAGE sql
AS $$
    SELECT coalesce(greatest(pg_sequence_last_value('core.barreira_d6b'), pg_sequence_last_value('core.barreira_d8')), 0)
$$;

COMMENT ON FUNCTION core._barreira() IS
'Número até o qual nenhum evento novo é aceito: alguma colônia já passou por ali, ou está por passar. O maior bigint, se o
log é assinado. Fonte: regra 3.';

CREATE OR REPLACE FUNCTION core._erguer_barreira(p_colonia text, p_ate bigint)
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_barreira regclass;
BEGIN
    SELECT format('core.%I', 'barreira_' || c.esquema)::regclass INTO STRICT v_barreira
      FROM core.consumidores AS c
     WHERE c.colonia = p_colonia;
    IF coalesce(pg_sequence_last_value(v_barreira) < p_ate, true) THEN
        PERFORM setval(v_barreira, p_ate);
    END IF;
END
$$;

COMMENT ON FUNCTION core._erguer_barreira(text, bigint) IS
'Ergue a barreira da colônia até um número, e nunca a baixa. Quem chama segura a linha da colônia em core.consumidores.
Fonte: regra 3.';

CREATE OR REPLACE FUNCTION core._recusar_numero(p_numero bigint)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    PERFORM core._exigir_log_proprio();
    RAISE EXCEPTION 'A sequência de core.event_log está atrás do log: deu o número %, e a rede já passou do %.',
                    coalesce(p_numero::text, 'de outro evento'), core._estado_da_sequencia() ->> 'passado'
        USING ERRCODE = 'FM409',
              HINT = 'Nada se publicou. Quem instalou a acerta com formigueiro migrar.';
END
$$;

COMMENT ON FUNCTION core._recusar_numero(bigint) IS
'Levanta FM409: o número que a sequência deu a um evento já passou (nulo, se já é de outro), ou o log é assinado.
Fonte: regra 3.';

GRANT EXECUTE ON FUNCTION core._erguer_barreira(text, bigint) TO d6b_dono, d8_dono;
