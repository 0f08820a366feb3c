-- depends: core_0005_limites_http
-- O que a linha do tempo de uma demanda precisa: a história das tentativas da DLQ e os índices para achar o que é dela
-- sem ler o log inteiro.

SET LOCAL ROLE core_dono;

CREATE TABLE core.dlq_tentativas (
    dlq_id    bigint      NOT NULL,  -- sem chave estrangeira, como em core.dlq: nada aqui há de travar a entrada
    numero    int         NOT NULL,
    quando    timestamptz NOT NULL DEFAULT clock_timestamp(),
    por       name        NOT NULL DEFAULT session_user,
    resultado text        NOT NULL,
    sqlstate  text,

    PRIMARY KEY (dlq_id, numero)
);

COMMENT ON TABLE core.dlq_tentativas IS
    'Cada nova tentativa de uma entrada da DLQ e no que deu; um número que falta é de quem morreu tentando.';
COMMENT ON COLUMN core.dlq_tentativas.resultado IS
    'O resultado do handler, publicada, ou falhou: e o erro.';

GRANT SELECT, INSERT ON core.dlq_tentativas TO d6b_dono, d8_dono;
GRANT SELECT ON core.dlq_tentativas TO formigueiro_dba;

CREATE INDEX dlq_tentativas_quando_idx ON core.dlq_tentativas (quando);
-- As entradas de uma demanda, abertas ou não; o índice das abertas é outro, e menor.
CREATE INDEX dlq_chave_idx ON core.dlq (chave, id);

-- Eventos sem demanda_id no payload que falam de uma: a transcrição, pelo evento que ela transcreve, e o encerramento de
-- um projeto, pela demanda original. São poucos, e o índice é só deles.
CREATE INDEX event_log_referencia_idx
    ON core.event_log (lower(coalesce(payload ->> 'demanda_original_id', payload ->> 'atualizacao_event_id')))
    WHERE chave = event_id::text;

RESET ROLE;
