-- O log é só de acréscimo: nada muda nem sai dele, nem por quem tem direito de escrita na tabela.

CREATE OR REPLACE FUNCTION core.guarda_event_log()
RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'core.event_log é só de acréscimo: % recusado.', TG_OP
        USING ERRCODE = 'FM409';
END
$$;

COMMENT ON FUNCTION core.guarda_event_log() IS
'Gatilho: recusa UPDATE, DELETE e TRUNCATE em core.event_log com FM409.';

CREATE OR REPLACE TRIGGER event_log_so_acrescimo
    BEFORE UPDATE OR DELETE OR TRUNCATE ON core.event_log
    FOR EACH STATEMENT
    EXECUTE FUNCTION core.guarda_event_log();
