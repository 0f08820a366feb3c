-- Os contadores que a seção 8.1 pede, numa linha.

CREATE OR REPLACE VIEW d8.contadores AS
SELECT p.projetos_ativos,
       p.ciclos_encerrados,
       h.demandas_geradas,
       h.manutencoes_concluidas,
       h.atraso_medio_dias,
       h.peso_atraso_medio
  FROM (SELECT count(*) FILTER (WHERE p.status = 'ativo') AS projetos_ativos,
               count(*) FILTER (WHERE p.status = 'encerrado') AS ciclos_encerrados
          FROM d8.projetos_monitorados AS p) AS p
 CROSS JOIN (SELECT count(*) AS demandas_geradas,
                    count(*) FILTER (WHERE h.status = 'concluida') AS manutencoes_concluidas,
                    round(avg(d8.dias_de_atraso(h.data_prevista, h.data_geracao)), 2) AS atraso_medio_dias,
                    round(avg(h.peso_atraso), 4) AS peso_atraso_medio
               FROM d8.historico_manutencoes AS h) AS h;

COMMENT ON VIEW d8.contadores IS
'Projetos ativos, monitoramentos encerrados (manutenção.ciclo_encerrado), demandas geradas, manutenções concluídas,
atraso médio em dias e peso médio das geradas. Fonte: D-8 8.1 e 8.3.';

GRANT SELECT ON d8.contadores TO formigueiro_dba, formigueiro_leitura;
