-- O tempo da D-8. Um dia de plano são 24 horas, e não um dia de calendário: nada depende do TimeZone (regra 10).

CREATE OR REPLACE FUNCTION d8.mais_dias(p_quando timestamptz, p_dias int)
RETURNS timestamptz
LANGUAGE sql
STABLE
PARALLEL SAFE
AS $$
    -- Um prazo pode cair além do ano 9999; só não se soma ao infinito, nem ao fim do que o banco conta.
    SELECT CASE
               WHEN p_quando NOT BETWEEN timestamptz '4000-01-01 00:00:00+00 BC' AND timestamptz '100000-01-01 00:00:00+00'
               THEN core.recusar(p_quando, 'quando', 'uma data-hora finita')
               ELSE p_quando + CASE WHEN p_dias NOT BETWEEN -4000000 AND 4000000
                                    THEN core.recusar(p_dias, 'dias', 'um número de -4000000 a 4000000')
                                    ELSE p_dias END * interval '24 hours'
           END
$$;

COMMENT ON FUNCTION d8.mais_dias(timestamptz, int) IS
'p_quando mais p_dias de 24 horas (os 86400000 ms da especificação); NULL de nulo. Erros: FM422 hora infinita
ou a milênios daqui, ou dias que a levassem a isso.';

CREATE OR REPLACE FUNCTION d8.dias_de_atraso(p_prevista timestamptz, p_geracao timestamptz)
RETURNS int
LANGUAGE sql
STABLE
PARALLEL SAFE
AS $$
    SELECT CASE
               WHEN least(p_prevista, p_geracao) < timestamptz '4000-01-01 00:00:00+00 BC'
                 OR greatest(p_prevista, p_geracao) > timestamptz '100000-01-01 00:00:00+00'
               THEN d8.recusar_atraso(p_prevista, p_geracao)
               WHEN p_geracao <= p_prevista THEN 0
               ELSE floor(extract(epoch FROM p_geracao - p_prevista) / 86400)::int
           END
$$;

COMMENT ON FUNCTION d8.dias_de_atraso(timestamptz, timestamptz) IS
'Dias inteiros entre a data prevista e a da geração, para baixo e nunca negativos: com uma hora de atraso, está no
prazo; NULL de nulo. Erros: FM422 data infinita ou a milênios daqui. Fonte: E30.';

-- As visões públicas chegam aqui em nome de quem lê: não se pode chamar core.recusar.
CREATE OR REPLACE FUNCTION d8.recusar_atraso(p_prevista timestamptz, p_geracao timestamptz)
RETURNS int
LANGUAGE plpgsql
STABLE
PARALLEL SAFE
COST 1
AS $$
BEGIN
    RAISE EXCEPTION 'Os campos prevista e geracao devem ser datas-horas finitas, e não % e %.', p_prevista, p_geracao
        USING ERRCODE = 'FM422';
END
$$;

COMMENT ON FUNCTION d8.recusar_atraso(timestamptz, timestamptz) IS
'Sempre levanta FM422: de datas assim não se conta atraso. Fonte: N73.';

CREATE OR REPLACE FUNCTION d8.sem_recuar(p_quando timestamptz, p_registrada timestamptz)
RETURNS timestamptz
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT greatest(date_trunc('milliseconds', p_quando), p_registrada)
$$;

COMMENT ON FUNCTION d8.sem_recuar(timestamptz, timestamptz) IS
'p_quando, em milissegundos, ou a hora que já está registrada, se o relógio voltou para antes dela. Fonte: N55.';

CREATE OR REPLACE FUNCTION d8.fim_da_vida(p_projeto d8.projetos_monitorados)
RETURNS timestamptz
LANGUAGE sql
STABLE
AS $$
    SELECT d8.mais_dias(p_projeto.criado_em, (p_projeto.plano_manutencao -> 'vida_util_dias')::int)
$$;

COMMENT ON FUNCTION d8.fim_da_vida(d8.projetos_monitorados) IS
'Fim da vida útil: criado_em + vida_util_dias. Fonte: D-8 3.9 e 4.6, E21.';

CREATE OR REPLACE FUNCTION d8.esgotado(p_projeto d8.projetos_monitorados)
RETURNS boolean
LANGUAGE sql
STABLE
AS $$
    -- O primeiro ciclo se gera ainda que caia depois da vida útil (4.8).
    SELECT p_projeto.ciclo_atual > 0 AND p_projeto.proximo_ciclo > d8.fim_da_vida(p_projeto)
$$;

COMMENT ON FUNCTION d8.esgotado(d8.projetos_monitorados) IS
'Se o projeto não gera mais: o próximo ciclo, que não é o primeiro, cai depois da vida útil. Fonte: D-8 4.8, E21.';

-- SECURITY DEFINER porque uma visão pública a chama em nome de quem lê, que não usa o esquema do núcleo.
CREATE OR REPLACE FUNCTION d8.proxima_manutencao(p_projeto d8.projetos_monitorados)
RETURNS timestamptz
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT CASE WHEN p_projeto.status = 'ativo' AND d8.esgotado(p_projeto) IS NOT TRUE THEN p_projeto.proximo_ciclo END
$$;

COMMENT ON FUNCTION d8.proxima_manutencao(d8.projetos_monitorados) IS
'Quando vence o próximo ciclo que a varredura vai gerar; NULL se não gera mais nenhum. É o que se promete a quem lê: a
coluna proximo_ciclo diz só quando a varredura há de olhar o projeto. Fonte: E21.';

GRANT EXECUTE ON FUNCTION d8.mais_dias(timestamptz, int), d8.fim_da_vida(d8.projetos_monitorados),
                          d8.esgotado(d8.projetos_monitorados)
   TO formigueiro_dba;
GRANT EXECUTE ON FUNCTION d8.dias_de_atraso(timestamptz, timestamptz), d8.recusar_atraso(timestamptz, timestamptz),
                          d8.proxima_manutencao(d8.projetos_monitorados)
   TO formigueiro_dba, formigueiro_leitura;
