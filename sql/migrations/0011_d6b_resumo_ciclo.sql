-- depends: 20260918170000_d6b_saidas_conclusao
-- D-6b, seção 2.8: resumo público do ciclo.

SET LOCAL ROLE d6b_dono;

ALTER TABLE d6b.acompanhamentos
    ADD COLUMN texto_resumo_ciclo TEXT;

RESET ROLE;
