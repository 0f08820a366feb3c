-- Para formigueiro_leitura: as obras acompanhadas e quando é a próxima manutenção de cada uma.

CREATE OR REPLACE VIEW d8.projetos_publicos AS
SELECT p.id AS projeto_id,
       p.demanda_original_id,
       p.dossie_original ->> 'titulo' AS titulo,
       p.categoria,
       p.localizacao ->> 'endereco' AS endereco,
       p.uc_id,
       p.status,
       p.ciclo_atual,
       CASE WHEN p.status = 'ativo' THEN p.proximo_ciclo END AS proximo_ciclo,
       p.data_encerramento,
       p.motivo_encerramento
  FROM d8.projetos_monitorados AS p;

COMMENT ON VIEW d8.projetos_publicos IS
'Os projetos monitorados, com o que os eventos de manutenção mostram: título e endereço já sem identificadores pessoais.
Fonte: D-8 2.8, E29.';

GRANT SELECT ON d8.projetos_publicos TO formigueiro_dba, formigueiro_leitura;
