-- Para formigueiro_leitura: a história das manutenções, sem quem as fez nem o que escreveu.
--
-- A hora é lida da tabela, e não por core.agora(): numa visão, a função roda como quem lê, e a tabela, como o dono.

CREATE OR REPLACE VIEW d8.ciclos_publicos AS
SELECT h.projeto_id,
       h.ciclo_numero,
       h.demanda_manutencao_id,
       h.data_prevista,
       h.data_geracao,
       d8.dias_de_atraso(h.data_prevista, h.data_geracao) AS dias_de_atraso,
       h.data_tolerancia,
       CASE
           WHEN h.status IN ('gerada', 'em_andamento')
                AND coalesce((SELECT r.quando FROM core.relogio AS r), now()) > h.data_tolerancia THEN 'vencida'
           ELSE h.status
       END AS situacao,
       h.status_execucao,
       h.data_conclusao
  FROM d8.historico_manutencoes AS h;

COMMENT ON VIEW d8.ciclos_publicos IS
'Um ciclo por linha, com atraso na geração e desfecho, como d8.painel_ciclos, mas sem o conselheiro e as observações.
Fonte: D-8 2.8 e 4.7, E24, E26.';

GRANT SELECT ON d8.ciclos_publicos TO formigueiro_dba, formigueiro_leitura;
