-- depends: 0011_d6b_resumo_ciclo
-- O que a seção 5 do projeto acrescenta à D-6b: fila e registro das publicações (E02, E05), demandas de
-- manutenção (E06) e o índice da varredura de saídas.

SET LOCAL ROLE d6b_dono;

CREATE TABLE d6b.publicacoes_pendentes (
    atualizacao_id    uuid        PRIMARY KEY REFERENCES d6b.atualizacoes (id),
    acompanhamento_id uuid        NOT NULL REFERENCES d6b.acompanhamentos (id),
    sequencia         int         NOT NULL,
    especie           text        NOT NULL CHECK (especie IN ('atualizacao', 'fecho')),
    reserva           uuid,
    reservada_ate     timestamptz,
    tentativas        int         NOT NULL DEFAULT 0,
    proxima_tentativa timestamptz NOT NULL DEFAULT clock_timestamp(),
    ultimo_erro       text,
    criado_em         timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT publicacoes_pendentes_ordem_key UNIQUE (acompanhamento_id, sequencia)
);

COMMENT ON TABLE d6b.publicacoes_pendentes IS
    'Textos à espera do Python, em ordem de sequência dentro do acompanhamento (E02); fecho é o resumo final (E04).';

CREATE TABLE d6b.publicacoes (
    atualizacao_id    uuid           PRIMARY KEY REFERENCES d6b.atualizacoes (id),
    acompanhamento_id uuid           NOT NULL REFERENCES d6b.acompanhamentos (id),
    sequencia         int            NOT NULL,
    event_id          uuid           NOT NULL,
    versao_schema     text           NOT NULL,
    conteudo_suspeito boolean        NOT NULL,
    descricao         text           NOT NULL,
    publicada_em      timestamptz(2) NOT NULL,

    CONSTRAINT publicacoes_event_id_key UNIQUE (event_id)
);

COMMENT ON TABLE d6b.publicacoes IS
    'Uma linha por conselheiro.atualização_publicada: o que entra no resumo do ciclo (E05).';

-- Resumo do ciclo: as publicações de um acompanhamento, em ordem.
CREATE INDEX publicacoes_acompanhamento_idx ON d6b.publicacoes (acompanhamento_id, sequencia);

CREATE TABLE d6b.demandas_manutencao (
    demanda_id          uuid           PRIMARY KEY,
    projeto_original_id uuid           NOT NULL,
    profundidade        int            NOT NULL DEFAULT 0,
    categoria           text,
    subcategoria        text,
    localizacao         jsonb,
    evento_id           uuid           NOT NULL,
    criado_em           timestamptz(2) NOT NULL
);

COMMENT ON TABLE d6b.demandas_manutencao IS
    'Demandas nascidas da D-8 (demanda.recebida com origem manutenção_programada), guardadas para a conclusão (E06).';

-- A varredura de saídas roda a cada minuto e quase nunca há pendência: o índice parcial a torna gratuita.
CREATE INDEX acompanhamentos_saidas_pendentes_idx
    ON d6b.acompanhamentos (data_conclusao)
    WHERE saidas_conclusao_pendentes;

RESET ROLE;
