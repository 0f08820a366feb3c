-- depends: core_0009_leitura
-- A reserva diz também que sessão a fez e que evento ia sozinho nela; e o que se relê fica à parte da posição.

SET LOCAL ROLE core_dono;

ALTER TABLE core.consumidores
    ADD COLUMN reserva_pid    int,
    ADD COLUMN reserva_em     timestamptz,
    ADD COLUMN reserva_evento bigint,
    ADD COLUMN relendo        jsonb NOT NULL DEFAULT '{}';

COMMENT ON COLUMN core.consumidores.posicao IS
    'Até onde a colônia leu; só avança. O que alguém manda reler fica em relendo.';
COMMENT ON COLUMN core.consumidores.relendo IS
    '{tipo: até onde já foi relido} dos tipos cujo cursor foi recuado, enquanto não alcançam posicao (regra 4).';
COMMENT ON COLUMN core.consumidores.reserva_evento IS
    'Evento que ia sozinho no último lote de um: é dele que mortes conta.';

RESET ROLE;
