-- A última guarda antes de um texto ficar público (E29). Grosseira de propósito: a D-6b já limpou, com mais cuidado, o
-- que publica; aqui se apanha o que chegou sem passar por ela.
--
-- Mascara o que tem forma de CPF, telefone ou e-mail, e poupa o que se parece com eles: protocolos, processos, CEP,
-- anos ("2027-2028"). Um número sem pontuação só cai se o rótulo ao lado disser o que é; a própria marca não é rótulo.
--
-- Repete-se até não haver o que trocar: uma troca muda os vizinhos do que fica, e mascarar o mascarado não pode mudar
-- nada, pois é da cópia mascarada que a D-8 se reconstrói depois da retenção (E23). Cada passada tira algarismos ou
-- arrobas, e por isso acaba.

CREATE OR REPLACE FUNCTION core.mascarar_identificadores(p_texto text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
AS $$
DECLARE
    -- Sem dígito, ponto, barra ou hífen colado que faça do trecho parte de um número maior.
    c_antes         CONSTANT text := '(?<![[:alnum:]./-])';
    c_depois        CONSTANT text := '(?![[:alnum:]]|[./-][0-9])';
    c_email         CONSTANT text := E'[[:alnum:]._%+-]+[ ]?(?:@|[(]arroba[)]|\\marroba\\M)[ ]?[[:alnum:]-]+'
                                     '(?:(?:[.]| ponto )[[:alnum:]-]+)+';
    c_cpf           CONSTANT text := c_antes || '[0-9]{3}[. ][0-9]{3}[. ][0-9]{3}[-/ ][0-9]{2}' || c_depois;
    c_cpf_rotulado  CONSTANT text := E'(\\mcpfs?\\M[^[:alnum:]]{0,4}(?:(?:sob |de )?(?:o )?(?:n[º°o][.]? ?|n[úu]mero ))?)'
                                     '[0-9]{11}' || c_depois;
    c_telefone      CONSTANT text := '(?<![[:alnum:]./-])(?:[+]?55[ .-]?)?(?:[(]0?[0-9]{2}[)] ?|0?[1-9][0-9][ .-])'
                                     '(?:9[ .-]?)?[0-9]{4}[ .-]?[0-9]{4}' || c_depois;
    c_fone_sem_ddd  CONSTANT text := c_antes || '(?:9[ ]?[0-9]{4}-[0-9]{4}|(?!(?:19|20)[0-9]{2}-(?:19|20)[0-9]{2})'
                                     '[2-5][0-9]{3}-[0-9]{4})' || c_depois;
    c_fone_rotulado CONSTANT text := E'(?<!\\[)(\\m(?:tel|telefone|fone|cel|celular|whats|whatsapp|zap|contato)\\M'
                                     '[^[:digit:]]{0,12})[+]?(?:[0-9]{8,11}|55[0-9]{10,11}|[0-9]{4,5} [0-9]{4})'
                                     || c_depois;
    -- Quem cola de um editor traz espaços e hífenes que não quebram a linha; no que nada se mascara, ficam.
    v_simples       CONSTANT text := translate(p_texto, E'\u00A0\u2007\u2009\u202F\u2010\u2011', '    --');
    v_texto         text := v_simples;
    v_antes         text;
BEGIN
    IF p_texto !~* '[0-9]{2}|@|arroba' THEN
        RETURN p_texto;  -- o caso comum
    END IF;
    LOOP
        v_antes := v_texto;
        v_texto := regexp_replace(v_texto, c_email, '[e-mail removido]', 'gi');
        v_texto := regexp_replace(v_texto, c_cpf_rotulado, E'\\1[CPF removido]', 'gi');
        v_texto := regexp_replace(v_texto, c_cpf, '[CPF removido]', 'g');
        v_texto := regexp_replace(v_texto, c_telefone, '[telefone removido]', 'g');
        v_texto := regexp_replace(v_texto, c_fone_rotulado, E'\\1[telefone removido]', 'gi');
        v_texto := regexp_replace(v_texto, c_fone_sem_ddd, '[telefone removido]', 'g');
        EXIT WHEN v_texto IS NOT DISTINCT FROM v_antes;
    END LOOP;
    RETURN CASE WHEN v_texto = v_simples THEN p_texto ELSE v_texto END;
END
$$;

COMMENT ON FUNCTION core.mascarar_identificadores(text) IS
'O texto com CPF, telefone e e-mail trocados por "[CPF removido]", "[telefone removido]" e "[e-mail removido]";
aplicar outra vez não muda nada. NULL dá NULL. Fonte: E29.';

CREATE OR REPLACE FUNCTION core._mascarar(p_valor jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT core._mascarar_ate(p_valor, 32)
$$;

COMMENT ON FUNCTION core._mascarar(jsonb) IS
'O valor com cada texto dele passado por core.mascarar_identificadores; vetor ou objeto além de 32 níveis vira nulo.
Fonte: E29.';

CREATE OR REPLACE FUNCTION core._mascarar_ate(p_valor jsonb, p_niveis int)
RETURNS jsonb
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
AS $$
BEGIN
    -- Cada nível é uma chamada: mil colchetes, que cabem em 2 KB, esgotariam a pilha e parariam a retenção de todos.
    RETURN CASE
        WHEN jsonb_typeof(p_valor) = 'string' THEN to_jsonb(core.mascarar_identificadores(p_valor #>> '{}'))
        WHEN jsonb_typeof(p_valor) NOT IN ('array', 'object') THEN p_valor
        WHEN p_niveis = 0 THEN 'null'
        WHEN jsonb_typeof(p_valor) = 'array'
        THEN (SELECT coalesce(jsonb_agg(core._mascarar_ate(e.valor, p_niveis - 1) ORDER BY e.n), '[]')
                FROM jsonb_array_elements(p_valor) WITH ORDINALITY AS e (valor, n))
        ELSE (SELECT coalesce(jsonb_object_agg(o.campo, core._mascarar_ate(o.valor, p_niveis - 1)), '{}')
                FROM jsonb_each(p_valor) AS o (campo, valor))
    END;
END
$$;

COMMENT ON FUNCTION core._mascarar_ate(jsonb, int) IS
'A descida de core._mascarar, com os níveis que ainda restam.';

GRANT EXECUTE ON FUNCTION core._mascarar(jsonb), core._mascarar_ate(jsonb, int) TO d6b_dono, d8_dono;
GRANT EXECUTE ON FUNCTION core.mascarar_identificadores(text) TO d6b_dono, d8_dono, formigueiro_dba;
