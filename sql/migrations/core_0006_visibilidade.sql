-- depends: core_0005_limites_http
-- O que a visibilidade pede ao núcleo: quando cada agendamento acabou bem, e as medidas apuradas de tempos em tempos.

SET LOCAL ROLE core_dono;

ALTER TABLE core.agendamentos
    ADD COLUMN criado_em        timestamptz NOT NULL DEFAULT clock_timestamp(),
    ADD COLUMN ultima_conclusao timestamptz;

COMMENT ON COLUMN core.agendamentos.ultima_execucao IS
    'Última hora marcada que o app tomou para si; nula se quem cumpre a agenda é o pg_cron.';
COMMENT ON COLUMN core.agendamentos.ultima_conclusao IS
    'Quando o trabalho acabou bem pela última vez, fosse quem fosse que o chamou; escrita só por core.marcar_execucao.';

INSERT INTO core.agendamentos (nome, cron, comando)
VALUES ('d6b-medidas', '*/5 * * * *', 'SELECT d6b.apurar_medidas()'),
       ('d8-medidas', '*/5 * * * *', 'SELECT d8.apurar_medidas()');

RESET ROLE;
