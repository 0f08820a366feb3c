-- As duas portas do Registro, geradas: registro.valido e registro.faltas.
--
-- Cada uma é uma árvore de IF, que chega a um tipo e versão por bisseção. Numa expressão CASE, a primeira validação de
-- cada transação iniciaria as chamadas de todos os ramos (10 µs a mais, medidos), e numa fila de IF, todas as
-- comparações até o seu; assim, só as quatro ou cinco do caminho.

CREATE OR REPLACE FUNCTION core.gerar_validadores()
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    c_parametros CONSTANT text := 'p_tipo text, p_versao text, p_payload jsonb';
BEGIN
    PERFORM core._gerar_funcao('valido', c_parametros, 'boolean', core._corpo_de_despacho(''),
        'Se o payload cumpre o esquema do tipo e versão; NULL se o Registro não os conhece.');
    PERFORM core._gerar_funcao('faltas', c_parametros, 'text[]', core._corpo_de_despacho('_faltas'),
        'Cada falta do payload, com o caminho do campo; lista vazia se não há; NULL se o Registro não conhece o tipo '
        'ou a versão. Concorda sempre com registro.valido e custa mais: chame-a só quando esta disser não.');
    PERFORM core._remover_partes_orfas();
END
$$;

COMMENT ON FUNCTION core.gerar_validadores() IS
'Refaz registro.valido(tipo, versão, payload) e registro.faltas(tipo, versão, payload) a partir de core.esquemas, se
mudaram, e remove o que só servia aos anteriores. Roda como core_dono, em migrar. Fonte: regra 11.';

CREATE OR REPLACE FUNCTION core._corpo_de_despacho(p_sufixo text)
RETURNS text
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_eventos  text[];
    v_chamadas text[];
BEGIN
    SELECT array_agg(e.tipo || ' ' || e.versao ORDER BY e.tipo || ' ' || e.versao COLLATE "C"),
           array_agg(core._nome_do_validador(e.tipo, e.versao) || p_sufixo
                     ORDER BY e.tipo || ' ' || e.versao COLLATE "C")
      INTO v_eventos, v_chamadas
      FROM core.esquemas AS e;
    RETURN format(E'\nDECLARE\n    v_evento text := p_tipo || '' '' || p_versao;\nBEGIN%s\n    RETURN NULL;\nEND\n',
                  core._ramos_do_despacho(v_eventos, v_chamadas));
END
$$;

COMMENT ON FUNCTION core._corpo_de_despacho(text) IS
'Corpo plpgsql que escolhe, pelo tipo e pela versão, o validador com esse sufixo no nome.';

CREATE OR REPLACE FUNCTION core._ramos_do_despacho(p_eventos text[], p_funcoes text[], p_recuo text DEFAULT E'\n    ')
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    v_quantos int := coalesce(cardinality(p_eventos), 0);
    v_meio    int := v_quantos / 2;
BEGIN
    IF v_quantos = 0 THEN
        RETURN '';
    END IF;
    IF v_quantos = 1 THEN
        RETURN p_recuo || format('IF v_evento = %L THEN RETURN registro.%I(p_payload); END IF;',
                                 p_eventos[1], p_funcoes[1]);
    END IF;
    RETURN p_recuo || format('IF v_evento < %L COLLATE "C" THEN', p_eventos[v_meio + 1])
        || core._ramos_do_despacho(p_eventos[:v_meio], p_funcoes[:v_meio], p_recuo || '    ')
        || p_recuo || 'ELSE'
        || core._ramos_do_despacho(p_eventos[v_meio + 1:], p_funcoes[v_meio + 1:], p_recuo || '    ')
        || p_recuo || 'END IF;';
END
$$;

COMMENT ON FUNCTION core._ramos_do_despacho(text[], text[], text) IS
'IF aninhados que chegam por bisseção a um dos p_eventos, em ordem de "C", e devolvem a função correspondente.';
