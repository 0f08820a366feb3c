-- Os cursores consumer_offset de uma colônia: marca d'água por tipo, à letra das especificações, enquanto a posição
-- de leitura fica em core.consumidores (regra 4).

-- Cada colônia lê e escreve os seus por <esquema>.cursores() e <esquema>.mover_cursores(): aqui se decide para onde vão.
-- Um cursor só se move se ainda está onde foi lido: o que alguém recuou entretanto, à mão ou por core.reposicionar, fica.

CREATE OR REPLACE FUNCTION core._ler_cursores(
    p_colonia text, p_esquema name, p_posicao bigint, OUT lidos jsonb, OUT recuo bigint, OUT cursores jsonb
)
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    EXECUTE format('SELECT %I.cursores()', p_esquema) INTO lidos;
    SELECT min(o.lido) FILTER (WHERE o.lido < least(p_posicao, o.marca)),
           jsonb_object_agg(o.tipo, CASE WHEN o.lido < least(p_posicao, o.marca) THEN o.lido
                                         ELSE greatest(o.lido, p_posicao) END)
      INTO recuo, cursores
      FROM core._marcas_dagua(p_colonia, lidos) AS o;
    recuo := coalesce(recuo, p_posicao);
    cursores := coalesce(cursores, '{}');
END
$$;

COMMENT ON FUNCTION core._ler_cursores(text, name, bigint) IS
'lidos: {tipo: last_sequence}; recuo: a posição de onde ler (menor que p_posicao se alguém recuou um cursor); cursores:
{tipo: até onde esse tipo já foi lido}. Um cursor abaixo da marca d''água só pode ter sido recuado de propósito.
Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._marcas_dagua(p_colonia text, p_lidos jsonb)
RETURNS TABLE (tipo text, lido bigint, marca bigint)
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    -- Um mínimo por tipo, pelo índice, e não um agrupamento, que leria toda a DLQ em aberto.
    RETURN QUERY
        SELECT j.tipo, j.lido::bigint,
               coalesce((SELECT min(d.sequence_number) - 1
                           FROM core.dlq AS d
                          WHERE d.colonia = p_colonia
                            AND d.tipo = j.tipo
                            AND d.estado IN ('pendente', 'em_espera')), 9223372036854775807)
          FROM jsonb_each_text(p_lidos) AS j (tipo, lido);
END
$$;

COMMENT ON FUNCTION core._marcas_dagua(text, jsonb) IS
'De cada cursor de p_lidos, {tipo: last_sequence}, o número além do qual ele não passa: o anterior ao do primeiro evento
em aberto na DLQ.';

CREATE OR REPLACE FUNCTION core._marca_dagua(p_colonia text, p_tipo text)
RETURNS bigint
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN (SELECT o.marca FROM core._marcas_dagua(p_colonia, jsonb_build_object(p_tipo, 0)) AS o);
END
$$;

COMMENT ON FUNCTION core._marca_dagua(text, text) IS
'A marca d''água de um tipo só; ver core._marcas_dagua.';

CREATE OR REPLACE FUNCTION core._levar_cursores(p_colonia text, p_esquema name, p_posicao bigint, p_lidos jsonb)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_novos jsonb;
BEGIN
    -- Um cursor além da posição foi adiantado de propósito, e lá fica.
    SELECT jsonb_object_agg(n.tipo, n.marca) INTO v_novos
      FROM (SELECT o.tipo, o.lido, least(greatest(o.lido, p_posicao), o.marca)
              FROM core._marcas_dagua(p_colonia, p_lidos) AS o) AS n (tipo, lido, marca)
     WHERE n.marca <> n.lido;
    IF v_novos IS NOT NULL THEN
        EXECUTE format('SELECT %I.mover_cursores($1, $2)', p_esquema) USING p_lidos, v_novos;
    END IF;
END
$$;

COMMENT ON FUNCTION core._levar_cursores(text, name, bigint, jsonb) IS
'Leva cada cursor que ainda está onde foi lido (p_lidos) até p_posicao, sem passar do que seu tipo tem em aberto na DLQ.
Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._soltar_cursor(p_colonia text, p_tipo text, p_marca bigint)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_esquema name;
    v_posicao bigint;
    v_lidos   jsonb;
    v_lido    bigint;
BEGIN
    SELECT c.esquema, c.posicao INTO STRICT v_esquema, v_posicao FROM core.consumidores AS c WHERE c.colonia = p_colonia;
    EXECUTE format('SELECT %I.cursores()', v_esquema) INTO v_lidos;
    v_lido := (v_lidos ->> p_tipo)::bigint;
    -- Abaixo da marca antiga, foi recuado: quem for ler ainda há de vê-lo assim.
    IF v_lido >= least(v_posicao, p_marca) THEN
        PERFORM core._levar_cursores(p_colonia, v_esquema, v_posicao, jsonb_build_object(p_tipo, v_lido));
    END IF;
END
$$;

COMMENT ON FUNCTION core._soltar_cursor(text, text, bigint) IS
'Acerta o cursor de um tipo cuja marca d''água, antes p_marca, mudou. Quem chama segura a linha da colônia, ou só baixa
a marca. Fonte: regra 4.';

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

GRANT EXECUTE ON FUNCTION core._ler_cursores(text, name, bigint), core._marcas_dagua(text, jsonb),
                          core._marca_dagua(text, text), core._levar_cursores(text, name, bigint, jsonb),
                          core._soltar_cursor(text, text, bigint), core._semear_cursores(text, text[])
   TO d6b_dono, d8_dono;
