-- Os tipos que a D-8 consome, um cursor para cada.

CREATE OR REPLACE FUNCTION d8.tipos_consumidos()
RETURNS text[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT ARRAY['demanda.concluída',
                 'manutenção.executada',
                 'demanda.recebida']
$$;

COMMENT ON FUNCTION d8.tipos_consumidos() IS
'Tipos de evento que a D-8 consome. Fonte: D-8 4.5.';
