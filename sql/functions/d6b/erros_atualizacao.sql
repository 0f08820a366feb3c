-- O NormalizadorAtualizacao (D-6b 4.2): campos obrigatórios, enums e formatos por tipo de atualização.

CREATE OR REPLACE FUNCTION d6b.erros_atualizacao(p_tipo text, p_conteudo jsonb, p_hoje date)
RETURNS jsonb
LANGUAGE sql
STABLE
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('campo', e.campo, 'mensagem', e.mensagem) ORDER BY e.ordem, e.n), '[]')
      FROM (
            SELECT 1, o.n, o.campo, 'Campo obrigatório.'
              FROM unnest(d6b.campos_obrigatorios(p_tipo)) WITH ORDINALITY AS o (campo, n)
             WHERE coalesce(p_conteudo -> o.campo, 'null') IN ('null', '""')
            UNION ALL
            SELECT 2, v.n, v.campo, format('Valor inválido. Esperado um dos: %s.', array_to_string(v.valores, ', '))
              FROM (VALUES (1, 'canal', ARRAY['telefone', 'email', 'presencial', 'oficio']),
                           (2, 'gravidade', ARRAY['baixa', 'media', 'alta']),
                           (3, 'novo_status', ARRAY['pendente', 'em_andamento', 'aguardando', 'concluido', 'bloqueado'])
                   ) AS v (n, campo, valores)
             WHERE coalesce(p_conteudo -> v.campo, 'null') <> 'null'
               -- Vazio onde é obrigatório já foi dito acima.
               AND NOT (p_conteudo -> v.campo = '""' AND v.campo = ANY (d6b.campos_obrigatorios(p_tipo)))
               AND p_conteudo -> v.campo <> ALL (SELECT to_jsonb(x.valor) FROM unnest(v.valores) AS x (valor))
            UNION ALL
            SELECT 3, 1, 'protocolo_numero', 'Formato de protocolo inválido.'
             WHERE p_tipo = 'protocolo_aberto'
               AND coalesce(p_conteudo -> 'protocolo_numero', 'null') NOT IN ('null', '""')
               AND NOT (jsonb_typeof(p_conteudo -> 'protocolo_numero') = 'string'
                        AND p_conteudo ->> 'protocolo_numero' ~ '^[A-Za-z0-9./ -]{4,}$')
            UNION ALL
            SELECT 4, 1, 'data_estimada',
                   CASE WHEN d.data IS NULL THEN 'Data inválida.' ELSE 'Data estimada no passado.' END
              FROM (SELECT d6b.data_valida(p_conteudo -> 'data_estimada')) AS d (data)
             WHERE p_tipo = 'prazo_registrado'
               AND coalesce(p_conteudo -> 'data_estimada', 'null') NOT IN ('null', '""')
               AND (d.data IS NULL OR d.data < p_hoje)
           ) AS e (ordem, n, campo, mensagem)
$$;

COMMENT ON FUNCTION d6b.erros_atualizacao(text, jsonb, date) IS
'Erros do conteúdo estruturado de um tipo válido: [{campo, mensagem}], vazio se não há. p_hoje é a data civil a partir
da qual data_estimada vale. Fonte: D-6b 4.2, E10.';

CREATE OR REPLACE FUNCTION d6b.campos_obrigatorios(p_tipo text)
RETURNS text[]
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE p_tipo
               WHEN 'contato_realizado' THEN ARRAY['canal']
               WHEN 'protocolo_aberto' THEN ARRAY['protocolo_numero', 'orgao']
               WHEN 'documento_anexado' THEN ARRAY['tipo_documento', 'descricao']
               WHEN 'entrave_registrado' THEN ARRAY['orgao_envolvido', 'descricao_entrave']
               WHEN 'status_atualizado' THEN ARRAY['novo_status']
               WHEN 'prazo_registrado' THEN ARRAY['data_estimada']
           END
$$;

COMMENT ON FUNCTION d6b.campos_obrigatorios(text) IS
'Campos obrigatórios de um tipo de atualização; NULL se o tipo não é um dos seis. Fonte: D-6b 2.11 e 4.2.';

CREATE OR REPLACE FUNCTION d6b.data_valida(p_valor jsonb)
RETURNS date
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    -- O dia é conferido antes de converter, pois uma conversão que falha interromperia o lote.
    SELECT CASE
               WHEN p.ano BETWEEN 1 AND 9999 AND p.mes BETWEEN 1 AND 12 AND p.dia >= 1
               THEN CASE
                        WHEN p.dia <= extract(day FROM make_date(p.ano, p.mes, 1) + interval '1 month - 1 day')
                        THEN make_date(p.ano, p.mes, p.dia)
                    END
           END
      FROM (SELECT m[1]::int, m[2]::int, m[3]::int
              FROM regexp_match(CASE WHEN jsonb_typeof(p_valor) = 'string' THEN p_valor #>> '{}' END,
                                '^([0-9]{4})-([0-9]{2})-([0-9]{2})$') AS m) AS p (ano, mes, dia)
$$;

COMMENT ON FUNCTION d6b.data_valida(jsonb) IS
'A data de um texto AAAA-MM-DD que exista no calendário; NULL para qualquer outra coisa.';
