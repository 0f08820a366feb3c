-- Quem pode publicar o quê (regra 8). Dentro de SECURITY DEFINER, quem chama é session_user.

CREATE OR REPLACE FUNCTION core._exigir_produtor(p_tipo text, p_versao_schema text, p_origem text)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM core.produtores AS p WHERE p.papel = session_user AND p.colonia = p_origem) THEN
        RAISE EXCEPTION 'O papel % não publica pela colônia %.', session_user, core.citar(p_origem)
            USING ERRCODE = 'FM403';
    END IF;
    IF NOT EXISTS (SELECT FROM core.esquemas AS e
                    WHERE e.tipo = p_tipo AND e.versao = p_versao_schema AND p_origem = ANY (e.produtores)) THEN
        RAISE EXCEPTION 'A colônia % não é produtora de % %.', p_origem, core.citar(p_tipo), core.citar(p_versao_schema)
            USING ERRCODE = 'FM403';
    END IF;
    -- O prazo posto em formigueiro_produtor não é herdado por seus membros; posto aqui, vale para qualquer papel, também
    -- atrás de um pooler, e só nesta transação, que a partir de agora segura o horizonte.
    IF current_setting('idle_in_transaction_session_timeout') = '0' THEN
        PERFORM set_config('idle_in_transaction_session_timeout',
                           (core.parametro('segundos_ocioso_produtor'))::int || 's', true);
    END IF;
END
$$;

COMMENT ON FUNCTION core._exigir_produtor(text, text, text) IS
'Levanta FM403 se o papel da sessão não publica esse tipo por essa colônia (core.produtores e x-produtores do
Registro). A quem não tem um prazo para transações paradas, dá nesta o de segundos_ocioso_produtor. Pergunte antes a
core._sem_restricao. Fonte: regras 3 e 8.';

CREATE OR REPLACE FUNCTION core._sem_restricao()
RETURNS boolean
LANGUAGE sql
STABLE
AS $$
    SELECT pg_has_role(session_user, 'core_dono', 'MEMBER')
$$;

COMMENT ON FUNCTION core._sem_restricao() IS
'Se a sessão é de um membro do dono do núcleo ou de um superusuário, que é membro de todos os papéis.';

-- As varreduras das colônias também perguntam: core.exigir_hora.
GRANT EXECUTE ON FUNCTION core._sem_restricao() TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
