-- processed_events é o registro de onde a D-8 se reconstrói (E23): o que mudou o estado não sai dele nem muda.

CREATE OR REPLACE FUNCTION d8.guarda_processed_events()
RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION 'O evento % já foi aplicado pela D-8 e não se repete: % recusado.', OLD.event_id, TG_OP
        USING ERRCODE = 'FM409';
END
$$;

COMMENT ON FUNCTION d8.guarda_processed_events() IS
'Gatilho: recusa, com FM409, UPDATE e DELETE da linha de um evento processado; a de um ignorado ou descartado pode sair,
para que core.reprocessar o passe de novo. Fonte: E23.';

CREATE OR REPLACE TRIGGER processed_events_aplicados
    BEFORE UPDATE OR DELETE ON d8.processed_events
    FOR EACH ROW
    WHEN (OLD.resultado = 'processado')
    EXECUTE FUNCTION d8.guarda_processed_events();
