-- depends: V002_create_projetos_monitorados
-- D-8, seção 2.3: um registro por ciclo gerado.

SET LOCAL ROLE d8_dono;

CREATE TABLE d8.historico_manutencoes (
    id                       UUID           PRIMARY KEY DEFAULT gen_random_uuid(),
    projeto_id               UUID           NOT NULL,
    demanda_manutencao_id    UUID           NOT NULL,
    ciclo_numero             INTEGER        NOT NULL,
    data_geracao             TIMESTAMPTZ    NOT NULL DEFAULT NOW(),
    data_prevista            TIMESTAMPTZ    NOT NULL,
    data_tolerancia          TIMESTAMPTZ    NOT NULL,
    data_conclusao           TIMESTAMPTZ,
    status                   VARCHAR(20)    NOT NULL DEFAULT 'gerada'
                                 CHECK (status IN (
                                     'gerada', 'em_andamento',
                                     'concluida', 'vencida', 'cancelada'
                                 )),
    conselheiro_id           UUID,
    dossie_montado           JSONB          NOT NULL DEFAULT '{}',
    peso_atraso              NUMERIC(5,4)   NOT NULL DEFAULT 0,
    event_id_geracao         UUID           NOT NULL,
    event_id_ultima_alteracao UUID          NOT NULL,
    criado_em                TIMESTAMPTZ    NOT NULL DEFAULT NOW(),
    atualizado_em            TIMESTAMPTZ    NOT NULL DEFAULT NOW()
);

CREATE INDEX idx_d8_historico_projeto
    ON d8.historico_manutencoes (projeto_id);

CREATE INDEX idx_d8_historico_demanda
    ON d8.historico_manutencoes (demanda_manutencao_id);

CREATE INDEX idx_d8_historico_status
    ON d8.historico_manutencoes (projeto_id, status);

CREATE INDEX idx_d8_historico_event_geracao
    ON d8.historico_manutencoes (event_id_geracao);

RESET ROLE;
