-- depends: V007_d8_acrescimos
-- Medidas da D-8: apuradas de tempos em tempos, pois custam uma leitura das tabelas inteiras.

SET LOCAL ROLE d8_dono;

CREATE TABLE d8.medidas (
    nome       text        NOT NULL,
    rotulos    jsonb       NOT NULL DEFAULT '{}',
    valor      float8      NOT NULL,
    apurada_em timestamptz NOT NULL,

    PRIMARY KEY (nome, rotulos)
);

COMMENT ON TABLE d8.medidas IS
    'Última apuração de cada medida cara; escrita só por d8.apurar_medidas.';

RESET ROLE;
