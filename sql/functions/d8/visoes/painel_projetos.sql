-- Para pessoas: cada projeto, quando é a próxima manutenção e como está o ciclo em aberto.

CREATE OR REPLACE VIEW d8.painel_projetos AS
SELECT p.id AS projeto_id,
       p.demanda_original_id,
       p.dossie_original ->> 'titulo' AS titulo,
       p.categoria,
       p.localizacao ->> 'endereco' AS endereco,
       p.uc_id,
       p.status,
       p.profundidade,
       p.ciclo_atual,
       d8.proxima_manutencao(p) AS proximo_ciclo,
       CASE WHEN d8.proxima_manutencao(p) IS NOT NULL
            THEN d8.dias_de_atraso(p.proximo_ciclo, core.agora()) END AS dias_de_atraso,
       d8.fim_da_vida(p) AS fim_da_vida_util,
       a.ciclo_numero AS ciclo_em_aberto,
       a.demanda_manutencao_id AS demanda_em_aberto,
       a.data_tolerancia AS tolerancia_em_aberto,
       coalesce(core.agora() > a.data_tolerancia, false) AS vencida,
       p.data_encerramento,
       p.motivo_encerramento
  FROM d8.projetos_monitorados AS p
  LEFT JOIN LATERAL (SELECT h.ciclo_numero, h.demanda_manutencao_id, h.data_tolerancia
                       FROM d8.historico_manutencoes AS h
                      WHERE h.projeto_id = p.id
                        AND h.status IN ('gerada', 'em_andamento', 'vencida')
                      ORDER BY h.data_tolerancia
                      LIMIT 1) AS a ON true;

COMMENT ON VIEW d8.painel_projetos IS
'Projetos com o próximo ciclo (nulo se não virá nenhum), há quantos dias ele está atrasado e o ciclo em aberto mais antigo;
vencida: esse ciclo passou da tolerância sem terminar. Fonte: D-8 2.8, E21, E26.';

GRANT SELECT ON d8.painel_projetos TO formigueiro_dba;
