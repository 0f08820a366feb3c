-- O texto da demanda de manutenção, que o conselheiro lê (D-8 4.4).

CREATE OR REPLACE FUNCTION d8.gerar_texto_demanda(p_ciclo int, p_dossie jsonb)
RETURNS text
LANGUAGE sql
STABLE
AS $$
    SELECT core.exigir_limite(p_ciclo, 'ciclo'), core.exigir_valor(p_dossie, 'dossie');
    SELECT t.texto
      FROM d8.texto_demanda(p_ciclo, p_dossie, (core.parametro('limite_texto_demanda'))::int) AS t
$$;

COMMENT ON FUNCTION d8.gerar_texto_demanda(int, jsonb) IS
'Texto legível da demanda do ciclo, do dossiê; cortado em limite_texto_demanda caracteres, no fim de uma linha.
Erros: FM422 argumento nulo, ou ciclo menor que 1. Fonte: D-8 4.4 e 6.2.';

CREATE OR REPLACE FUNCTION d8.texto_demanda(p_ciclo int, p_dossie jsonb, p_limite int)
RETURNS TABLE (texto text)
LANGUAGE sql
STABLE
ROWS 1
AS $$
    -- concat_ws salta a linha que não há (NULL). OFFSET 0: sem ele, o planejador montaria o texto a cada menção.
    SELECT CASE
               WHEN length(t.inteiro) <= p_limite THEN t.inteiro
               ELSE regexp_replace(left(t.inteiro, p_limite + 1), E'\n[^\n]*$', '')
           END
      FROM (SELECT concat_ws(E'\n',
                       'Manutenção programada — Ciclo #' || p_ciclo,
                       'Projeto: ' || (p_dossie #>> '{projeto_original,titulo}'),
                       'Concluído em: ' || (p_dossie #>> '{projeto_original,data_conclusao}'),
                       'Responsável técnico: ' || nullif(p_dossie #>> '{projeto_original,responsavel_tecnico}', ''),
                       'Materiais: '
                           || (SELECT string_agg(m.material, ', ' ORDER BY m.n)
                                 FROM jsonb_array_elements_text(p_dossie #> '{projeto_original,materiais_utilizados}')
                                      WITH ORDINALITY AS m (material, n)),
                       'Última manutenção: ' || (p_dossie #>> '{historico_manutencoes,-1,data_real}')
                           || ' (' || (p_dossie #>> '{historico_manutencoes,-1,status}') || ')',
                       'Intervenção esperada: ' || (p_dossie #>> '{ciclo_atual,tipo_intervencao}'),
                       'ATENÇÃO: Manutenção atrasada em ' || (p_dossie #>> '{metricas_atraso,dias_atraso}') || ' dias.',
                       CASE
                           WHEN NOT (p_dossie #> '{metricas_atraso,dentro_tolerancia}')::boolean
                           THEN format('Prazo de tolerância (%s dias) excedido.',
                                       p_dossie #>> '{ciclo_atual,prazo_tolerancia_dias}')
                       END)
            OFFSET 0) AS t (inteiro)
$$;

COMMENT ON FUNCTION d8.texto_demanda(int, jsonb, int) IS
'O texto de d8.gerar_texto_demanda, com o limite já lido; o planejador a dissolve na varredura. Fonte: D-8 4.4.';
