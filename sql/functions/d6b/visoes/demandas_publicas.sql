-- Para formigueiro_leitura: em que pé está cada demanda, e o último resumo publicado de seu ciclo.

CREATE OR REPLACE VIEW d6b.demandas_publicas AS
SELECT a.demanda_id,
       a.unidade_civica_id,
       a.status,
       a.data_inicio,
       a.data_conclusao,
       r.resumo,
       r.resumo_em
  FROM (SELECT DISTINCT ON (t.demanda_id) t.*
          FROM d6b.acompanhamentos AS t
         ORDER BY t.demanda_id, t.data_sorteio DESC, t.criado_em DESC) AS a
  LEFT JOIN LATERAL (SELECT e.payload ->> 'resumo', e.publicado_em
                       FROM core.event_log AS e
                      WHERE e.chave = a.demanda_id::text
                        AND e.tipo = 'demanda.resumo_ciclo_atualizado'
                      ORDER BY e.sequence_number DESC
                      LIMIT 1) AS r (resumo, resumo_em) ON true;

COMMENT ON VIEW d6b.demandas_publicas IS
'Uma linha por demanda: o ciclo mais novo, sem o conselheiro, e o resumo que demanda.resumo_ciclo_atualizado publicou
por último, nulo depois que a retenção o removeu. Fonte: D-6b 3.7.1.';

GRANT SELECT ON d6b.demandas_publicas TO formigueiro_dba, formigueiro_leitura;
