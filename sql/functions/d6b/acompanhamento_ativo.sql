-- O acompanhamento ativo de uma demanda, travado: a unidade de exclusão da colônia (E01).

CREATE OR REPLACE FUNCTION d6b.acompanhamento_ativo(p_demanda_id uuid, p_conselheiro_id uuid DEFAULT NULL)
RETURNS d6b.acompanhamentos
LANGUAGE plpgsql
AS $$
DECLARE
    v_acompanhamento d6b.acompanhamentos;
BEGIN
    SELECT * INTO v_acompanhamento
      FROM d6b.acompanhamentos AS a
     WHERE a.demanda_id = p_demanda_id
       AND a.status IN ('aguardando_inicio', 'em_andamento')
       FOR UPDATE;
    IF p_conselheiro_id IS NOT NULL AND v_acompanhamento.conselheiro_id <> p_conselheiro_id THEN
        RETURN NULL;
    END IF;
    RETURN v_acompanhamento;
END
$$;

COMMENT ON FUNCTION d6b.acompanhamento_ativo(uuid, uuid) IS
'Acompanhamento ativo da demanda (e do conselheiro, se dado), com FOR UPDATE até o fim da transação; NULL se não há.
Quem esperou a trava relê a linha já mudada. Fonte: E01, D-6b 6.4.';
