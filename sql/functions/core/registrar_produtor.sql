-- Quem instalou liga um papel de login a uma colônia, com tudo o que um produtor precisa, numa chamada.
--
-- SECURITY INVOKER: dar um papel e mudar outro pedem os direitos de quem administra o servidor, que o dono não tem.

CREATE OR REPLACE FUNCTION core.registrar_produtor(p_papel name, p_colonia text)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_servidor CONSTANT int := current_setting('server_version_num')::int;
    v_prazo    text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname = p_papel AND r.rolcanlogin) THEN
        RAISE EXCEPTION 'O papel % não existe ou não entra (LOGIN).', coalesce(p_papel, 'nulo') USING ERRCODE = 'FM404';
    END IF;
    IF p_papel IN ('formigueiro_app', 'formigueiro_dba', 'formigueiro_leitura') THEN
        RAISE EXCEPTION 'O campo papel deve ser um papel só do produtor, e não %.', p_papel USING ERRCODE = 'FM422';
    END IF;
    IF EXISTS (SELECT FROM unnest(ARRAY['core_dono', 'd6b_dono', 'd8_dono']) AS d (dono)
                WHERE pg_has_role(p_papel, d.dono, 'MEMBER')) THEN
        RAISE EXCEPTION 'O campo papel deve ser um papel só do produtor, e não %, superusuário ou membro de um dono.',
                        p_papel
            USING ERRCODE = 'FM422';
    END IF;
    IF core._papel_de_mais(p_papel) IS NOT NULL THEN
        RAISE EXCEPTION 'O campo papel deve ser um papel só do produtor, e não %, membro de %.', p_papel,
                        core._papel_de_mais(p_papel)
            USING ERRCODE = 'FM422';
    END IF;
    IF v_servidor < 160000 AND NOT (SELECT r.rolinherit FROM pg_catalog.pg_roles AS r WHERE r.rolname = p_papel) THEN
        RAISE EXCEPTION 'O campo papel deve ser de quem herda o que recebe, ou não entra no banco: ALTER ROLE % INHERIT.',
                        p_papel
            USING ERRCODE = 'FM422';
    END IF;
    IF NOT EXISTS (SELECT FROM core.esquemas AS e WHERE p_colonia = ANY (e.produtores)) THEN
        RAISE EXCEPTION 'O campo colonia não serve: nenhum tipo de evento é produzido por %.', core.citar(p_colonia)
            USING ERRCODE = 'FM422';
    END IF;

    INSERT INTO core.produtores (papel, colonia) VALUES (p_papel, p_colonia) ON CONFLICT DO NOTHING;
    IF p_papel = 'formigueiro_produtor' THEN
        RETURN;
    END IF;
    -- Do PostgreSQL 16 em diante, quem herda é o vínculo, e não o papel: serve também um NOINHERIT.
    EXECUTE format('GRANT formigueiro_produtor TO %I%s', p_papel,
                   CASE WHEN v_servidor >= 160000 THEN ' WITH INHERIT TRUE' ELSE '' END);
    -- Do papel não se herda o prazo; sem direito a pô-lo no login, core._exigir_produtor o põe em cada transação.
    SELECT split_part(c.ajuste, '=', 2) INTO v_prazo
      FROM pg_catalog.pg_db_role_setting AS s
     CROSS JOIN unnest(s.setconfig) AS c (ajuste)
     WHERE s.setrole = 'formigueiro_produtor'::regrole
       AND c.ajuste LIKE 'idle_in_transaction_session_timeout=%';
    IF v_prazo IS NOT NULL AND NOT EXISTS (
           SELECT FROM pg_catalog.pg_db_role_setting AS s
            CROSS JOIN unnest(s.setconfig) AS c (ajuste)
            WHERE s.setrole = (SELECT r.oid FROM pg_catalog.pg_roles AS r WHERE r.rolname = p_papel)
              AND c.ajuste LIKE 'idle_in_transaction_session_timeout=%') THEN
        BEGIN
            EXECUTE format('ALTER ROLE %I SET idle_in_transaction_session_timeout = %L', p_papel, v_prazo);
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE NOTICE 'Sem direito de mudar o papel %; o prazo valerá só nas transações em que publicar.', p_papel;
        END;
    END IF;
END
$$;

COMMENT ON FUNCTION core.registrar_produtor(name, text) IS
'Deixa um papel de login publicar por uma colônia: escreve core.produtores, dá-lhe formigueiro_produtor e, se não tem
um, o prazo das transações paradas. Repetida, nada muda. Para quem instalou, ou o superusuário. Erros: FM404 papel que
não existe ou não entra; FM422 papel do projeto, superusuário, membro de um dono ou de
outro papel do projeto ou, no PostgreSQL 15, NOINHERIT; ou colônia que não produz tipo nenhum. Fonte: regras 3 e 8.';

-- Quem opera ou lê tem direitos que um produtor não há de somar aos seus: quem os tomasse daria a si mesmo o resto.
CREATE OR REPLACE FUNCTION core._papel_de_mais(p_papel name)
RETURNS text
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    RETURN (SELECT string_agg(r.rolname, ', ' ORDER BY r.rolname)
              FROM pg_catalog.pg_roles AS r
             WHERE r.rolname IN ('core_dono', 'd6b_dono', 'd8_dono', 'formigueiro_app', 'formigueiro_dba',
                                 'formigueiro_leitura')
               AND r.rolname <> p_papel
               AND pg_has_role(p_papel, r.oid, 'MEMBER'));
END
$$;

COMMENT ON FUNCTION core._papel_de_mais(name) IS
'De que papéis do projeto, além do de produtor, o papel é membro; NULL se de nenhum. Fonte: regra 8.';

CREATE OR REPLACE FUNCTION core.produtores_de_mais()
RETURNS TABLE (papel name, membro_de text)
LANGUAGE plpgsql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN QUERY
        SELECT r.rolname, core._papel_de_mais(r.rolname)
          FROM (SELECT DISTINCT p.papel FROM core.produtores AS p) AS d
          JOIN pg_catalog.pg_roles AS r ON r.rolname = d.papel
         WHERE core._papel_de_mais(r.rolname) IS NOT NULL
         ORDER BY r.rolname;
END
$$;

COMMENT ON FUNCTION core.produtores_de_mais() IS
'Os produtores registrados que são hoje membros de outro papel do projeto, ou superusuários, e de quais: o vínculo pode
vir depois do registro. Fonte: regra 8.';

GRANT EXECUTE ON FUNCTION core.produtores_de_mais() TO formigueiro_app, formigueiro_dba;

CREATE OR REPLACE FUNCTION core.remover_produtor(p_papel name, p_colonia text DEFAULT NULL)
RETURNS int
LANGUAGE plpgsql
AS $$
DECLARE
    v_removidas int;
BEGIN
    PERFORM core.exigir_valor(p_papel, 'papel');
    DELETE FROM core.produtores AS p WHERE p.papel = p_papel AND p.colonia = coalesce(p_colonia, p.colonia);
    GET DIAGNOSTICS v_removidas = ROW_COUNT;
    RETURN v_removidas;
END
$$;

COMMENT ON FUNCTION core.remover_produtor(name, text) IS
'Tira de um papel o direito de publicar por uma colônia, ou por todas, e devolve quantas; vale para a próxima
publicação, também das sessões abertas. O papel fica. Para quem instalou, ou o superusuário. Erros: FM422 papel
nulo. Fonte: regra 8.';
