-- Os cursores consumer_offset de uma colônia: marca d'água por tipo, à letra das especificações, enquanto a posição
-- de leitura fica em core.consumidores (regra 4).

CREATE OR REPLACE FUNCTION core._ler_cursores(
    p_colonia text, p_esquema name, p_posicao bigint, OUT recuo bigint, OUT cursores jsonb
)
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    EXECUTE format(
        'SELECT min(o.last_sequence) FILTER (WHERE o.last_sequence < least($2, m.marca)),
                jsonb_object_agg(o.tipo_evento, CASE WHEN o.last_sequence < least($2, m.marca) THEN o.last_sequence
                                                     ELSE greatest(o.last_sequence, $2) END)
           FROM %I.consumer_offset AS o
          CROSS JOIN LATERAL core._marca_dagua($1, o.tipo_evento) AS m (marca)', p_esquema)
       INTO recuo, cursores
      USING p_colonia, p_posicao;
    recuo := coalesce(recuo, p_posicao);
    cursores := coalesce(cursores, '{}');
END
$$;

COMMENT ON FUNCTION core._ler_cursores(text, name, bigint) IS
'recuo: a posição de onde ler (menor que p_posicao se alguém recuou um cursor); cursores: {tipo: até onde esse tipo já
foi lido}. Um cursor abaixo da marca d''água só pode ter sido recuado de propósito. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._marca_dagua(p_colonia text, p_tipo text)
RETURNS bigint
LANGUAGE sql
STABLE
AS $$
    SELECT coalesce(min(d.sequence_number) - 1, 9223372036854775807)
      FROM core.dlq AS d
     WHERE d.colonia = p_colonia
       AND d.tipo = p_tipo
       AND d.estado IN ('pendente', 'em_espera')
$$;

COMMENT ON FUNCTION core._marca_dagua(text, text) IS
'Número além do qual o cursor deste tipo não passa: o anterior ao do primeiro evento em aberto na DLQ.';

CREATE OR REPLACE FUNCTION core._atualizar_cursores(p_colonia text)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v core.consumidores;
BEGIN
    SELECT * INTO STRICT v FROM core.consumidores AS c WHERE c.colonia = p_colonia;
    -- Um cursor além da posição foi adiantado de propósito, e lá fica.
    EXECUTE format(
        'UPDATE %I.consumer_offset AS o
            SET last_sequence = n.marca,
                updated_at = clock_timestamp()
           FROM (SELECT t.tipo_evento, least(greatest(t.last_sequence, $2), core._marca_dagua($1, t.tipo_evento))
                   FROM %1$I.consumer_offset AS t) AS n (tipo_evento, marca)
          WHERE o.tipo_evento = n.tipo_evento
            AND o.last_sequence <> n.marca', v.esquema)
      USING p_colonia, v.posicao;
END
$$;

COMMENT ON FUNCTION core._atualizar_cursores(text) IS
'Leva cada cursor da colônia até a posição lida, sem passar do que seu tipo tem em aberto na DLQ. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._semear_cursores(p_colonia text, p_tipos text[])
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_esquema    name;
    v_maior      bigint;
    v_escritores text[];
    v_novos      boolean;
    v_inicio     timestamptz := clock_timestamp();
BEGIN
    SELECT c.esquema INTO STRICT v_esquema FROM core.consumidores AS c WHERE c.colonia = p_colonia FOR UPDATE;
    EXECUTE format('SELECT NOT $1 <@ coalesce(array_agg(o.tipo_evento::text), ''{}'') FROM %I.consumer_offset AS o',
                   v_esquema)
       INTO v_novos
      USING p_tipos;
    IF NOT v_novos THEN
        RETURN;
    END IF;

    -- Tudo o que tem número até o maior visto ou já é visível, ou é de quem ainda segura o log: espera-se por esses.
    v_maior := core.obter_maior_sequence();
    v_escritores := core._escritores();
    WHILE core._algum_escritor(v_escritores) LOOP
        IF clock_timestamp() > v_inicio + interval '60 seconds' THEN
            RAISE EXCEPTION 'Há publicações em curso há mais de 60 s (transações %); encerre-as e repita.', v_escritores
                USING ERRCODE = 'FM409';
        END IF;
        PERFORM pg_sleep(0.05);
    END LOOP;

    EXECUTE format(
        'INSERT INTO %I.consumer_offset (tipo_evento, last_sequence)
         SELECT t.tipo, $2
           FROM unnest($1) AS t (tipo)
             ON CONFLICT (tipo_evento) DO NOTHING', v_esquema)
      USING p_tipos, v_maior;
    -- Só uma colônia recém-nascida não leu nada; uma antiga que ganha um tipo continua de onde está.
    UPDATE core.consumidores AS c
       SET posicao = v_maior,
           horizonte = v_maior
     WHERE c.colonia = p_colonia
       AND c.horizonte = 0;
END
$$;

COMMENT ON FUNCTION core._semear_cursores(text, text[]) IS
'Cria os cursores que faltam no horizonte seguro corrente, sem tocar nos que existem. Espera as publicações em curso
por até 60 s. Erros: FM409 se não terminarem. Fonte: D-6b 2.8 e 4.3, D-8 4.5, regra 3.';

GRANT EXECUTE ON FUNCTION core._ler_cursores(text, name, bigint), core._marca_dagua(text, text),
                          core._atualizar_cursores(text), core._semear_cursores(text, text[])
   TO d6b_dono, d8_dono;
