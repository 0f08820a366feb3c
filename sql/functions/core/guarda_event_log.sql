-- O log é só de acréscimo: nada muda nem sai dele, nem por quem tem direito de escrita na tabela.
--
-- A única mudança que passa é a da retenção: perder campos que o Registro diz pessoais, e que core.redacoes registra.

CREATE OR REPLACE FUNCTION core.guarda_event_log()
RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION '%.% é só de acréscimo: % recusado.', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'FM409';
END
$$;

COMMENT ON FUNCTION core.guarda_event_log() IS
'Gatilho: recusa, com FM409, DELETE e TRUNCATE em core.event_log, e também UPDATE em core.redacoes.';

CREATE OR REPLACE TRIGGER event_log_so_acrescimo
    BEFORE DELETE OR TRUNCATE ON core.event_log
    FOR EACH STATEMENT
    EXECUTE FUNCTION core.guarda_event_log();

CREATE OR REPLACE TRIGGER redacoes_so_acrescimo
    BEFORE UPDATE OR DELETE OR TRUNCATE ON core.redacoes
    FOR EACH STATEMENT
    EXECUTE FUNCTION core.guarda_event_log();

CREATE OR REPLACE FUNCTION core.guarda_redacao()
RETURNS trigger
LANGUAGE plpgsql
AS $$
DECLARE
    v_campos text[];
BEGIN
    SELECT array_agg(c.campo)
      INTO v_campos
      FROM core.redacoes AS r
     CROSS JOIN LATERAL unnest(r.campos) AS c (campo)
     WHERE r.sequence_number = OLD.sequence_number
       AND c.campo IN (SELECT unnest(e.campos_pessoais)
                         FROM core.esquemas AS e
                        WHERE e.tipo = OLD.tipo
                          AND e.versao = OLD.versao_schema);
    IF NEW.payload = OLD.payload - v_campos AND to_jsonb(NEW) - 'payload' = to_jsonb(OLD) - 'payload' THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '%.% é só de acréscimo: % recusado.', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'FM409';
END
$$;

COMMENT ON FUNCTION core.guarda_redacao() IS
'Gatilho: recusa, com FM409, qualquer UPDATE de um evento que não seja perder os campos pessoais (x-campos-pessoais do
Registro) que core.redacoes registra para ele.';

CREATE OR REPLACE TRIGGER event_log_so_redacao
    BEFORE UPDATE ON core.event_log
    FOR EACH ROW
    EXECUTE FUNCTION core.guarda_redacao();
