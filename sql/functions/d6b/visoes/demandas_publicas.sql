-- Para formigueiro_leitura: em que pé está cada demanda, e o último resumo publicado de seu ciclo.
--
-- O ciclo é o mais novo, como em d6b.e_o_ciclo_mais_novo, e o resumo é dele: um que ainda não publicou não mostra o do
-- anterior. O evento diz de que ciclo é; o que saiu antes de o dizer conhece-se pelo início do ciclo.

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
         ORDER BY t.demanda_id, t.status IN ('aguardando_inicio', 'em_andamento') DESC, t.status = 'reatribuido',
                  t.criado_em DESC, t.id) AS a
  LEFT JOIN LATERAL (SELECT e.payload ->> 'resumo', e.publicado_em
                       FROM core.event_log AS e
                      WHERE e.chave = a.demanda_id::text
                        AND e.tipo = 'demanda.resumo_ciclo_atualizado'
                        AND CASE
                                WHEN e.payload ? 'acompanhamento_id'
                                THEN e.payload ->> 'acompanhamento_id' = a.id::text
                                ELSE (e.payload ->> 'data_inicio')::timestamptz = a.data_inicio
                            END
                      ORDER BY e.sequence_number DESC
                      LIMIT 1) AS r (resumo, resumo_em) ON true;

COMMENT ON VIEW d6b.demandas_publicas IS
'Uma linha por demanda: o ciclo mais novo, sem o conselheiro, e o resumo dele que demanda.resumo_ciclo_atualizado publicou
por último, nulo antes do primeiro e depois que a retenção o removeu. Fonte: D-6b 3.7.1, N47.';

GRANT SELECT ON d6b.demandas_publicas TO formigueiro_dba, formigueiro_leitura;
