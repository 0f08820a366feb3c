-- depends: core_0001_papeis
-- O Registro (N-0b): um JSON Schema por tipo e versão de evento. Os validadores ficam no esquema registro.

SET LOCAL ROLE core_dono;

CREATE TABLE core.esquemas (
    tipo            text        NOT NULL CHECK (tipo IS NFC NORMALIZED),
    versao          text        NOT NULL CHECK (versao ~ '^[0-9]+[.][0-9]+[.][0-9]+$'),
    esquema         jsonb       NOT NULL,
    produtores      text[]      NOT NULL CHECK (cardinality(produtores) > 0),
    campos_pessoais text[]      NOT NULL DEFAULT '{}',
    carregado_em    timestamptz NOT NULL DEFAULT clock_timestamp(),

    PRIMARY KEY (tipo, versao)
);

COMMENT ON TABLE core.esquemas IS
    'JSON Schema (draft 2020-12) de cada tipo e versão de evento; escrita só por core.carregar_esquema.';
COMMENT ON COLUMN core.esquemas.produtores IS
    'Colônias que podem publicar o evento (x-produtores).';
COMMENT ON COLUMN core.esquemas.campos_pessoais IS
    'Campos do payload que a retenção remove (x-campos-pessoais).';

GRANT SELECT ON core.esquemas TO d6b_dono, d8_dono, formigueiro_dba;

RESET ROLE;
