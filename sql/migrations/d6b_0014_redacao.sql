-- depends: d6b_0012_publicacoes core_0008_retencao
-- De que ciclos a retenção já removeu os textos.

SET LOCAL ROLE d6b_dono;

ALTER TABLE d6b.acompanhamentos
    ADD COLUMN redigido_em  timestamptz,
    ADD COLUMN redigido_por name;

COMMENT ON COLUMN d6b.acompanhamentos.redigido_em IS
    'Quando a retenção removeu os textos do ciclo; nulo, e uma atualização dele não muda.';
COMMENT ON COLUMN d6b.acompanhamentos.redigido_por IS
    'O papel que pediu essa retenção.';

-- Os encerrados por redigir, por data: o lote seguinte da retenção, sem passar pelos que já foram.
CREATE INDEX acompanhamentos_por_redigir_idx
    ON d6b.acompanhamentos ((coalesce(data_conclusao, atualizado_em)), id)
    WHERE redigido_em IS NULL AND status NOT IN ('aguardando_inicio', 'em_andamento');

RESET ROLE;
