-- A entrada do Registro: confere, compila e guarda o JSON Schema de um tipo e versão de evento.

CREATE OR REPLACE FUNCTION core.carregar_esquema(p_tipo text, p_versao text, p_esquema jsonb)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_nome  text := core._nome_do_validador(p_tipo, p_versao);
    v_mudou boolean;
BEGIN
    PERFORM core._conferir_nome(p_tipo, p_versao);
    PERFORM core._conferir_esquema(p_esquema, format('%s %s#', p_tipo, p_versao));
    PERFORM core._conferir_anotacoes(p_esquema, format('%s %s#', p_tipo, p_versao));

    v_mudou := core._gerar_funcao(
        v_nome, 'p_payload jsonb', 'boolean',
        core._corpo_de_expressao(core._compilar_condicao(p_esquema, 'p_payload')),
        format('Se o payload cumpre o esquema de %s %s.', p_tipo, p_versao));
    v_mudou := core._gerar_funcao(
        v_nome || '_faltas', 'p_payload jsonb', 'text[]',
        core._corpo_de_expressao(core._compilar_faltas(p_esquema, core._rotulo_da_raiz(), 'p_payload')),
        format('As faltas do payload diante do esquema de %s %s.', p_tipo, p_versao)) OR v_mudou;
    v_mudou := core._guardar_esquema(p_tipo, p_versao, p_esquema) OR v_mudou;
    IF v_mudou THEN
        PERFORM core.gerar_validadores();
    END IF;
    RETURN v_mudou;
END
$$;

COMMENT ON FUNCTION core.carregar_esquema(text, text, jsonb) IS
'Carrega um esquema no Registro e devolve se algo mudou. Compila-o em registro.<nome>(jsonb), booleana, e
registro.<nome>_faltas(jsonb), e refaz registro.valido e registro.faltas. Roda como core_dono, em migrar.
Erros: FM422 nome, versão ou anotação malformada, ou palavra-chave que o Registro não conhece, com o lugar no esquema;
FM409 outro tipo já gerou um validador de mesmo nome. Fonte: regra 11.';

CREATE OR REPLACE FUNCTION core._guardar_esquema(p_tipo text, p_versao text, p_esquema jsonb)
RETURNS boolean
LANGUAGE plpgsql
AS $$
BEGIN
    INSERT INTO core.esquemas AS e (tipo, versao, esquema, produtores, campos_pessoais)
    VALUES (p_tipo, p_versao, p_esquema,
            ARRAY(SELECT jsonb_array_elements_text(p_esquema -> 'x-produtores')),
            ARRAY(SELECT jsonb_array_elements_text(p_esquema -> 'x-campos-pessoais')))
    ON CONFLICT (tipo, versao) DO UPDATE
       SET esquema = excluded.esquema,
           produtores = excluded.produtores,
           campos_pessoais = excluded.campos_pessoais,
           carregado_em = clock_timestamp()
     WHERE e.esquema <> excluded.esquema;
    RETURN FOUND;
END
$$;

COMMENT ON FUNCTION core._guardar_esquema(text, text, jsonb) IS
'Guarda a linha de core.esquemas; devolve se ela mudou.';

CREATE OR REPLACE FUNCTION core._conferir_nome(p_tipo text, p_versao text)
RETURNS void
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    -- Cabem mais "_faltas" e o limite de 63 bytes de um identificador.
    c_nome_valido CONSTANT text := '^[a-z][a-z0-9_]{0,55}$';
    v_nome text := core._nome_do_validador(p_tipo, p_versao);
BEGIN
    IF (p_tipo IS NFC NORMALIZED
        AND p_versao ~ '^[0-9]+[.][0-9]+[.][0-9]+$'
        AND v_nome ~ c_nome_valido) IS NOT TRUE THEN
        RAISE EXCEPTION 'Tipo ou versão de evento malformado: "%" "%".', core.citar(p_tipo), core.citar(p_versao)
            USING ERRCODE = 'FM422';
    END IF;
    IF EXISTS (SELECT FROM core.esquemas AS e
                WHERE core._nome_do_validador(e.tipo, e.versao) = v_nome
                  AND (e.tipo, e.versao) <> (p_tipo, p_versao)) THEN
        RAISE EXCEPTION 'Já há outro evento cujo validador se chama %: "%" "%".', v_nome, p_tipo, p_versao
            USING ERRCODE = 'FM409';
    END IF;
END
$$;

COMMENT ON FUNCTION core._conferir_nome(text, text) IS
'Levanta FM422 se o tipo ou a versão não serve de nome, e FM409 se o nome gerado já é de outro evento.';

CREATE OR REPLACE FUNCTION core._conferir_anotacoes(p_esquema jsonb, p_ponteiro text)
RETURNS void
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    c_lista_de_nomes CONSTANT jsonpath :=
        jsonpath 'strict $.type() == "array" && !exists($[*] ? (@.type() != "string"))';
BEGIN
    IF (p_esquema -> 'x-produtores' @@ c_lista_de_nomes) IS NOT TRUE OR p_esquema -> 'x-produtores' = '[]' THEN
        RAISE EXCEPTION '%/x-produtores: deve ser uma lista com as colônias que publicam o evento.', p_ponteiro
            USING ERRCODE = 'FM422';
    END IF;
    IF NOT coalesce(p_esquema -> 'x-campos-pessoais', '[]') @@ c_lista_de_nomes THEN
        RAISE EXCEPTION '%/x-campos-pessoais: deve ser uma lista de campos do payload.', p_ponteiro
            USING ERRCODE = 'FM422';
    END IF;
END
$$;

COMMENT ON FUNCTION core._conferir_anotacoes(jsonb, text) IS
'Levanta FM422 se x-produtores ou x-campos-pessoais falta ou não é uma lista de nomes.';

CREATE OR REPLACE FUNCTION core._nome_do_validador(p_tipo text, p_versao text)
RETURNS text
LANGUAGE plpgsql
IMMUTABLE
AS $$
BEGIN
    -- Decompostos, os acentos são caracteres à parte, fora do ASCII.
    RETURN lower(regexp_replace(regexp_replace(normalize(p_tipo, NFD) || '_' || p_versao, '[^ -~]', '', 'g'),
                                '[^A-Za-z0-9]+', '_', 'g'));
END
$$;

COMMENT ON FUNCTION core._nome_do_validador(text, text) IS
'Nome do validador gerado: conselheiro.atualização_registrada 1.1.0 dá conselheiro_atualizacao_registrada_1_1_0.';
