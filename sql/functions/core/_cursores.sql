-- Os cursores consumer_offset de uma colônia: a marca d'água de cada tipo, à letra das especificações (regra 4). O que já
-- foi lido está à parte, em core.consumidores: posicao, até onde se leu, que só avança, e relendo, {tipo: até onde} dos
-- que alguém recuou. Com posicao 90, o tipo A em dia, o tipo B com o evento 41 em aberto na DLQ e o tipo C recuado a 10:
-- os cursores dizem A 90, B 40, C 10, e o que se lê a seguir é C depois de 10 e qualquer tipo depois de 90.
--
-- Um cursor abaixo do que devia ser foi recuado à mão; acima de posicao, adiantado. Só se move o que ainda está onde foi
-- lido: o que alguém recuou entretanto fica. Cada colônia trava e move os seus.

CREATE OR REPLACE FUNCTION core._ler_cursores(
    p core.consumidores, OUT lidos jsonb, OUT relendo jsonb, OUT inicio bigint, OUT desde jsonb
)
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    EXECUTE format('SELECT %I.cursores()', p.esquema) INTO lidos;
    SELECT jsonb_object_agg(l.tipo, l.desde) FILTER (WHERE l.desde < p.posicao), min(l.desde),
           jsonb_object_agg(l.tipo, l.desde)
      INTO relendo, inicio, desde
      FROM (SELECT c.tipo,
                   CASE
                       WHEN c.lido < least(c.base, c.marca) THEN c.lido
                       WHEN c.base < p.posicao THEN c.base
                       ELSE greatest(c.base, c.lido)
                   END
              FROM (SELECT m.tipo, m.lido, m.marca, coalesce((p.relendo ->> m.tipo)::bigint, p.posicao)
                      FROM core._marcas_dagua(p.colonia, lidos) AS m) AS c (tipo, lido, marca, base)
           ) AS l (tipo, desde);
    relendo := coalesce(relendo, '{}');
    inicio := least(inicio, p.posicao);
    desde := coalesce(desde, '{}');
END
$$;

COMMENT ON FUNCTION core._ler_cursores(core.consumidores) IS
'lidos: {tipo: last_sequence}; desde: {tipo: de onde ler}; relendo: os de desde que estão abaixo da posição; inicio: o
menor deles, ou a posição. Fonte: regra 4.';

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

CREATE OR REPLACE FUNCTION core._marca_do_tipo(p_colonia text, p_tipo text)
RETURNS bigint
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN (SELECT o.marca FROM core._marcas_dagua(p_colonia, jsonb_build_object(p_tipo, 0)) AS o);
END
$$;

COMMENT ON FUNCTION core._marca_do_tipo(text, text) IS
'A marca d''água de um tipo só; ver core._marcas_dagua.';

CREATE OR REPLACE FUNCTION core._avancar_leitura(p core.consumidores, p_lidos jsonb, p_relendo jsonb, p_fim bigint)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_posicao CONSTANT bigint := greatest(p.posicao, p_fim);
    v_relendo jsonb;
    v_atuais  jsonb;
    v_novos   jsonb;
BEGIN
    SELECT coalesce(jsonb_object_agg(j.tipo, greatest(j.desde::bigint, p_fim)), '{}') INTO v_relendo
      FROM jsonb_each_text(p_relendo) AS j (tipo, desde)
     WHERE greatest(j.desde::bigint, p_fim) < v_posicao;
    UPDATE core.consumidores AS c
       SET posicao = v_posicao,
           relendo = v_relendo,
           atualizado_em = clock_timestamp()
     WHERE c.colonia = p.colonia
       AND (c.posicao, c.relendo) IS DISTINCT FROM (v_posicao, v_relendo);

    -- Travados antes de ler as marcas: uma saída que falhe enquanto isso espera, e baixa o cursor depois.
    EXECUTE format('SELECT %I.travar_cursores()', p.esquema) INTO v_atuais;
    SELECT jsonb_object_agg(n.tipo, n.novo) INTO v_novos
      FROM (SELECT m.tipo, m.lido,
                   least(coalesce((v_relendo ->> m.tipo)::bigint, greatest(m.lido, v_posicao)), m.marca)
              FROM core._marcas_dagua(p.colonia, v_atuais) AS m) AS n (tipo, lido, novo)
     WHERE n.novo <> n.lido
       AND p_lidos -> n.tipo = v_atuais -> n.tipo;
    IF v_novos IS NOT NULL THEN
        EXECUTE format('SELECT %I.mover_cursores($1)', p.esquema) USING v_novos;
    END IF;
END
$$;

COMMENT ON FUNCTION core._avancar_leitura(core.consumidores, jsonb, jsonb, bigint) IS
'Anota que a colônia, cuja linha quem chama segura, leu até p_fim a partir do que core._ler_cursores disse (p_lidos e
p_relendo), e leva os cursores, sem passar do que seu tipo tem em aberto na DLQ. Fonte: regra 4.';

CREATE OR REPLACE FUNCTION core._acertar_cursor(p_colonia text, p_tipo text, p_marca_antiga bigint)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v        core.consumidores;
    v_atuais jsonb;
    v_lido   bigint;
    v_novo   bigint;
    v_base   bigint;
BEGIN
    SELECT * INTO STRICT v FROM core.consumidores AS c WHERE c.colonia = p_colonia;
    EXECUTE format('SELECT %I.travar_cursores()', v.esquema) INTO v_atuais;
    v_lido := (v_atuais ->> p_tipo)::bigint;
    v_base := coalesce((v.relendo ->> p_tipo)::bigint, greatest(v_lido, v.posicao));
    v_novo := least(v_base, core._marca_do_tipo(p_colonia, p_tipo));
    -- Abaixo da marca antiga, foi recuado à mão: quem for ler ainda há de vê-lo assim.
    IF v_novo < v_lido OR (v_novo > v_lido AND v_lido >= least(v_base, p_marca_antiga)) THEN
        EXECUTE format('SELECT %I.mover_cursores($1)', v.esquema) USING jsonb_build_object(p_tipo, v_novo);
    END IF;
END
$$;

COMMENT ON FUNCTION core._acertar_cursor(text, text, bigint) IS
'Leva o cursor de um tipo à sua marca d''água, que acaba de mudar; p_marca_antiga é a de antes. Quem pode subi-la segura
a linha da colônia. Fonte: regra 4.';

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
    PERFORM core._erguer_barreira(p_colonia, v_maior);
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

GRANT EXECUTE ON FUNCTION core._ler_cursores(core.consumidores), core._marcas_dagua(text, jsonb),
                          core._marca_do_tipo(text, text), core._acertar_cursor(text, text, bigint),
                          core._avancar_leitura(core.consumidores, jsonb, jsonb, bigint),
                          core._semear_cursores(text, text[])
   TO d6b_dono, d8_dono;
