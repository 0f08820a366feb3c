-- O destino dos prazos de um ciclo, dado pelo evento que os encerra (E08).

CREATE OR REPLACE FUNCTION d6b.encerrar_prazos(p_acompanhamento_id uuid, p_quando timestamptz, p_status text)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_dia CONSTANT date := d6b.dia_dos_prazos(p_quando);
BEGIN
    -- Também o que a varredura já venceu, mas que na hora do evento não passara: ela só rodou antes de ele ser lido.
    UPDATE d6b.prazos AS p
       SET status = CASE WHEN p_status = 'cumprido' AND p.data_estimada < v_dia THEN 'vencido' ELSE p_status END
     WHERE p.acompanhamento_id = p_acompanhamento_id
       AND (p.status = 'vigente' OR (p.status = 'vencido' AND p.data_estimada >= v_dia));
END
$$;

COMMENT ON FUNCTION d6b.encerrar_prazos(uuid, timestamptz, text) IS
'Dá aos prazos que em p_quando ainda corriam o status substituido ou cumprido; o que já passara não se cumpre, vence.
O desfecho não depende de a varredura ter rodado antes de o evento ser lido. Fonte: E08, N51.';
