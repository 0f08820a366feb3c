-- depends: core_0003_barramento
-- Parâmetros que as funções leem, relógio simulado, agenda e quem pode publicar por quem.

SET LOCAL ROLE core_dono;

CREATE TABLE core.parametros (
    nome      text  PRIMARY KEY,
    valor     jsonb NOT NULL,
    descricao text  NOT NULL
);

COMMENT ON TABLE core.parametros IS
    'Tudo o que uma função precisa saber de fora; escrita por migrar a partir dos padrões e dos ajustes.';

CREATE TABLE core.relogio (
    unico     boolean     PRIMARY KEY DEFAULT true CHECK (unico),
    simulacao boolean     NOT NULL DEFAULT false,
    quando    timestamptz,

    CONSTRAINT relogio_so_em_simulacao CHECK (quando IS NULL OR simulacao)
);

COMMENT ON TABLE core.relogio IS
    'Relógio da rede: parado em quando se o banco é de simulação e há valor; senão, o do servidor.';

INSERT INTO core.relogio DEFAULT VALUES;

CREATE TABLE core.agendamentos (
    nome            text        PRIMARY KEY,
    cron            text        NOT NULL,
    comando         text        NOT NULL,
    ultima_execucao timestamptz
);

COMMENT ON TABLE core.agendamentos IS
    'Agenda, em UTC: espelhada no pg_cron onde existe; sem ele, o app a cumpre.';

INSERT INTO core.agendamentos (nome, cron, comando)
VALUES ('core-despacho', '* * * * *', 'CALL core.despachar()'),
       ('core-limpeza', '20 4 * * *', 'SELECT core.limpar()'),
       ('d6b-prazos', '0 */6 * * *', 'SELECT d6b.verificar_prazos_proximos()'),
       ('d6b-saidas-conclusao', '* * * * *', 'SELECT d6b.republicar_saidas_conclusao_pendentes()'),
       ('d6b-inativos', '30 9 * * *', 'SELECT d6b.verificar_acompanhamentos_inativos()'),
       ('d8-ciclos', '5 * * * *', 'CALL d8.executar_varredura()');

CREATE TABLE core.produtores (
    papel   name NOT NULL,
    colonia text NOT NULL,

    PRIMARY KEY (papel, colonia)
);

COMMENT ON TABLE core.produtores IS
    'Por quais colônias cada papel de conexão publica; superusuário e donos não precisam de linha.';

GRANT SELECT ON core.parametros, core.relogio TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
GRANT SELECT ON core.agendamentos TO formigueiro_app, formigueiro_dba;
GRANT SELECT ON core.produtores TO formigueiro_dba;

RESET ROLE;
