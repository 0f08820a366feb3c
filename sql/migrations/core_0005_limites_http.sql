-- depends: core_0004_parametros_e_agenda
-- Limites de requisições por cidadão e rota, que valem para todos os processos do app (D-6b 6.1), e o que a
-- prontidão precisa ler.

SET LOCAL ROLE core_dono;

-- UNLOGGED: uma queda do servidor só devolve a cada um o seu limite inteiro, e contar não custa WAL.
CREATE UNLOGGED TABLE core.limites (
    chave    text          PRIMARY KEY,
    marcas   timestamptz[] NOT NULL,
    vence_em timestamptz   NOT NULL
);

COMMENT ON TABLE core.limites IS
    'Consumo recente de cada limite, escrito só por core.consumir_limite; nada aqui precisa durar.';
COMMENT ON COLUMN core.limites.marcas IS
    'Horas dos últimos consumos aceitos, da mais antiga à mais nova; nunca mais que o limite.';
COMMENT ON COLUMN core.limites.vence_em IS
    'Hora em que nenhuma marca conta mais e a linha pode sair.';

CREATE INDEX limites_vence_em_idx ON core.limites (vence_em);

RESET ROLE;

-- core.prontidao diz se faltam migrações; o registro delas é de quem migra.
GRANT USAGE ON SCHEMA migracoes TO core_dono;
GRANT SELECT ON migracoes.conteudo TO core_dono;
