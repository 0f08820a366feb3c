-- Um log assinado de outro servidor não é um barramento (regra 3).
--
-- Numa réplica lógica, quem detém uma lacuna está no outro servidor, e daqui não se vê: a colônia a passaria, e o evento
-- que a preenche, confirmado tarde, nunca seria tratado. E a sequência não vem: o que aqui se publicasse tomaria números
-- que lá já são de outros. Por isso, desde a primeira linha que chega por replicação, a barreira vai ao alto da escala:
-- nada se publica nem se despacha, até que um operador promova a réplica. Na barreira, que é uma sequência, a marca não
-- custa nada a quem publica, e a replicação das outras tabelas não a desfaz.

CREATE OR REPLACE FUNCTION core.guarda_assinatura()
RETURNS trigger
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF NOT core._log_assinado() THEN
        PERFORM core._marcar_assinado();
    END IF;
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION core.guarda_assinatura() IS
'Gatilho: na linha que chega por replicação (session_replication_role = replica), marca o log como assinado.';

CREATE OR REPLACE TRIGGER event_log_assinado
    BEFORE INSERT ON core.event_log
    FOR EACH ROW
    EXECUTE FUNCTION core.guarda_assinatura();

ALTER TABLE core.event_log ENABLE REPLICA TRIGGER event_log_assinado;

CREATE OR REPLACE FUNCTION core._log_assinado()
RETURNS boolean
LANGUAGE sql
AS $$
    SELECT core._barreira() = 9223372036854775807
$$;

COMMENT ON FUNCTION core._log_assinado() IS
'Se o log foi alimentado por uma assinatura, e ninguém o promoveu.';

CREATE OR REPLACE FUNCTION core._marcar_assinado()
RETURNS record
LANGUAGE sql
AS $$
    SELECT setval('core.barreira_d6b', 9223372036854775807), setval('core.barreira_d8', 9223372036854775807)
$$;

COMMENT ON FUNCTION core._marcar_assinado() IS
'Ergue as barreiras ao alto da escala: nada se publica nem se despacha até core.promover.';

CREATE OR REPLACE FUNCTION core._assinaturas()
RETURNS text[]
LANGUAGE sql
STABLE
AS $$
    SELECT coalesce(array_agg(s.subname::text ORDER BY s.subname), '{}')
      FROM pg_catalog.pg_subscription_rel AS r
      JOIN pg_catalog.pg_subscription AS s ON s.oid = r.srsubid
     WHERE r.srrelid = 'core.event_log'::regclass
$$;

COMMENT ON FUNCTION core._assinaturas() IS
'As assinaturas (CREATE SUBSCRIPTION) que alimentam core.event_log neste banco.';

CREATE OR REPLACE FUNCTION core.conferir_assinatura()
RETURNS boolean
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- Uma assinatura que ainda não trouxe linha nenhuma não passou pelo gatilho.
    IF NOT core._log_assinado() AND core._assinaturas() <> '{}' THEN
        PERFORM core._marcar_assinado();
    END IF;
    RETURN core._log_assinado();
END
$$;

COMMENT ON FUNCTION core.conferir_assinatura() IS
'Se o log é assinado; marca-o antes, se há uma assinatura dele e ainda não se sabia.';

CREATE OR REPLACE FUNCTION core._exigir_log_proprio()
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF core._log_assinado() THEN
        RAISE EXCEPTION 'Este log é alimentado por replicação lógica (%): aqui não se publica nem se despacha.',
                        coalesce('assinatura ' || nullif(array_to_string(core._assinaturas(), ', '), ''),
                                 'a assinatura já saiu')
            USING ERRCODE = 'FM409',
                  HINT = 'Para que passe a ser o barramento: remova a assinatura e chame core.promover().';
    END IF;
END
$$;

COMMENT ON FUNCTION core._exigir_log_proprio() IS
'Levanta FM409 se o log é de outro servidor, que o alimenta por uma assinatura, e ninguém o promoveu. Fonte: regra 3.';

CREATE OR REPLACE FUNCTION core.promover(p_aceitar_lacunas boolean DEFAULT false)
RETURNS jsonb
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_sequencia CONSTANT regclass := 'core.event_log_sequence_number_seq';
    v_passado   bigint;
    v_faltam    bigint;
    v_faixas    text;
BEGIN
    IF core._assinaturas() <> '{}' THEN
        RAISE EXCEPTION 'A assinatura % ainda alimenta core.event_log: remova-a antes (DROP SUBSCRIPTION).',
                        array_to_string(core._assinaturas(), ', ')
            USING ERRCODE = 'FM409';
    END IF;
    IF NOT core._log_assinado() THEN
        RAISE EXCEPTION 'Este log não foi alimentado por replicação: não há o que promover.' USING ERRCODE = 'FM409';
    END IF;
    PERFORM FROM core.consumidores AS c ORDER BY c.ordem FOR UPDATE;
    LOCK TABLE core.event_log IN SHARE ROW EXCLUSIVE MODE;  -- espera pelo que a assinatura ainda grava

    SELECT coalesce(sum(l.ate - l.de + 1), 0),
           string_agg(CASE WHEN l.de = l.ate THEN l.de::text ELSE l.de || ' a ' || l.ate END, ', ' ORDER BY l.de)
               FILTER (WHERE l.n <= 10)
      INTO v_faltam, v_faixas
      FROM core._lacunas() AS l;
    IF v_faltam > 0 AND NOT coalesce(p_aceitar_lacunas, false) THEN
        RAISE EXCEPTION 'Faltam ao log % números que as colônias ainda não passaram: %.', v_faltam, v_faixas
            USING ERRCODE = 'FM409',
                  HINT = 'Procure-os na origem. Se lá também não existem, ou se está perdida: core.promover(true).';
    END IF;

    -- De quem era a lacuna, ou a reserva, ficou no outro servidor.
    UPDATE core.consumidores AS c
       SET lacuna_ate = NULL, lacuna_detentores = NULL, lacuna_desde = NULL,
           reserva_vxid = NULL, reserva_pid = NULL;
    PERFORM setval(format('core.%I', 'barreira_' || c.esquema)::regclass, c.horizonte) FROM core.consumidores AS c;
    v_passado := (core._estado_da_sequencia() ->> 'passado')::bigint;
    PERFORM setval(c_sequencia, greatest(coalesce(pg_sequence_last_value(c_sequencia), 0), v_passado, 1));
    PERFORM core.registrar('aviso', 'Log promovido: deixa de ser réplica e passa a ser o barramento.',
                           jsonb_build_object('sequencia', v_passado, 'lacunas', v_faltam));
    PERFORM core.acordar();
    RETURN jsonb_build_object('sequencia', v_passado, 'lacunas', v_faltam);
END
$$;

COMMENT ON FUNCTION core.promover(boolean) IS
'Faz de um log alimentado por replicação lógica o barramento: leva a sequência acima dele e deixa publicar e despachar.
Antes, remova a assinatura. Devolve {sequencia, lacunas}. Recusa se faltam números que as colônias ainda não passaram,
salvo com p_aceitar_lacunas, de quem os procurou na origem. O que leva adiante são sequências: um ROLLBACK não a desfaz, e não se
ensaia. Erros: FM409 assinatura viva, log que não é assinado ou
lacunas. Fonte: regra 3.';

CREATE OR REPLACE FUNCTION core._lacunas()
RETURNS TABLE (n bigint, de bigint, ate bigint)
LANGUAGE sql
STABLE
AS $$
    SELECT row_number() OVER (ORDER BY l.numero), l.anterior + 1, l.numero - 1
      FROM (SELECT e.sequence_number,
                   lag(e.sequence_number, 1, c.horizonte) OVER (ORDER BY e.sequence_number)
              FROM (SELECT min(t.horizonte) AS horizonte FROM core.consumidores AS t) AS c
              JOIN core.event_log AS e ON e.sequence_number > c.horizonte) AS l (numero, anterior)
     WHERE l.numero > l.anterior + 1
$$;

COMMENT ON FUNCTION core._lacunas() IS
'As faixas de números que faltam ao log, do horizonte da colônia mais atrasada em diante.';

GRANT EXECUTE ON FUNCTION core._exigir_log_proprio(), core.conferir_assinatura()
   TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
GRANT EXECUTE ON FUNCTION core._assinaturas() TO formigueiro_app, formigueiro_dba;
GRANT EXECUTE ON FUNCTION core.promover(boolean) TO formigueiro_dba;
