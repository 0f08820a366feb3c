-- depends: core_0008_retencao V008_d8_medidas d6b_0014_redacao
-- O papel que só lê o que é público, e os prazos de quem entra (regras 3 e 8).

DO $papeis$
DECLARE
    v_prazo record;
BEGIN
    BEGIN
        LOCK TABLE pg_catalog.pg_authid IN SHARE ROW EXCLUSIVE MODE;
    EXCEPTION WHEN insufficient_privilege THEN
        NULL;
    END;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname = 'formigueiro_leitura') THEN
        BEGIN
            CREATE ROLE formigueiro_leitura LOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END IF;
    -- Uma transação que publicou e ficou parada segura o horizonte de todos; um operador pensa mais que um processo.
    -- Quem lê não publica, mas uma sessão esquecida segura as tabelas que migrar muda.
    FOR v_prazo IN
        SELECT papel, ajuste, valor
          FROM (VALUES ('formigueiro_app', 'idle_in_transaction_session_timeout', '60s'),
                       ('formigueiro_dba', 'idle_in_transaction_session_timeout', '5min'),
                       ('formigueiro_leitura', 'idle_in_transaction_session_timeout', '60s'),
                       ('formigueiro_leitura', 'statement_timeout', '60s'),
                       ('formigueiro_leitura', 'idle_session_timeout', '30min')) AS p (papel, ajuste, valor)
         WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_db_role_setting AS s WHERE s.setrole = p.papel::regrole)
    LOOP
        BEGIN
            EXECUTE format('ALTER ROLE %I SET %I = %L', v_prazo.papel, v_prazo.ajuste, v_prazo.valor);
        EXCEPTION WHEN insufficient_privilege THEN
            NULL;  -- os papéis são de outro administrador do servidor: cabe a ele
        END;
    END LOOP;
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO formigueiro_leitura', current_database());
END
$papeis$;

GRANT USAGE ON SCHEMA d6b, d8 TO formigueiro_leitura;
