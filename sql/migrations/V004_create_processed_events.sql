-- depends: V003_create_historico_manutencoes
-- D-8, seção 2.4: idempotência; sem expiração, pois é a ordem de aplicação para reconstruir (E23).

SET LOCAL ROLE d8_dono;

CREATE TABLE d8.processed_events (
    id              BIGSERIAL       PRIMARY KEY,
    event_id        UUID            NOT NULL,
    tipo_evento     VARCHAR(150)    NOT NULL,
    processed_at    TIMESTAMPTZ     NOT NULL DEFAULT NOW(),

    CONSTRAINT uq_d8_processed_events_event
        UNIQUE (event_id)
);

RESET ROLE;
