-- depends: core_0010_reserva d6b_0014_redacao
-- De quanto as filas crescem, medidas de minuto em minuto, e de que sessão é a reserva de cada texto.

SET LOCAL ROLE core_dono;

CREATE TABLE core.medidas_das_filas (
    colonia text        NOT NULL,
    fila    text        NOT NULL CHECK (fila IN ('eventos', 'textos')),
    quando  timestamptz NOT NULL DEFAULT clock_timestamp(),
    tamanho bigint      NOT NULL,

    PRIMARY KEY (colonia, fila, quando)
);

COMMENT ON TABLE core.medidas_das_filas IS
    'Quanto havia por ler e por publicar, a cada minuto da última hora: é por elas que se diz que uma fila cresce (N70).';

GRANT SELECT ON core.medidas_das_filas TO formigueiro_dba;

INSERT INTO core.agendamentos (nome, cron, comando)
VALUES ('core-filas', '* * * * *', 'SELECT core.medir_filas()');

RESET ROLE;

SET LOCAL ROLE d6b_dono;

ALTER TABLE d6b.publicacoes_pendentes
    ADD COLUMN reserva_pid int;

COMMENT ON COLUMN d6b.publicacoes_pendentes.reserva_pid IS
    'Processo, no servidor, da sessão que fez a reserva: acabada ela, a reserva acaba (N71).';

RESET ROLE;
