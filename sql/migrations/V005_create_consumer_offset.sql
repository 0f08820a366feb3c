-- depends: V004_create_processed_events
-- D-8, seção 2.5: cursores; o seed é de runtime (V006 da especificação).

SET LOCAL ROLE d8_dono;

CREATE TABLE d8.consumer_offset (
    tipo_evento     VARCHAR(150)    PRIMARY KEY,
    last_sequence   BIGINT          NOT NULL DEFAULT 0,
    updated_at      TIMESTAMPTZ     NOT NULL DEFAULT NOW()
);

RESET ROLE;
