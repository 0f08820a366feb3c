-- depends: core_0004_parametros_e_agenda
-- D-8, seções 2.1 e 2.6.

CREATE SCHEMA IF NOT EXISTS d8 AUTHORIZATION d8_dono;

COMMENT ON SCHEMA d8 IS 'D-8, Manutenção Programada: nenhuma outra colônia lê ou escreve aqui.';

GRANT USAGE ON SCHEMA d8 TO formigueiro_app, formigueiro_dba;
