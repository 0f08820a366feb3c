-- As duas portas do Registro, geradas: registro.valido e registro.faltas.
--
-- Cada uma é uma fila de IF, um por tipo e versão. Numa expressão CASE, a primeira validação de cada transação
-- iniciaria as chamadas de todos os ramos (10 µs a mais, medidos); assim, só as comparações até o seu.

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
BEGIN
    RETURN format($corpo$
DECLARE
    v_evento text := p_tipo || ' ' || p_versao;
BEGIN%s
    RETURN NULL;
END
$corpo$, (
        SELECT string_agg(format(E'\n    IF v_evento = %L THEN RETURN registro.%I(p_payload); END IF;',
                                 e.tipo || ' ' || e.versao,
                                 core._nome_do_validador(e.tipo, e.versao) || p_sufixo),
                          '' ORDER BY e.tipo, e.versao)
          FROM core.esquemas AS e));
END
$$;

COMMENT ON FUNCTION core._corpo_de_despacho(text) IS
'Corpo plpgsql que escolhe, pelo tipo e pela versão, o validador com esse sufixo no nome.';
