-- depends: d6b_0012_publicacoes
-- Medidas da D-6b: as que custam uma leitura das tabelas inteiras são apuradas de tempos em tempos, e a coleta só lê o
-- resultado. Os sorteios tardios (E09), que alguém há de desfazer na D-6a, ficam um por linha.

SET LOCAL ROLE d6b_dono;

CREATE TABLE d6b.medidas (
    nome       text        NOT NULL,
    rotulos    jsonb       NOT NULL DEFAULT '{}',
    valor      float8      NOT NULL,
    apurada_em timestamptz NOT NULL,

    PRIMARY KEY (nome, rotulos)
);

COMMENT ON TABLE d6b.medidas IS
    'Última apuração de cada medida cara; escrita só por d6b.apurar_medidas.';

CREATE TABLE d6b.sorteios_tardios (
    event_id       uuid           PRIMARY KEY,
    demanda_id     uuid           NOT NULL,
    conselheiro_id uuid           NOT NULL,
    criado_em      timestamptz(2) NOT NULL
);

COMMENT ON TABLE d6b.sorteios_tardios IS
    'Sorteios de demandas já concluídas: nada abriram, e a D-6a ainda tem o conselheiro por ocupado (E09).';

GRANT SELECT ON d6b.sorteios_tardios TO formigueiro_dba;

RESET ROLE;
