-- O dossiê da manutenção (D-8 3.7 e 4.1).
--
-- A varredura monta milhares numa consulta, e d8.montar_dossie um só: as duas passam por d8.dossie e d8.historico,
-- funções de uma consulta que o planejador dissolve na de quem as chama. Por isso cada regra está escrita uma vez, e
-- os dois caminhos dão os mesmos bytes.

CREATE OR REPLACE FUNCTION d8.montar_dossie(
    p_projeto d8.projetos_monitorados, p_ciclo int, p_prevista timestamptz, p_geracao timestamptz
)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT core.exigir_valor(p_projeto.id, 'projeto'), core.exigir_limite(p_ciclo, 'ciclo'),
           core.exigir_instante(p_prevista, 'prevista'), core.exigir_instante(p_geracao, 'geracao');
    SELECT d.dossie
      FROM d8.dossie(p_projeto, p_ciclo, p_prevista, p_geracao,
                     d8.dias_de_atraso(p_prevista, p_geracao),
                     d8.calcular_peso_atraso(d8.dias_de_atraso(p_prevista, p_geracao)),
                     (core.parametro('limite_historico_dossie'))::int) AS d
$$;

COMMENT ON FUNCTION d8.montar_dossie(d8.projetos_monitorados, int, timestamptz, timestamptz) IS
'Dossiê de um ciclo: {projeto_original, historico_manutencoes, ciclo_atual, metricas_atraso, localizacao};
metricas_atraso é nulo no prazo. Do histórico, os últimos ciclos: até limite_historico_dossie, e menos se passaria de 50 KB.
Erros: FM422 projeto nulo, ciclo menor que 1, data nula, infinita ou fora dos anos 1 a 9999. Fonte: D-8 3.7, 4.1 e 6.2, E24, E29.';

CREATE OR REPLACE FUNCTION d8.dossie(
    p_projeto         d8.projetos_monitorados,
    p_ciclo           int,
    p_prevista        timestamptz,
    p_geracao         timestamptz,
    p_dias_atraso     int,
    p_peso            numeric,
    p_limite_ciclos   int
)
RETURNS TABLE (dossie jsonb)
LANGUAGE sql
STABLE
ROWS 1
AS $$
    -- OFFSET 0: sem ele, quem usasse o dossiê em várias expressões o montaria em cada uma (medido: 4 vezes o custo).
    SELECT jsonb_build_object(
               'projeto_original', jsonb_build_object(
                   'titulo', coalesce(nullif((p_projeto).dossie_original ->> 'titulo', ''), (p_projeto).categoria),
                   'descricao', coalesce((p_projeto).dossie_original ->> 'descricao', ''),
                   'responsavel_tecnico', (p_projeto).dossie_original -> 'responsavel_tecnico',
                   'data_conclusao', coalesce((p_projeto).dossie_original ->> 'data_conclusao',
                                              core.iso((p_projeto).criado_em)),
                   'materiais_utilizados', coalesce((p_projeto).dossie_original -> 'materiais_utilizados', '[]')),
               'historico_manutencoes', h.historico,
               'ciclo_atual', jsonb_build_object(
                   'numero', p_ciclo,
                   'tipo_intervencao', d8.tipo_de_manutencao((p_projeto).plano_manutencao),
                   'intervalo_programado_dias', ((p_projeto).plano_manutencao -> 'intervalo_dias')::int,
                   'prazo_tolerancia_dias', ((p_projeto).plano_manutencao -> 'prazo_tolerancia_dias')::int,
                   'data_prevista', core.iso(p_prevista),
                   'data_geracao', core.iso(p_geracao)),
               'metricas_atraso', CASE WHEN p_dias_atraso > 0 THEN jsonb_build_object(
                   'dias_atraso', p_dias_atraso,
                   'peso_adicional_sugerido', trim_scale(p_peso),
                   'dentro_tolerancia',
                   p_dias_atraso <= ((p_projeto).plano_manutencao -> 'prazo_tolerancia_dias')::int) END,
               'localizacao', jsonb_build_object('lat', (p_projeto).localizacao -> 'lat',
                                                 'lng', (p_projeto).localizacao -> 'lng',
                                                 'endereco', (p_projeto).localizacao -> 'endereco'))
      FROM d8.historico((p_projeto).id, (p_projeto).dossie_original, p_limite_ciclos) AS h
    OFFSET 0
$$;

COMMENT ON FUNCTION d8.dossie(d8.projetos_monitorados, int, timestamptz, timestamptz, int, numeric, int) IS
'O dossiê, com o atraso e o peso já calculados e o limite de ciclos já lido. Fonte: D-8 3.7 e 4.1.';

CREATE OR REPLACE FUNCTION d8.historico(p_projeto_id uuid, p_dossie_original jsonb, p_limite int)
RETURNS TABLE (historico jsonb)
LANGUAGE sql
STABLE
ROWS 1
AS $$
    -- Uns poucos ciclos sempre cabem; só um histórico longo se mede. As demais partes do dossiê têm tamanho limitado.
    SELECT CASE
               WHEN pg_column_size(t.ciclos) <= 1000 THEN t.ciclos
               ELSE d8.ultimos_que_cabem(t.ciclos, 48800 - octet_length(p_dossie_original::text))
           END
      FROM (SELECT coalesce(jsonb_agg(jsonb_build_object(
                                'ciclo', l.ciclo_numero,
                                'data_prevista', core.iso(l.data_prevista),
                                'data_real', core.iso(coalesce(l.data_conclusao, l.data_geracao)),
                                'status', l.status,
                                'status_execucao', l.status_execucao,
                                'conselheiro', l.conselheiro_id,
                                'observacoes', left(l.observacoes, 1000)) ORDER BY l.ciclo_numero), '[]')
              FROM (SELECT h.ciclo_numero, h.data_prevista, h.data_conclusao, h.data_geracao, h.status,
                           h.status_execucao, h.conselheiro_id, h.observacoes
                      FROM d8.historico_manutencoes AS h
                     WHERE h.projeto_id = p_projeto_id
                     ORDER BY h.ciclo_numero DESC
                     LIMIT p_limite) AS l
            OFFSET 0) AS t (ciclos)
$$;

COMMENT ON FUNCTION d8.historico(uuid, jsonb, int) IS
'Os últimos ciclos do projeto, em ordem: [{ciclo, data_prevista, data_real, status, status_execucao, conselheiro,
observacoes}]. data_real é a da conclusão, se houve, ou a da geração. Fonte: D-8 4.1 e 6.2, E24.';

CREATE OR REPLACE FUNCTION d8.ultimos_que_cabem(p_vetor jsonb, p_bytes int)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT coalesce(jsonb_agg(e.valor ORDER BY e.n) FILTER (WHERE e.bytes <= p_bytes), '[]')
      FROM (SELECT a.valor, a.n, sum(octet_length(a.valor::text) + 2) OVER (ORDER BY a.n DESC) AS bytes
              FROM jsonb_array_elements(p_vetor) WITH ORDINALITY AS a (valor, n)) AS e
$$;

COMMENT ON FUNCTION d8.ultimos_que_cabem(jsonb, int) IS
'O fim do vetor: tantos elementos, do último para trás, quantos somem até p_bytes bytes de texto.';

CREATE OR REPLACE FUNCTION d8.tipo_de_manutencao(p_plano jsonb)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT coalesce(p_plano ->> 'tipo', 'manutenção preventiva')
$$;

COMMENT ON FUNCTION d8.tipo_de_manutencao(jsonb) IS
'A intervenção que o plano pede; um plano sem tipo pede manutenção preventiva.';
