-- O que as duas portas, core.publicar e core._publicar, fazem depois de saber quem chama: confere o Registro, grava e
-- acorda. SECURITY INVOKER, pois já roda como core_dono: trocar de papel outra vez custaria 4 µs por evento.
--
-- Cada passo é uma atribuição ou um IF, que o plpgsql avalia sem abrir uma consulta; só o INSERT abre uma, e o LOCK, que toma
-- antes a trava que ele tomaria.

CREATE OR REPLACE FUNCTION core._gravar_evento(
    p_tipo          text,
    p_payload       jsonb,
    p_origem        text,
    p_versao_schema text,
    p_event_id      uuid,
    p_correlacao_id uuid,
    p_de_fora       boolean
)
RETURNS bigint
LANGUAGE plpgsql
AS $$
DECLARE
    v_texto     text  := p_payload::text;
    v_impressao bytea;
    v_barreira  bigint;
    v_existente record;
    v_sequencia bigint;
BEGIN
    IF octet_length(v_texto) > core.tamanho_sem_exame() THEN
        PERFORM core._conferir_tamanho(p_tipo, p_versao_schema, octet_length(v_texto), p_de_fora);
    END IF;
    IF registro.valido(p_tipo, p_versao_schema, p_payload) IS NOT TRUE THEN
        PERFORM core._recusar_payload(p_tipo, p_versao_schema, p_payload);
    END IF;

    v_impressao := core.impressao(p_tipo, p_versao_schema, v_texto);
    -- A trava antes da barreira, e as duas antes do número (core._barreira).
    LOCK TABLE core.event_log IN ROW EXCLUSIVE MODE;
    v_barreira := core._barreira();
    INSERT INTO core.event_log (event_id, tipo, origem, versao_schema, correlacao_id, chave, payload, publicado_em,
                                impressao)
    VALUES (p_event_id, p_tipo, p_origem, p_versao_schema, coalesce(p_correlacao_id, p_event_id),
            coalesce(left(lower(p_payload ->> 'demanda_id'), 100), p_event_id::text), p_payload,
            date_trunc('milliseconds', core.agora()), v_impressao)
    ON CONFLICT DO NOTHING
    RETURNING sequence_number INTO v_sequencia;

    IF v_sequencia IS NULL THEN
        SELECT e.sequence_number, e.impressao INTO v_existente
          FROM core.event_log AS e
         WHERE e.event_id = p_event_id;
        IF NOT FOUND THEN  -- não foi o event_id que já existia
            PERFORM core._recusar_numero(NULL);
        ELSIF v_existente.impressao <> v_impressao THEN
            RAISE EXCEPTION 'O event_id % já foi publicado com outro conteúdo.', p_event_id
                USING ERRCODE = 'FM409';
        END IF;
        RETURN v_existente.sequence_number;
    END IF;

    IF v_sequencia <= v_barreira THEN
        PERFORM core._recusar_numero(v_sequencia);
    END IF;

    IF core.ha_quem_durma() THEN  -- core.acordar, sem o preço de um PERFORM
        NOTIFY formigueiro;
    END IF;
    RETURN v_sequencia;
END
$$;

COMMENT ON FUNCTION core._gravar_evento(text, jsonb, text, text, uuid, uuid, boolean) IS
'Valida e grava um evento, acorda quem dorme e devolve o sequence_number; o mesmo evento de novo devolve o primeiro.
p_de_fora diz se o evento entra na rede por core.publicar, e não é saída de uma colônia.
Erros: FM422 tipo, versão ou payload recusado pelo Registro, ou payload grande demais, vindo de fora; FM409 event_id com
outro conteúdo, sequência atrás do log ou log assinado. Fonte: regras 1, 3 e 7.';
