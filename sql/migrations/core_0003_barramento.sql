-- depends: core_0002_registro
-- O barramento: o log de eventos, quem o lê e até onde, e o que não pôde ser tratado (regras 1 a 6).

SET LOCAL ROLE core_dono;

CREATE TABLE core.event_log (
    sequence_number bigint      GENERATED ALWAYS AS IDENTITY (CACHE 1) PRIMARY KEY,
    event_id        uuid        NOT NULL,
    tipo            text        NOT NULL,
    origem          text        NOT NULL,
    versao_schema   text        NOT NULL,
    correlacao_id   uuid        NOT NULL,
    chave           text        NOT NULL,
    payload         jsonb       NOT NULL,
    publicado_em    timestamptz NOT NULL,
    impressao       bytea       NOT NULL,

    CONSTRAINT event_log_event_id_key UNIQUE (event_id)
);

-- Quase todo payload cabe em meia página: sem compressão, publicar custa menos, e ler um campo não a desfaz a cada vez.
ALTER TABLE core.event_log SET (toast_tuple_target = 4080);

COMMENT ON TABLE core.event_log IS 'Todos os eventos da rede, só de acréscimo; publique por core.publicar.';
COMMENT ON COLUMN core.event_log.chave IS
    'demanda_id do payload, em minúsculas, ou o event_id quando não há: a unidade da ordem (regra 4).';
COMMENT ON COLUMN core.event_log.impressao IS
    'SHA-256 de tipo, versão e payload: distingue a reentrega do mesmo evento de um event_id reusado.';

-- replay_de_sequence pede poucos tipos a partir de uma posição.
CREATE INDEX event_log_tipo_sequence_idx ON core.event_log (tipo, sequence_number);
-- linha_do_tempo lê a história de uma demanda em ordem.
CREATE INDEX event_log_chave_sequence_idx ON core.event_log (chave, sequence_number);

CREATE TABLE core.consumidores (
    colonia           text        PRIMARY KEY,
    esquema           name        NOT NULL UNIQUE,
    ordem             int         NOT NULL UNIQUE,
    posicao           bigint      NOT NULL DEFAULT 0,
    horizonte         bigint      NOT NULL DEFAULT 0,
    lacuna_ate        bigint,
    lacuna_detentores text[],
    lacuna_desde      timestamptz,
    reserva_vxid      text,
    reserva_limite    int,
    isolado_ate       bigint,
    mortes            int         NOT NULL DEFAULT 0,
    atualizado_em     timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE core.consumidores IS
    'Uma linha por colônia: até onde leu (posicao) e até onde é seguro ler (horizonte, regra 3).';
COMMENT ON COLUMN core.consumidores.lacuna_ate IS
    'Número até o qual há lacunas à espera de que lacuna_detentores (transações virtuais) terminem.';

COMMENT ON COLUMN core.consumidores.reserva_vxid IS
    'Transação virtual do lote em curso; se ela não existe mais e a reserva ficou, o lote morreu (regra 4).';
COMMENT ON COLUMN core.consumidores.isolado_ate IS
    'Número até o qual os eventos rodam um por transação, porque o lote que os levava morreu.';
COMMENT ON COLUMN core.consumidores.mortes IS
    'Quantas vezes o evento da vez, sozinho, levou consigo quem o tratava.';

INSERT INTO core.consumidores (colonia, esquema, ordem)
VALUES ('D-6b', 'd6b', 1),
       ('D-8', 'd8', 2);

CREATE TABLE core.dlq (
    id                bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Sem chave estrangeira: ela travaria a linha que o despachante segura, e quem guarda uma saída já segura a demanda.
    colonia           text        NOT NULL,
    especie           text        NOT NULL CHECK (especie IN ('evento', 'saida')),
    event_id          uuid        NOT NULL,
    sequence_number   bigint      NOT NULL,
    tipo              text        NOT NULL,
    chave             text        NOT NULL,
    estado            text        NOT NULL DEFAULT 'pendente'
                          CHECK (estado IN ('pendente', 'em_espera', 'resolvida', 'descartada')),
    tentativas        int         NOT NULL DEFAULT 0,
    proxima_tentativa timestamptz,
    sqlstate          text,
    ultimo_erro       text,
    saida             jsonb,
    motivo            text,
    criado_em         timestamptz NOT NULL DEFAULT clock_timestamp(),
    atualizado_em     timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT dlq_saida_da_especie CHECK ((especie = 'saida') = (saida IS NOT NULL))
);

COMMENT ON TABLE core.dlq IS
    'O que não pôde ser tratado ou publicado: nunca se perde, espera em ordem por chave (regras 4 e 5).';
COMMENT ON COLUMN core.dlq.sequence_number IS
    'Do evento que falhou ou que causou a saída: segura o cursor de seu tipo abaixo dele.';
COMMENT ON COLUMN core.dlq.proxima_tentativa IS
    'Nula no que não é tentado sozinho: o que espera outro de sua chave e o que matou quem o tratava.';
COMMENT ON COLUMN core.dlq.saida IS
    '{tipo, versao_schema, event_id, correlacao_id, payload} da saída por publicar; nula na espécie evento.';

-- O que está em aberto é pouco, e é só o que as perguntas quentes procuram: há pendência desta chave? e deste tipo?
CREATE INDEX dlq_aberta_chave_idx ON core.dlq (colonia, chave, sequence_number, id)
    WHERE estado IN ('pendente', 'em_espera');
CREATE INDEX dlq_aberta_tipo_idx ON core.dlq (colonia, tipo, sequence_number)
    WHERE estado IN ('pendente', 'em_espera');
CREATE UNIQUE INDEX dlq_evento_aberto_key ON core.dlq (colonia, event_id)
    WHERE especie = 'evento' AND estado IN ('pendente', 'em_espera');
CREATE INDEX dlq_proxima_tentativa_idx ON core.dlq (colonia, proxima_tentativa)
    WHERE estado = 'pendente';

CREATE TABLE core.ocorrencias (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    nivel      text        NOT NULL CHECK (nivel IN ('info', 'aviso', 'erro')),
    colonia    text,
    event_id   uuid,
    demanda_id uuid,
    mensagem   text        NOT NULL,
    contexto   jsonb       NOT NULL DEFAULT '{}',
    criado_em  timestamptz NOT NULL DEFAULT clock_timestamp()
);

COMMENT ON TABLE core.ocorrencias IS
    'O que foi descartado ou merece atenção, na mesma transação que o decidiu (regra 6).';

CREATE INDEX ocorrencias_demanda_id_idx ON core.ocorrencias (demanda_id, id) WHERE demanda_id IS NOT NULL;
CREATE INDEX ocorrencias_event_id_idx ON core.ocorrencias (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX ocorrencias_criado_em_idx ON core.ocorrencias (criado_em);

GRANT SELECT ON core.event_log, core.consumidores, core.dlq TO d6b_dono, d8_dono;
GRANT UPDATE ON core.consumidores TO d6b_dono, d8_dono;
GRANT INSERT, UPDATE ON core.dlq TO d6b_dono, d8_dono;
GRANT SELECT ON core.event_log, core.consumidores, core.dlq, core.ocorrencias TO formigueiro_dba;
GRANT SELECT ON core.consumidores TO formigueiro_app;

RESET ROLE;
