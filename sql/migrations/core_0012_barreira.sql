-- depends: core_0010_reserva
-- Até onde nenhum evento há de receber número (regra 3), e o que a instalação deixou de cada objeto (regra 8).

SET LOCAL ROLE core_dono;

-- O nome vem antes do da sequência do log: o pg_dump lê as sequências em ordem e fora do seu instante, e uma barreira lida
-- depois passaria do que a cópia leva.
CREATE SEQUENCE core.barreira_d6b MINVALUE 0;
CREATE SEQUENCE core.barreira_d8 MINVALUE 0;

COMMENT ON SEQUENCE core.barreira_d6b IS
    'Número até o qual a D-6b já passou, ou está por passar, todas as lacunas do log; ver core._barreira.';
COMMENT ON SEQUENCE core.barreira_d8 IS
    'Número até o qual a D-8 já passou, ou está por passar, todas as lacunas do log; ver core._barreira.';

CREATE TABLE core.objetos (
    especie  text   NOT NULL,
    nome     text   NOT NULL,
    dono     name   NOT NULL,
    direitos text[] NOT NULL,
    ajustes  text   NOT NULL,

    PRIMARY KEY (especie, nome)
);

COMMENT ON TABLE core.objetos IS
    'Cada objeto do projeto como migrar o deixou: dono, direitos e ajustes; escrita só por core.fotografar_objetos.';

RESET ROLE;
