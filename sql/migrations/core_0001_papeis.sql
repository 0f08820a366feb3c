-- Papéis e esquemas do núcleo (regra 8): tudo nasce já com o dono definitivo, e PUBLIC não executa nada.

-- Papéis valem para o cluster inteiro; a trava em pg_authid põe em fila duas migrações simultâneas. Sem direito
-- a ela (serviço gerenciado), quem perde a corrida encontra o papel pronto e segue.
DO $papeis$
DECLARE
    v_papel record;
BEGIN
    BEGIN
        LOCK TABLE pg_catalog.pg_authid IN SHARE ROW EXCLUSIVE MODE;
    EXCEPTION WHEN insufficient_privilege THEN
        NULL;
    END;
    FOR v_papel IN
        SELECT nome, atributos
          FROM (VALUES ('core_dono', 'NOLOGIN'),
                       ('d6b_dono', 'NOLOGIN'),
                       ('d8_dono', 'NOLOGIN'),
                       ('formigueiro_app', 'LOGIN'),
                       ('formigueiro_produtor', 'LOGIN'),
                       ('formigueiro_dba', 'LOGIN')) AS p (nome, atributos)
         WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.rolname = p.nome)
    LOOP
        BEGIN
            EXECUTE format('CREATE ROLE %I %s', v_papel.nome, v_papel.atributos);
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END;
    END LOOP;
    -- Quem migra precisa agir como dono; o superusuário já pode.
    IF NOT (SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN
        EXECUTE format('GRANT core_dono, d6b_dono, d8_dono TO %I', current_user);
    END IF;
    -- Um produtor parado dentro de uma transação segura o horizonte de leitura de todos (regra 3).
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_db_role_setting AS s
                    WHERE s.setrole = 'formigueiro_produtor'::regrole) THEN
        ALTER ROLE formigueiro_produtor SET idle_in_transaction_session_timeout = '30s';
    END IF;
END
$papeis$;

DO $conectar$
BEGIN
    EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
    EXECUTE format('GRANT CONNECT ON DATABASE %I TO formigueiro_app, formigueiro_produtor, formigueiro_dba',
                   current_database());
END
$conectar$;

CREATE SCHEMA core AUTHORIZATION core_dono;
CREATE SCHEMA registro AUTHORIZATION core_dono;

COMMENT ON SCHEMA core IS 'Barramento: event_log, registro de esquemas, cursores, DLQ, ocorrências e agenda.';
COMMENT ON SCHEMA registro IS 'Validadores gerados a partir dos JSON Schemas de sql/eventos; nada aqui é escrito à mão.';

ALTER DEFAULT PRIVILEGES FOR ROLE core_dono REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE d6b_dono REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;
ALTER DEFAULT PRIVILEGES FOR ROLE d8_dono REVOKE EXECUTE ON FUNCTIONS FROM PUBLIC;

GRANT USAGE ON SCHEMA core TO d6b_dono, d8_dono, formigueiro_app, formigueiro_produtor, formigueiro_dba;
GRANT USAGE ON SCHEMA registro TO d6b_dono, d8_dono;
