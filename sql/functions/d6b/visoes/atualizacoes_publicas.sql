-- Para formigueiro_leitura: o que cada demanda já mostrou ao público, passo a passo.
--
-- Só o que foi publicado (o evento está no log) e não espera moderação. Nenhuma pessoa: nem o conselheiro, nem o que ele
-- escreveu antes de sanitizado. security_barrier: uma condição de quem lê não se avalia sobre as suspeitas, e uma mensagem
-- de erro não as mostra.

CREATE OR REPLACE VIEW d6b.atualizacoes_publicas WITH (security_barrier) AS
SELECT a.demanda_id,
       a.unidade_civica_id,
       p.sequencia,
       u.tipo,
       p.descricao,
       p.publicada_em,
       p.event_id,
       p.acompanhamento_id
  FROM d6b.publicacoes AS p
  JOIN core.event_log AS e ON e.event_id = p.event_id
  JOIN d6b.atualizacoes AS u ON u.id = p.atualizacao_id
  JOIN d6b.acompanhamentos AS a ON a.id = p.acompanhamento_id
 WHERE NOT p.conteudo_suspeito;

COMMENT ON VIEW d6b.atualizacoes_publicas IS
'As atualizações publicadas (conselheiro.atualização_publicada) com a descrição sanitizada; as suspeitas, que nascem
internas na D-7, ficam de fora. sequencia conta dentro de acompanhamento_id, o ciclo. Fonte: D-6b 3.4.';

GRANT SELECT ON d6b.atualizacoes_publicas TO formigueiro_dba, formigueiro_leitura;
