-- O limite em bytes de um payload, como o jsonb o escreve (N43).
--
-- O parâmetro só é lido por quem passa de core.tamanho_sem_exame(): ler uma linha a cada evento custaria mais que medir.

CREATE OR REPLACE FUNCTION core.tamanho_sem_exame()
RETURNS int
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT 262144
$$;

COMMENT ON FUNCTION core.tamanho_sem_exame() IS
'Bytes até os quais nenhum payload é grande demais, diga o que disser limite_payload: mais do que ocupa qualquer saída
que uma colônia faça do que passou pelos limites de entrada. Fonte: N43.';

CREATE OR REPLACE FUNCTION core._conferir_tamanho(p_tipo text, p_versao_schema text, p_bytes int, p_de_fora boolean)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_parametro CONSTANT jsonb := core.parametro('limite_payload');
    v_limite    CONSTANT int := CASE
                                    WHEN core._inteiro_entre(v_parametro, 1, 2147483647)
                                    THEN greatest((v_parametro)::int, core.tamanho_sem_exame())
                                    ELSE 1048576
                                END;
    v_mensagem  CONSTANT text := format('Payload de %s %s com %s bytes, e o limite é de %s.', p_tipo, p_versao_schema,
                                        p_bytes, v_limite);
BEGIN
    IF p_bytes <= v_limite THEN
        RETURN true;
    END IF;
    IF p_de_fora THEN
        RAISE EXCEPTION '%', v_mensagem USING ERRCODE = 'FM422';
    END IF;
    -- A saída de uma colônia só chega a isto se o que ela conta entrou antes do limite, ou se o limite baixou. Recusá-la
    -- deteria para sempre a chave, sem que ninguém a pudesse encolher.
    PERFORM core.registrar('aviso', v_mensagem, jsonb_build_object('tipo', p_tipo, 'bytes', p_bytes));
    RETURN true;
END
$$;

COMMENT ON FUNCTION core._conferir_tamanho(text, text, int, boolean) IS
'Mede os bytes de um payload contra o parâmetro limite_payload (1 MiB se ele não é um inteiro positivo). Vindo de fora,
o que passa é recusado; sendo saída de uma colônia, sai assim mesmo e deixa uma ocorrência de nível aviso. Devolve true.
Erros: FM422 payload grande demais. Fonte: N43.';
