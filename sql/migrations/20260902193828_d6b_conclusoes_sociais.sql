-- depends: 20260815163000_d6b_unique_acompanhamento_ativo
-- D-6b, seção 2.7: guarda de sorteio tardio.

SET LOCAL ROLE d6b_dono;

CREATE TABLE d6b.conclusoes_sociais (
    demanda_id UUID           PRIMARY KEY,
    evento_id  UUID           NOT NULL,
    criado_em  TIMESTAMPTZ(2) NOT NULL DEFAULT NOW(),

    CONSTRAINT conclusoes_sociais_evento_id_key
        UNIQUE (evento_id)
);

RESET ROLE;
