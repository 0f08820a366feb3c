-- Para formigueiro_leitura: as obras acompanhadas e quando é a próxima manutenção de cada uma.
--
-- Só números, datas e a categoria: título, endereço, subcategoria e tipo de intervenção são texto de quem concluiu a obra,
-- e a máscara não conhece nomes, documentos nem placas. O lugar, com três casas: a quadra, e não a porta.

CREATE OR REPLACE VIEW d8.projetos_publicos AS
SELECT p.id AS projeto_id,
       p.demanda_original_id,
       p.categoria,
       round((p.localizacao ->> 'lat')::numeric, 3) AS lat,
       round((p.localizacao ->> 'lng')::numeric, 3) AS lng,
       p.uc_id,
       p.status,
       (p.plano_manutencao ->> 'intervalo_dias')::numeric::int AS intervalo_dias,
       (p.plano_manutencao ->> 'prazo_tolerancia_dias')::numeric::int AS prazo_tolerancia_dias,
       (p.plano_manutencao ->> 'vida_util_dias')::numeric::int AS vida_util_dias,
       p.ciclo_atual,
       d8.proxima_manutencao(p) AS proximo_ciclo,
       p.criado_em,
       p.data_encerramento,
       p.motivo_encerramento
  FROM d8.projetos_monitorados AS p;

COMMENT ON VIEW d8.projetos_publicos IS
'Os projetos monitorados: categoria, lugar com três casas decimais, plano e datas; nenhum texto de quem concluiu a obra.
proximo_ciclo é nulo se não virá nenhum. Fonte: D-8 2.8, E21, E29.';

GRANT SELECT ON d8.projetos_publicos TO formigueiro_dba, formigueiro_leitura;
