-- Para pessoas: a história das manutenções, com o desfecho de cada ciclo.

CREATE OR REPLACE VIEW d8.painel_ciclos AS
SELECT h.projeto_id,
       p.dossie_original ->> 'titulo' AS titulo,
       h.ciclo_numero,
       h.demanda_manutencao_id,
       h.data_prevista,
       h.data_geracao,
       d8.dias_de_atraso(h.data_prevista, h.data_geracao) AS dias_de_atraso,
       h.peso_atraso,
       h.data_tolerancia,
       CASE
           WHEN h.status IN ('gerada', 'em_andamento') AND core.agora() > h.data_tolerancia THEN 'vencida'
           ELSE h.status
       END AS situacao,
       h.status_execucao,
       h.data_conclusao,
       h.conselheiro_id,
       h.observacoes
  FROM d8.historico_manutencoes AS h
  LEFT JOIN d8.projetos_monitorados AS p ON p.id = h.projeto_id;

COMMENT ON VIEW d8.painel_ciclos IS
'Um ciclo por linha, com atraso na geração e desfecho. situacao é o status, ou vencida, derivada para o ciclo sem
desfecho além da tolerância. Fonte: D-8 2.8 e 4.7, E24, E26.';

GRANT SELECT ON d8.painel_ciclos TO formigueiro_dba;
