-- A sequência do log: se voltou atrás, e levá-la de novo adiante (regra 3).
--
-- Volta atrás quem faz um setval, restaura o log sem ela ou promove uma réplica lógica, que não a leva. Os eventos, esses,
-- core._barreira os guarda; aqui se diz que ela está atrás, e se acerta.

CREATE OR REPLACE FUNCTION core.acertar_sequencia()
RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    c_sequencia CONSTANT regclass := 'core.event_log_sequence_number_seq';
    v_atras     bigint;
BEGIN
    PERFORM FROM core.consumidores AS c ORDER BY c.ordem FOR UPDATE;
    PERFORM core._erguer_barreira(c.colonia, greatest(c.horizonte, c.lacuna_ate)) FROM core.consumidores AS c;
    v_atras := core.sequencia_atras();
    IF v_atras > 0 THEN
        -- Quem publica segura a tabela desde antes de tomar o número: sem ninguém nela, o setval não o faz voltar.
        LOCK TABLE core.event_log IN SHARE ROW EXCLUSIVE MODE;
        v_atras := core.sequencia_atras();
        PERFORM setval(c_sequencia, coalesce(pg_sequence_last_value(c_sequencia), 0) + v_atras);
        PERFORM core.registrar('aviso', 'Sequência do log levada adiante.', jsonb_build_object('numeros', v_atras));
    END IF;
    RETURN v_atras;
END
$$;

COMMENT ON FUNCTION core.acertar_sequencia() IS
'Leva a sequência de core.event_log acima do log e de tudo o que qualquer colônia já passou, e devolve de quantos números
ela estava atrás; espera por quem publica, se há o que acertar. Roda em migrar, como quem instalou. Fonte: regra 3.';

CREATE OR REPLACE FUNCTION core.sequencia_atras()
RETURNS bigint
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_estado  jsonb := core._estado_da_sequencia();
    v_passado bigint := (v_estado ->> 'passado')::bigint;
    v_esquema name;
    v_cursor  bigint;
BEGIN
    -- O núcleo não lê as colônias; numa cópia que juntou um núcleo antigo a uma colônia nova, os cursores vão adiante.
    FOR v_esquema IN
        SELECT c.esquema FROM core.consumidores AS c WHERE to_regprocedure(format('%I.cursores()', c.esquema)) IS NOT NULL
    LOOP
        BEGIN
            EXECUTE format('SELECT max(j.cursor::bigint) FROM jsonb_each_text(%I.cursores()) AS j (tipo, cursor)', v_esquema)
               INTO v_cursor;
            v_passado := greatest(v_passado, v_cursor);
        EXCEPTION WHEN insufficient_privilege THEN
            NULL;  -- mudou de dono, e core.objetos_danificados o diz; migrar a repõe antes de perguntar
        END;
    END LOOP;
    RETURN greatest(v_passado - (v_estado ->> 'numero')::bigint, 0);
END
$$;

COMMENT ON FUNCTION core.sequencia_atras() IS
'De quantos números a sequência de core.event_log está atrás do log, do horizonte ou de um cursor; 0 se não está, como há
de ser sempre. Fonte: regra 3.';

CREATE OR REPLACE FUNCTION core._estado_da_sequencia()
RETURNS jsonb
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    -- O que já passou apura-se antes de ler a sequência, que não espera: depois, ela nunca parece atrás por um instante.
    SELECT jsonb_build_object('passado', l.passado,
                              'numero', coalesce(pg_sequence_last_value('core.event_log_sequence_number_seq'), 0),
                              'assinado', core._log_assinado() OR core._assinaturas() <> '{}')
      FROM (SELECT greatest(max(greatest(c.horizonte, c.posicao, c.lacuna_ate)), core.obter_maior_sequence(),
                            CASE WHEN NOT core._log_assinado() THEN core._barreira() END, 0)
              FROM core.consumidores AS c
            OFFSET 0) AS l (passado)
$$;

COMMENT ON FUNCTION core._estado_da_sequencia() IS
'{passado, numero, assinado}: o maior número do log ou por onde alguma colônia já passou, o último que a sequência deu e se o
log vem de outro servidor.';

GRANT EXECUTE ON FUNCTION core.sequencia_atras(), core._estado_da_sequencia() TO formigueiro_app, formigueiro_dba;
