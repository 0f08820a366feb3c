-- O log é só de acréscimo: nada muda nem sai dele, nem por quem tem direito de escrita na tabela.
--
-- A única mudança que passa é a da retenção: o payload que core._redigir_payload dá, nem mais nem menos, e só se
-- core.redacoes registra o que ele perdeu.

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
BEGIN
    IF NEW.payload = core._redigir_payload(OLD.tipo, OLD.versao_schema, OLD.payload)
       AND to_jsonb(NEW) - 'payload' = to_jsonb(OLD) - 'payload'
       AND EXISTS (SELECT
                     FROM core.redacoes AS r
                    WHERE r.sequence_number = OLD.sequence_number
                      AND r.campos = coalesce(core._campos_a_redigir(OLD.tipo, OLD.versao_schema, OLD.payload), '{}')
                      AND r.mascarados = coalesce(core._campos_a_mascarar(OLD.tipo, OLD.payload), '{}')) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '%.% é só de acréscimo: % recusado.', TG_TABLE_SCHEMA, TG_TABLE_NAME, TG_OP
        USING ERRCODE = 'FM409';
END
$$;

COMMENT ON FUNCTION core.guarda_redacao() IS
'Gatilho: recusa, com FM409, qualquer UPDATE de um evento que não seja a redação dele (core._redigir_payload), registrada
em core.redacoes com os mesmos campos.';

CREATE OR REPLACE TRIGGER event_log_so_redacao
    BEFORE UPDATE ON core.event_log
    FOR EACH ROW
    EXECUTE FUNCTION core.guarda_redacao();
