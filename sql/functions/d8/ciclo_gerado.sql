-- O que a geração de um ciclo escreve e publica. A varredura passa por aqui com um lote; d8.reconstruir, com um evento.

CREATE OR REPLACE FUNCTION d8.ciclo_gerado(
    p_projeto_id       uuid,
    p_demanda_id       uuid,
    p_ciclo            int,
    p_prevista         timestamptz,
    p_geracao          timestamptz,
    p_tolerancia_dias  int,
    p_dossie           jsonb,
    p_event_id_geracao uuid
)
RETURNS SETOF d8.historico_manutencoes
LANGUAGE sql
STABLE
ROWS 1
AS $$
    SELECT core.uuid_derivado('d8.ciclo', p_projeto_id::text, p_ciclo::text),
           p_projeto_id,
           p_demanda_id,
           p_ciclo,
           p_geracao,
           p_prevista,
           d8.mais_dias(p_prevista, p_tolerancia_dias),
           NULL::timestamptz,
           'gerada'::varchar(20),
           NULL::uuid,
           p_dossie,
           coalesce((p_dossie #> '{metricas_atraso,peso_adicional_sugerido}')::numeric(5, 4), 0),
           p_event_id_geracao,
           p_event_id_geracao,
           p_geracao,
           p_geracao,
           NULL::varchar(20),
           NULL::text
$$;

COMMENT ON FUNCTION d8.ciclo_gerado(uuid, uuid, int, timestamptz, timestamptz, int, jsonb, uuid) IS
'A linha de historico_manutencoes de um ciclo recém-gerado; o id deriva do projeto e do número. Fonte: D-8 4.3, E23.';

CREATE OR REPLACE FUNCTION d8.payload_recebida(
    p_projeto    d8.projetos_monitorados,
    p_demanda_id uuid,
    p_ciclo      int,
    p_geracao    timestamptz,
    p_texto      text,
    p_dossie     jsonb
)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_build_object(
               'demanda_id', p_demanda_id,
               'origem', 'manutenção_programada',
               'projeto_original_id', p_projeto.id,
               'texto_bruto', p_texto,
               'tipo_midia', 'texto',
               'localizacao_bruta', p_projeto.localizacao,
               'canal', 'sistema',
               'categoria_id', p_projeto.categoria,
               'subcategoria_id', p_projeto.subcategoria,
               'timestamp_criacao', core.iso(p_geracao),
               'dossie', p_dossie,
               'metadata', jsonb_build_object(
                   'profundidade', p_projeto.profundidade,
                   'intervalo_dias', (p_projeto.plano_manutencao -> 'intervalo_dias')::int,
                   'ciclo_numero', p_ciclo))
$$;

COMMENT ON FUNCTION d8.payload_recebida(d8.projetos_monitorados, uuid, int, timestamptz, text, jsonb) IS
'Payload de demanda.recebida 2.0.0 de um ciclo. Fonte: D-8 3.4 e 4.3.';

CREATE OR REPLACE FUNCTION d8.payload_gerada(
    p_projeto     d8.projetos_monitorados,
    p_demanda_id  uuid,
    p_ciclo       int,
    p_prevista    timestamptz,
    p_geracao     timestamptz,
    p_dias_atraso int,
    p_dossie      jsonb
)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT jsonb_build_object(
               'demanda_id', p_demanda_id,
               'projeto_original_id', p_projeto.id,
               'categoria', p_projeto.categoria,
               'localizacao', p_projeto.localizacao,
               'tipo_manutencao', d8.tipo_de_manutencao(p_projeto.plano_manutencao),
               'intervalo_programado', (p_projeto.plano_manutencao -> 'intervalo_dias')::int,
               'prazo_tolerancia', (p_projeto.plano_manutencao -> 'prazo_tolerancia_dias')::int,
               'ciclo_numero', p_ciclo,
               'data_prevista', core.iso(p_prevista),
               'data_geracao', core.iso(p_geracao),
               'dias_atraso', p_dias_atraso,
               'dossie', p_dossie)
$$;

COMMENT ON FUNCTION d8.payload_gerada(d8.projetos_monitorados, uuid, int, timestamptz, timestamptz, int, jsonb) IS
'Payload de demanda.manutenção_gerada 1.0.0 de um ciclo. Fonte: D-8 3.5 e 4.3.';
