-- depends: core_0004_parametros_e_agenda
-- D-6b, seções 2.1 a 2.6: esquema, tabelas, restrições e índices, à letra da especificação.

CREATE SCHEMA IF NOT EXISTS d6b AUTHORIZATION d6b_dono;

COMMENT ON SCHEMA d6b IS 'D-6b, Relatoria e Acompanhamento: nenhuma outra colônia lê ou escreve aqui.';

GRANT USAGE ON SCHEMA d6b TO formigueiro_app, formigueiro_dba;

SET LOCAL ROLE d6b_dono;

CREATE TABLE d6b.acompanhamentos (
    id                       UUID           PRIMARY KEY DEFAULT gen_random_uuid(),
    demanda_id               UUID           NOT NULL,
    conselheiro_id           UUID           NOT NULL,
    unidade_civica_id        UUID           NOT NULL,
    status                   VARCHAR(20)    NOT NULL DEFAULT 'aguardando_inicio',
    data_sorteio             TIMESTAMPTZ(2) NOT NULL DEFAULT NOW(),
    data_inicio              TIMESTAMPTZ(2),
    data_conclusao           TIMESTAMPTZ(2),
    motivo_encerramento      VARCHAR(30),
    total_atualizacoes       INTEGER        NOT NULL DEFAULT 0,
    texto_resumo_final       TEXT,
    pendencia_conclusao      JSONB,
    event_id_sorteio         UUID           NOT NULL,
    event_id_ultima_alteracao UUID          NOT NULL,
    criado_em                TIMESTAMPTZ(2) NOT NULL DEFAULT NOW(),
    atualizado_em            TIMESTAMPTZ(2) NOT NULL DEFAULT NOW()
);

CREATE INDEX acompanhamentos_conselheiro_id_idx
    ON d6b.acompanhamentos (conselheiro_id);

CREATE INDEX acompanhamentos_demanda_id_status_idx
    ON d6b.acompanhamentos (demanda_id, status);

CREATE INDEX acompanhamentos_unidade_civica_id_status_idx
    ON d6b.acompanhamentos (unidade_civica_id, status);

CREATE INDEX acompanhamentos_event_id_sorteio_idx
    ON d6b.acompanhamentos (event_id_sorteio);

CREATE TABLE d6b.atualizacoes (
    id                       UUID           PRIMARY KEY DEFAULT gen_random_uuid(),
    acompanhamento_id        UUID           NOT NULL,
    demanda_id               UUID           NOT NULL,
    conselheiro_id           UUID           NOT NULL,
    tipo                     VARCHAR(30)    NOT NULL,
    texto_bruto              TEXT           NOT NULL,
    texto_estruturado        TEXT           NOT NULL,
    sugestao_ia              JSONB,
    conteudo_estruturado     JSONB          NOT NULL DEFAULT '{}',
    origem_estruturacao      VARCHAR(20)    NOT NULL DEFAULT 'conselheiro',
    versao_formato           INTEGER        NOT NULL DEFAULT 1,
    sequencia                INTEGER        NOT NULL,
    event_id_publicacao      UUID           NOT NULL,
    correlacao_id            UUID           NOT NULL,
    criado_em                TIMESTAMPTZ(2) NOT NULL DEFAULT NOW(),

    CONSTRAINT atualizacoes_event_id_publicacao_key
        UNIQUE (event_id_publicacao),
    CONSTRAINT atualizacoes_acompanhamento_id_fkey
        FOREIGN KEY (acompanhamento_id) REFERENCES d6b.acompanhamentos (id)
);

CREATE INDEX atualizacoes_acompanhamento_id_idx
    ON d6b.atualizacoes (acompanhamento_id);

CREATE INDEX atualizacoes_demanda_id_idx
    ON d6b.atualizacoes (demanda_id);

CREATE INDEX atualizacoes_conselheiro_id_idx
    ON d6b.atualizacoes (conselheiro_id);

CREATE INDEX atualizacoes_demanda_id_criado_em_idx
    ON d6b.atualizacoes (demanda_id, criado_em);

CREATE TABLE d6b.prazos (
    id                       UUID           PRIMARY KEY DEFAULT gen_random_uuid(),
    acompanhamento_id        UUID           NOT NULL,
    demanda_id               UUID           NOT NULL,
    data_estimada            DATE           NOT NULL,
    descricao                TEXT,
    status                   VARCHAR(20)    NOT NULL DEFAULT 'vigente',
    alerta_enviado           BOOLEAN        NOT NULL DEFAULT false,
    data_alerta              TIMESTAMPTZ(2),
    event_id_atualizacao     UUID           NOT NULL,
    criado_em                TIMESTAMPTZ(2) NOT NULL DEFAULT NOW(),

    CONSTRAINT prazos_event_id_atualizacao_key
        UNIQUE (event_id_atualizacao),
    CONSTRAINT prazos_acompanhamento_id_fkey
        FOREIGN KEY (acompanhamento_id) REFERENCES d6b.acompanhamentos (id)
);

CREATE INDEX prazos_acompanhamento_id_idx
    ON d6b.prazos (acompanhamento_id);

CREATE INDEX prazos_status_data_estimada_idx
    ON d6b.prazos (status, data_estimada);

CREATE TABLE d6b.processed_events (
    event_id     UUID           PRIMARY KEY,
    event_type   VARCHAR(100)   NOT NULL,
    processed_at TIMESTAMPTZ(2) NOT NULL DEFAULT NOW()
);

CREATE INDEX processed_events_event_type_idx
    ON d6b.processed_events (event_type);

CREATE TABLE d6b.consumer_offset (
    tipo_evento    VARCHAR(255)  PRIMARY KEY,
    last_sequence  BIGINT        NOT NULL DEFAULT 0,
    updated_at     TIMESTAMPTZ(2) NOT NULL DEFAULT NOW()
);

RESET ROLE;
