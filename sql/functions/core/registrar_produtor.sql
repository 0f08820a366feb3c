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
não existe ou não entra; FM422 papel do projeto, superusuário, membro de um dono ou, no PostgreSQL 15,
NOINHERIT; ou colônia que não produz tipo nenhum. Fonte: regras 3 e 8.';

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
