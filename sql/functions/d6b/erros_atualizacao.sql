-- O NormalizadorAtualizacao (D-6b 4.2): campos obrigatórios, enums e formatos por tipo de atualização.

CREATE OR REPLACE FUNCTION d6b.erros_atualizacao(p_tipo text, p_conteudo jsonb, p_hoje date)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    c_valores      CONSTANT jsonb := jsonb '{"canal": ["telefone", "email", "presencial", "oficio"],
                                             "gravidade": ["baixa", "media", "alta"],
                                             "novo_status": ["pendente", "em_andamento", "aguardando", "concluido",
                                                             "bloqueado"]}';
    -- Os que têm valores ou formato próprios, julgados adiante.
    c_julgados     CONSTANT text[] := ARRAY['canal', 'novo_status', 'protocolo_numero', 'data_estimada'];
    v_obrigatorios CONSTANT text[] := coalesce(d6b.campos_obrigatorios(p_tipo), '{}');
    v_campo        text;
    v_valor        jsonb;
    v_data         date;
    v_erros        jsonb := '[]'::jsonb;
BEGIN
    FOREACH v_campo IN ARRAY v_obrigatorios LOOP
        IF d6b.em_branco(p_conteudo -> v_campo)
           OR (v_campo <> ALL (c_julgados) AND NOT d6b.diz_algo(p_conteudo -> v_campo)) THEN
            v_erros := v_erros || d6b.erro(v_campo, 'Campo obrigatório.');
        END IF;
    END LOOP;

    FOREACH v_campo IN ARRAY ARRAY['canal', 'gravidade', 'novo_status'] LOOP
        v_valor := coalesce(p_conteudo -> v_campo, 'null');
        -- Vazio onde é obrigatório já foi dito acima.
        CONTINUE WHEN v_valor = 'null' OR (v_valor = '""' AND v_campo = ANY (v_obrigatorios));
        IF NOT (jsonb_typeof(v_valor) = 'string' AND c_valores -> v_campo ? (v_valor #>> '{}')) THEN
            v_erros := v_erros || d6b.erro(v_campo, format('Valor inválido. Esperado um dos: %s.',
                                                           d6b.lista(c_valores -> v_campo)));
        END IF;
    END LOOP;

    v_valor := p_conteudo -> 'protocolo_numero';
    IF p_tipo = 'protocolo_aberto' AND NOT d6b.em_branco(v_valor)
       AND NOT (jsonb_typeof(v_valor) = 'string' AND v_valor #>> '{}' ~ '^[A-Za-z0-9./ -]{4,}$'
                AND v_valor #>> '{}' ~ '[A-Za-z0-9]') THEN
        v_erros := v_erros || d6b.erro('protocolo_numero', 'Formato de protocolo inválido.');
    END IF;

    v_valor := p_conteudo -> 'data_estimada';
    IF p_tipo = 'prazo_registrado' AND NOT d6b.em_branco(v_valor) THEN
        v_data := d6b.data_valida(v_valor);
        IF v_data IS NULL THEN
            v_erros := v_erros || d6b.erro('data_estimada', 'Data inválida.');
        ELSIF v_data < p_hoje THEN
            v_erros := v_erros || d6b.erro('data_estimada', 'Data estimada no passado.');
        END IF;
    END IF;
    RETURN v_erros;
END
$$;

COMMENT ON FUNCTION d6b.erros_atualizacao(text, jsonb, date) IS
'Erros do conteúdo estruturado de um tipo válido: [{campo, mensagem}], vazio se não há. p_hoje é a data civil a partir
da qual data_estimada vale. Fonte: D-6b 4.2, E10.';

CREATE OR REPLACE FUNCTION d6b.erro(p_campo text, p_mensagem text)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT jsonb_build_object('campo', p_campo, 'mensagem', p_mensagem)
$$;

COMMENT ON FUNCTION d6b.erro(text, text) IS
'{campo, mensagem}: um erro de validação.';

CREATE OR REPLACE FUNCTION d6b.em_branco(p_valor jsonb)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT coalesce(p_valor, 'null') IN ('null', '""')
$$;

COMMENT ON FUNCTION d6b.em_branco(jsonb) IS
'Se o valor falta, é nulo ou é um texto vazio.';

CREATE OR REPLACE FUNCTION d6b.diz_algo(p_valor jsonb)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE jsonb_typeof(p_valor)
               WHEN 'string' THEN p_valor #>> '{}' ~ '[^[:space:][:cntrl:]]'
               ELSE coalesce(jsonb_typeof(p_valor) = 'number', false)
           END
$$;

COMMENT ON FUNCTION d6b.diz_algo(jsonb) IS
'Se o valor é um texto que não está em branco, ou um número: o que uma pessoa lê na descrição publicada. Fonte: N48.';

CREATE OR REPLACE FUNCTION d6b.lista(p_valores jsonb)
RETURNS text
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT string_agg(v.valor, ', ' ORDER BY v.n) FROM jsonb_array_elements_text(p_valores) WITH ORDINALITY AS v (valor, n)
$$;

COMMENT ON FUNCTION d6b.lista(jsonb) IS
'Os textos do vetor, separados por vírgula.';

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
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
AS $$
BEGIN
    -- O dia é conferido antes de converter, pois uma conversão que falha interromperia o lote.
    RETURN (SELECT CASE
                       WHEN p.ano BETWEEN 1 AND 9999 AND p.mes BETWEEN 1 AND 12 AND p.dia >= 1
                       THEN CASE
                                WHEN p.dia <= extract(day FROM make_date(p.ano, p.mes, 1) + interval '1 month - 1 day')
                                THEN make_date(p.ano, p.mes, p.dia)
                            END
                   END
              FROM (SELECT m[1]::int, m[2]::int, m[3]::int
                      FROM regexp_match(CASE WHEN jsonb_typeof(p_valor) = 'string' THEN p_valor #>> '{}' END,
                                        '^([0-9]{4})-([0-9]{2})-([0-9]{2})$') AS m) AS p (ano, mes, dia));
END
$$;

COMMENT ON FUNCTION d6b.data_valida(jsonb) IS
'A data de um texto AAAA-MM-DD que exista no calendário; NULL para qualquer outra coisa.';
