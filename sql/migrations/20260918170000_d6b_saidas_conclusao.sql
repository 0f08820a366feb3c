-- depends: 20260902193828_d6b_conclusoes_sociais
-- D-6b, seção 2.8: snapshot das saídas de conclusão.

SET LOCAL ROLE d6b_dono;

ALTER TABLE d6b.acompanhamentos
    ADD COLUMN saidas_conclusao JSONB,
    ADD COLUMN saidas_conclusao_pendentes BOOLEAN NOT NULL DEFAULT false;

RESET ROLE;
