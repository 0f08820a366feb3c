-- depends: d6b_0012_publicacoes core_0008_retencao
-- O registro dos ciclos cujos textos a retenção removeu.

SET LOCAL ROLE d6b_dono;

CREATE TABLE d6b.redacoes (
    acompanhamento_id uuid        PRIMARY KEY REFERENCES d6b.acompanhamentos (id),
    antes_de          timestamptz NOT NULL,
    por               name        NOT NULL DEFAULT session_user,
    redigido_em       timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE d6b.redacoes IS
    'Acompanhamentos encerrados de que a retenção removeu os textos; sem linha aqui, uma atualização não muda.';

-- Os encerrados, por data, para a retenção percorrer em lotes.
CREATE INDEX acompanhamentos_encerrados_idx
    ON d6b.acompanhamentos ((coalesce(data_conclusao, atualizado_em)), id)
    WHERE status NOT IN ('aguardando_inicio', 'em_andamento');

RESET ROLE;
