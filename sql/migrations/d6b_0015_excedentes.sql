-- depends: d6b_0014_redacao
-- O que veio depois do teto de atualizações de um ciclo (E12): dito uma vez por ciclo, e daí em diante só contado.

SET LOCAL ROLE d6b_dono;

CREATE TABLE d6b.atualizacoes_excedentes (
    event_id          uuid           PRIMARY KEY,
    acompanhamento_id uuid           NOT NULL REFERENCES d6b.acompanhamentos (id),
    criado_em         timestamptz(2) NOT NULL
);

COMMENT ON TABLE d6b.atualizacoes_excedentes IS
    'Atualizações descartadas por passarem do teto do ciclo, uma por linha; core.reprocessar as roda de novo (E12).';

CREATE INDEX atualizacoes_excedentes_acompanhamento_idx ON d6b.atualizacoes_excedentes (acompanhamento_id);

GRANT SELECT ON d6b.atualizacoes_excedentes TO formigueiro_dba;

RESET ROLE;
