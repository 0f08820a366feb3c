-- depends: 20260813092442_create_d6b_tables
-- D-6b, seção 2.2: no máximo um acompanhamento ativo por demanda.

SET LOCAL ROLE d6b_dono;

CREATE UNIQUE INDEX uq_d6b_acompanhamento_demanda_ativa
    ON d6b.acompanhamentos (demanda_id)
    WHERE status IN ('aguardando_inicio', 'em_andamento');

RESET ROLE;
