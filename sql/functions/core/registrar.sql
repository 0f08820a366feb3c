-- Uma ocorrência: linha em core.ocorrencias, na transação de quem chama, e linha estruturada no log.

CREATE OR REPLACE FUNCTION core.registrar(p_nivel text, p_mensagem text, p_contexto jsonb DEFAULT '{}')
RETURNS void
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_contexto CONSTANT jsonb := core.citar_contexto(p_contexto) || jsonb_build_object('por', session_user);
    v_mensagem CONSTANT text  := core.citar(p_mensagem, 1000);
BEGIN
    IF (p_nivel IN ('info', 'aviso', 'erro')) IS NOT TRUE OR p_mensagem IS NULL
       OR jsonb_typeof(p_contexto) IS DISTINCT FROM 'object' THEN
        RAISE EXCEPTION 'O campo nivel deve ser info, aviso ou erro; mensagem é obrigatória; contexto é um objeto.'
            USING ERRCODE = 'FM422';
    END IF;
    INSERT INTO core.ocorrencias (nivel, colonia, event_id, demanda_id, mensagem, contexto)
    VALUES (p_nivel,
            left(p_contexto ->> 'colonia', 100),
            core._uuid_ou_nulo(p_contexto ->> 'event_id'),
            core._uuid_ou_nulo(p_contexto ->> 'demanda_id'),
            v_mensagem,
            v_contexto);
    IF p_nivel = 'info' THEN
        RAISE LOG USING MESSAGE = v_mensagem, DETAIL = v_contexto::text;
    ELSE
        RAISE WARNING USING MESSAGE = v_mensagem, DETAIL = v_contexto::text, HINT = p_nivel;
    END IF;
END
$$;

COMMENT ON FUNCTION core.registrar(text, text, jsonb) IS
'Registra uma ocorrência de nível info, aviso ou erro. p_contexto é um objeto; colonia, event_id e demanda_id dele
viram colunas, e por passa a ser o papel da sessão, diga o que disser. A linha do log leva o contexto em DETAIL e o
nível em HINT.
Erros: FM422 campo nulo ou fora disso. Fonte: regra 6.';

GRANT EXECUTE ON FUNCTION core.registrar(text, text, jsonb)
   TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
