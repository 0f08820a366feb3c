-- O que o PostgreSQL deixa a qualquer login e aqui não se deixa (N64): tomar travas consultivas, que enchem a tabela de
-- travas do servidor e prendem quem usa a mesma chave, e escrever objetos grandes, que nenhum direito do banco impede.
--
-- SECURITY INVOKER: só o superusuário, ou quem possui essas funções, as pode fechar. Valem neste banco, e não no servidor:
-- migrar repete tudo a cada vez. O que outro aplicativo do mesmo banco precise, um GRANT ao papel dele dá, e fica.

CREATE OR REPLACE FUNCTION core.fechar_ao_publico()
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v record;
BEGIN
    FOR v IN
        SELECT a.funcao
          FROM core._abertas_ao_publico() AS a
          JOIN pg_catalog.pg_proc AS p ON p.oid = a.funcao
         WHERE pg_has_role(current_user, p.proowner, 'USAGE')
    LOOP
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', v.funcao);
    END LOOP;

    -- As que o sono, a ponte e a liderança usam; as que soltam seguem de todos.
    FOR v IN
        SELECT f.funcao, d.papel
          FROM unnest(ARRAY['pg_try_advisory_xact_lock_shared(bigint)', 'pg_try_advisory_lock_shared(int, int)',
                            'pg_try_advisory_lock(bigint)']::regprocedure[]) AS f (funcao)
          JOIN pg_catalog.pg_proc AS p ON p.oid = f.funcao
         CROSS JOIN unnest(ARRAY['core_dono', 'd6b_dono', 'd8_dono', 'formigueiro_app']) AS d (papel)
         WHERE NOT has_function_privilege(d.papel, f.funcao, 'EXECUTE')
           AND pg_has_role(current_user, p.proowner, 'USAGE')
    LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', v.funcao, v.papel);
    END LOOP;
    RETURN NOT EXISTS (SELECT FROM core._abertas_ao_publico());
END
$$;

COMMENT ON FUNCTION core.fechar_ao_publico() IS
'Tira de PUBLIC, neste banco, as funções de travas consultivas e de escrita de objetos grandes, e dá as que o projeto usa a
formigueiro_app e aos donos. Repetida, nada muda. Devolve false, sem falhar, se quem chama não pode. Fonte: N64.';

CREATE OR REPLACE FUNCTION core._abertas_ao_publico()
RETURNS TABLE (funcao regprocedure)
LANGUAGE sql
STABLE
AS $$
    SELECT p.oid::regprocedure
      FROM pg_catalog.pg_proc AS p
     WHERE p.pronamespace = 'pg_catalog'::regnamespace
       -- Soltar não prende ninguém, e há bibliotecas que o fazem ao devolver uma conexão (pg_advisory_unlock_all).
       AND (p.proname ~ '^pg_(try_)?advisory_(xact_)?lock'
            OR p.proname IN ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_import', 'lo_put', 'lo_truncate',
                             'lo_truncate64', 'lowrite'))
       AND has_function_privilege('public', p.oid, 'EXECUTE')
$$;

COMMENT ON FUNCTION core._abertas_ao_publico() IS
'Das funções que core.fechar_ao_publico fecha, as que qualquer login ainda executa. Fonte: N64.';

GRANT EXECUTE ON FUNCTION core._abertas_ao_publico() TO formigueiro_app, formigueiro_dba;
