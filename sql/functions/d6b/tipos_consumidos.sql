-- Os tipos que a D-6b consome, um cursor para cada (E06).

CREATE OR REPLACE FUNCTION d6b.tipos_consumidos()
RETURNS text[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT ARRAY['conselheiro.sorteado',
                 'conselheiro.atualização_registrada',
                 'conselheiro.atualização_transcrita',
                 'demanda.conclusao_confirmada',
                 'demanda.recebida']
$$;

COMMENT ON FUNCTION d6b.tipos_consumidos() IS
'Tipos de evento que a D-6b consome. Fonte: D-6b 2.6 e E06.';
