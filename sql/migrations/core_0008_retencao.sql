-- depends: core_0007_rastro
-- A retenção: o que foi redigido do log, até onde ele já foi percorrido, e o trabalho diário.

SET LOCAL ROLE core_dono;

CREATE TABLE core.redacoes (
    sequence_number bigint      NOT NULL,
    campos          text[]      NOT NULL,
    mascarados      text[]      NOT NULL DEFAULT '{}',
    antes_de        timestamptz NOT NULL,
    por             name        NOT NULL DEFAULT session_user,
    redigido_em     timestamptz NOT NULL DEFAULT clock_timestamp(),

    PRIMARY KEY (sequence_number, redigido_em),
    CHECK (cardinality(campos || mascarados) > 0)
);

COMMENT ON TABLE core.redacoes IS
    'De que evento saíram que campos, quando, por quem e a pedido de que data; sem linha aqui, o log não muda.';
COMMENT ON COLUMN core.redacoes.mascarados IS
    'Os campos que ficaram, com CPF, telefone e e-mail mascarados: a D-8 se reconstrói deles (E23).';

GRANT SELECT ON core.redacoes TO formigueiro_dba;

CREATE TABLE core.retencao (
    unico    boolean PRIMARY KEY DEFAULT true CHECK (unico),
    visto    bigint  NOT NULL DEFAULT 0,
    registro text    NOT NULL DEFAULT ''
);

COMMENT ON TABLE core.retencao IS
    'Até onde core.redigir já percorreu o log, e com que campos pessoais no Registro: se estes mudam, recomeça.';

INSERT INTO core.retencao DEFAULT VALUES;
GRANT SELECT ON core.retencao TO formigueiro_dba;

-- Sem o parâmetro dias_guarda_dados_pessoais, que nasce nulo, não faz nada.
INSERT INTO core.agendamentos (nome, cron, comando)
VALUES ('core-retencao', '50 4 * * *', 'CALL core.reter()');

RESET ROLE;
