-- Quem confirma transações, ou roda pelo pg_cron, corre na sessão de outrem, com os padrões do banco e do papel dela: um
-- default_transaction_isolation em serializable, ou um banco só de leitura por omissão, não há de parar a rede.
--
-- Uma função não muda o isolamento da transação em que já está, nem um procedimento sem antes confirmar. E um comando do
-- pg_cron não pode ser dois: juntos, correriam numa transação só, e um CALL não poderia confirmar.

CREATE OR REPLACE PROCEDURE core.preparar_transacao()
LANGUAGE plpgsql
AS $$
BEGIN
    -- Numa réplica tudo é só de leitura, e não há o que pedir.
    IF pg_is_in_recovery()
       OR (current_setting('transaction_isolation') = 'read committed'
           AND current_setting('transaction_read_only') = 'off') THEN
        RETURN;
    END IF;
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE;
END
$$;

COMMENT ON PROCEDURE core.preparar_transacao() IS
'Deixa quem a chama numa transação READ COMMITTED que pode escrever, quaisquer que sejam os padrões da sessão; se já não
estava numa, confirma antes. Quem confirma daí em diante usa COMMIT AND CHAIN, que a mantém assim. Não pode ser chamada
dentro de uma transação. Fonte: regra 3, N69.';

CREATE OR REPLACE FUNCTION core.comando_no_cron(p_comando text)
RETURNS text
LANGUAGE sql
STABLE
AS $$
    -- Um CALL prepara-se por si; outros comandos, como VACUUM, não rodam dentro de um bloco.
    SELECT CASE
               WHEN p_comando ~* '^ *select '
               THEN format('DO %L', format('BEGIN CALL core.preparar_transacao(); EXECUTE %L; END', p_comando))
               ELSE p_comando
           END
$$;

COMMENT ON FUNCTION core.comando_no_cron(text) IS
'O comando de um agendamento como o pg_cron o há de rodar: o mesmo, com core.preparar_transacao() antes se é um SELECT.
Fonte: N69.';

GRANT EXECUTE ON PROCEDURE core.preparar_transacao() TO formigueiro_app, formigueiro_dba;
