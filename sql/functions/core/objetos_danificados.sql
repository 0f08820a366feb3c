-- Se os objetos do projeto são como migrar os deixou: uma restauração parcial (--no-owner, --no-acl, -n) refaz as tabelas e
-- as funções com outro dono, sem os direitos ou sem uma parte delas, e nada mais o diria (regra 8).
--
-- migrar fotografa o que acaba de pôr em ordem; a fotografia é de nomes, que não mudam de um servidor para outro, e vai
-- na cópia. O que um DBA deu a outros papéis não conta; o que PUBLIC ganhou, sim.
--
-- Um nome se escreve igual em toda sessão: daí o quote_all_identifiers.

CREATE OR REPLACE FUNCTION core.objetos_danificados()
RETURNS TABLE (especie text, nome text, defeito text)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
    SELECT o.especie, o.nome,
           CASE
               WHEN a.nome IS NULL THEN 'falta'
               WHEN a.dono <> o.dono THEN 'é de ' || a.dono
               WHEN a.ajustes <> o.ajustes THEN 'mudou'
               ELSE 'tem outros direitos'
           END
      FROM core.objetos AS o
      LEFT JOIN core._objetos() AS a ON a.especie = o.especie AND a.nome = o.nome
     WHERE a.nome IS NULL
        OR a.dono <> o.dono
        OR a.ajustes <> o.ajustes
        OR NOT a.direitos @> o.direitos
        OR EXISTS (SELECT
                     FROM unnest(a.direitos) AS d (direito)
                    WHERE starts_with(d.direito, 'PUBLIC=')
                      AND d.direito <> ALL (o.direitos))
    UNION ALL
    SELECT 'fotografia', 'core.objetos', 'falta'
     WHERE NOT EXISTS (SELECT FROM core.objetos)
     ORDER BY 1, 2
$$;

COMMENT ON FUNCTION core.objetos_danificados() IS
'Os objetos que não são como migrar os deixou: espécie, nome e defeito (falta, é de outro dono, tem outros direitos, ou
mudou: o caminho ou o SECURITY DEFINER de uma função, um gatilho desligado, um pg_cron de outro servidor). Nenhum, se está tudo
em ordem. Fonte: regra 8.';

CREATE OR REPLACE FUNCTION core.fotografar_objetos()
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
BEGIN
    DELETE FROM core.objetos AS o WHERE NOT EXISTS (SELECT FROM core._objetos() AS a WHERE a = o);
    INSERT INTO core.objetos SELECT a.* FROM core._objetos() AS a ON CONFLICT DO NOTHING;
END
$$;

COMMENT ON FUNCTION core.fotografar_objetos() IS
'Guarda em core.objetos como está cada objeto. Roda em migrar, depois de pôr tudo em ordem.';

CREATE OR REPLACE FUNCTION core._objetos()
RETURNS SETOF core.objetos
LANGUAGE sql
STABLE
AS $$
    WITH papeis (oid, nome) AS MATERIALIZED (
        SELECT r.oid, r.rolname
          FROM pg_catalog.pg_roles AS r
         WHERE r.rolname IN ('core_dono', 'd6b_dono', 'd8_dono', 'formigueiro_app', 'formigueiro_produtor',
                             'formigueiro_dba', 'formigueiro_leitura')
        UNION ALL
        SELECT 0, 'PUBLIC'
    ), esquemas AS MATERIALIZED (
        SELECT n.* FROM pg_catalog.pg_namespace AS n WHERE n.nspname IN ('core', 'registro', 'd6b', 'd8', 'migracoes')
    ), objetos (especie, nome, dono, direitos, ajustes) AS (
        SELECT 'esquema', n.nspname::text, n.nspowner, coalesce(n.nspacl, acldefault('n', n.nspowner)), ''
          FROM esquemas AS n
        UNION ALL
        SELECT CASE c.relkind WHEN 'v' THEN 'visão' ELSE 'relação' END, n.nspname || '.' || c.relname, c.relowner,
               coalesce(c.relacl, acldefault(CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", c.relowner)), ''
          FROM esquemas AS n
          JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relkind IN ('r', 'v', 'S')
        UNION ALL
        -- Sem um índice único, ou uma restrição, que um pg_restore não chegou a refazer, tudo anda, e se repete.
        SELECT 'índice', n.nspname || '.' || c.relname, 0::oid, NULL,
               concat_ws(' ', CASE WHEN i.indisunique THEN 'UNIQUE' END, CASE WHEN NOT i.indisvalid THEN 'INVALID' END)
          FROM esquemas AS n
          JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid
          JOIN pg_catalog.pg_index AS i ON i.indexrelid = c.oid
         WHERE n.nspname <> 'migracoes'
        UNION ALL
        SELECT 'restrição', format('%s em %s.%s', r.conname, n.nspname, c.relname), 0::oid, NULL, ''
          FROM esquemas AS n
          JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid
          JOIN pg_catalog.pg_constraint AS r ON r.conrelid = c.oid AND r.contype IN ('c', 'f')
         WHERE n.nspname <> 'migracoes'
        UNION ALL
        -- Os validadores são gerados, e seus nomes mudam: de todos, conta o que têm em comum.
        SELECT DISTINCT 'rotina',
               CASE
                   WHEN n.nspname = 'registro' THEN 'registro.*'
                   ELSE format('%s.%s(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid))
               END,
               p.proowner, coalesce(p.proacl, acldefault('f', p.proowner)),
               concat_ws(' ', CASE WHEN p.prosecdef THEN 'SECURITY DEFINER' END, array_to_string(p.proconfig, ' '))
          FROM esquemas AS n
          JOIN pg_catalog.pg_proc AS p ON p.pronamespace = n.oid
        UNION ALL
        SELECT 'gatilho', format('%s em %s.%s', t.tgname, n.nspname, c.relname), c.relowner, NULL, t.tgenabled::text
          FROM esquemas AS n
          JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid
          JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = c.oid AND NOT t.tgisinternal
        UNION ALL
        SELECT 'direitos de nascença', r.nome, d.defaclrole, d.defaclacl, d.defaclobjtype::text
          FROM papeis AS r
          JOIN pg_catalog.pg_default_acl AS d ON d.defaclrole = r.oid AND d.defaclnamespace = 0
        UNION ALL
        SELECT 'banco', '', 0::oid, coalesce(b.datacl, acldefault('d', b.datdba)), ''
          FROM pg_catalog.pg_database AS b
         WHERE b.datname = current_database()
        UNION ALL
        SELECT 'papel', r.rolname, 0::oid, NULL, CASE WHEN r.rolcanlogin THEN 'LOGIN' ELSE 'NOLOGIN' END
          FROM papeis AS p
          JOIN pg_catalog.pg_roles AS r ON r.oid = p.oid
        UNION ALL
        -- No pg_cron, cada trabalho guarda o servidor em que se liga: o da origem, numa cópia.
        SELECT 'pg_cron', '', 0::oid, NULL,
               concat_ws('/', s.system_identifier, b.oid, current_setting('port'))
          FROM pg_catalog.pg_control_system() AS s
         CROSS JOIN pg_catalog.pg_database AS b
         WHERE b.datname = current_database()
           AND coalesce((core.parametro('agenda_no_pg_cron'))::boolean, false)
    )
    SELECT o.especie, o.nome,
           -- O que é de quem migrou pode passar a outro que migre.
           CASE WHEN o.dono = 0 OR o.nome = 'migracoes' OR starts_with(o.nome, 'migracoes.') THEN '' ELSE pg_get_userbyid(o.dono) END,
           ARRAY(SELECT p.nome || '=' || a.privilege_type
                   FROM aclexplode(o.direitos) AS a
                   JOIN papeis AS p ON p.oid = a.grantee
                  WHERE a.grantee <> o.dono
                  ORDER BY 1),
           o.ajustes
      FROM objetos AS o
$$;

COMMENT ON FUNCTION core._objetos() IS
'Cada objeto do projeto como está agora, com os direitos dos papéis do projeto e de PUBLIC; os do dono ficam de fora.';

GRANT EXECUTE ON FUNCTION core.objetos_danificados() TO formigueiro_app, formigueiro_dba;
