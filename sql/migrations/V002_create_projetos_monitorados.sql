-- depends: V001_create_schema
-- D-8, seção 2.2: projetos com plano de manutenção.

SET LOCAL ROLE d8_dono;

CREATE TABLE d8.projetos_monitorados (
    id                       UUID           PRIMARY KEY DEFAULT gen_random_uuid(),
    demanda_original_id      UUID           NOT NULL,
    categoria                VARCHAR(100)   NOT NULL,
    subcategoria             VARCHAR(100),
    localizacao              JSONB          NOT NULL DEFAULT '{}',
    uc_id                    UUID           NOT NULL,
    plano_manutencao         JSONB          NOT NULL,
    profundidade             INTEGER        NOT NULL DEFAULT 0
                                 CHECK (profundidade >= 0 AND profundidade <= 2),
    dossie_original          JSONB          NOT NULL DEFAULT '{}',
    proximo_ciclo            TIMESTAMPTZ    NOT NULL,
    ciclo_atual              INTEGER        NOT NULL DEFAULT 0,
    status                   VARCHAR(20)    NOT NULL DEFAULT 'ativo'
                                 CHECK (status IN ('ativo', 'encerrado', 'pausado')),
    data_encerramento        TIMESTAMPTZ,
    motivo_encerramento      VARCHAR(50),
    event_id_origem          UUID           NOT NULL,
    event_id_ultima_alteracao UUID          NOT NULL,
    criado_em                TIMESTAMPTZ    NOT NULL DEFAULT NOW(),
    atualizado_em            TIMESTAMPTZ    NOT NULL DEFAULT NOW(),

    CONSTRAINT uq_d8_projetos_demanda_original
        UNIQUE (demanda_original_id)
);

CREATE INDEX idx_d8_projetos_status_proximo_ciclo
    ON d8.projetos_monitorados (status, proximo_ciclo)
    WHERE status = 'ativo';

CREATE INDEX idx_d8_projetos_uc
    ON d8.projetos_monitorados (uc_id);

CREATE INDEX idx_d8_projetos_categoria
    ON d8.projetos_monitorados (categoria);

CREATE INDEX idx_d8_projetos_event_origem
    ON d8.projetos_monitorados (event_id_origem);

RESET ROLE;
