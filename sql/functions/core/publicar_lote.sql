-- Muitos eventos de uma vez, por conjunto: tudo ou nada.

CREATE OR REPLACE FUNCTION core.publicar_lote(p_eventos jsonb)
RETURNS SETOF bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_sequencias bigint[];
BEGIN
    PERFORM core._conferir_lote(p_eventos);
    SELECT core._publicar_lote(array_agg(e.evento ->> 'tipo'),
                               array_agg(e.evento -> 'payload'),
                               array_agg(e.evento ->> 'origem'),
                               array_agg(coalesce(e.evento ->> 'versao_schema', '1.0.0')),
                               array_agg(coalesce((e.evento ->> 'event_id')::uuid, gen_random_uuid())),
                               array_agg((e.evento ->> 'correlacao_id')::uuid),
                               true)
      INTO v_sequencias
      FROM (SELECT a.evento FROM jsonb_array_elements(p_eventos) WITH ORDINALITY AS a (evento, n) ORDER BY a.n) AS e
    HAVING count(*) > 0;
    RETURN QUERY SELECT s.sequencia FROM unnest(v_sequencias) WITH ORDINALITY AS s (sequencia, n) ORDER BY s.n;
END
$$;

COMMENT ON FUNCTION core.publicar_lote(jsonb) IS
'Publica um vetor de {tipo, payload, origem, versao_schema, event_id, correlacao_id} e devolve os sequence_number, na
ordem do vetor. Os três últimos campos têm os padrões de core.publicar. Tudo ou nada; idempotente por event_id, também
dentro do vetor. Erros, sempre com a posição do elemento, desde 1: FM422 campo, tipo, versão ou payload recusado, também por seus bytes;
FM409 event_id com outro conteúdo; FM403 papel que não publica esse tipo por essa colônia.';

CREATE OR REPLACE FUNCTION core._conferir_lote(p_eventos jsonb)
RETURNS void
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_falta record;
    v_grupo record;
    v_n     bigint;
BEGIN
    IF jsonb_typeof(p_eventos) IS DISTINCT FROM 'array' THEN
        RAISE EXCEPTION 'O lote deve ser um vetor de eventos.' USING ERRCODE = 'FM422';
    END IF;

    SELECT a.n, c.campo INTO v_falta
      FROM jsonb_array_elements(p_eventos) WITH ORDINALITY AS a (evento, n)
     CROSS JOIN (VALUES (1, 'tipo', true), (2, 'payload', true), (3, 'origem', true), (4, 'versao_schema', false),
                        (5, 'event_id', false), (6, 'correlacao_id', false)) AS c (ordem, campo, obrigatorio)
     WHERE CASE
               WHEN coalesce(a.evento -> c.campo, 'null') = 'null' THEN c.obrigatorio
               WHEN c.campo = 'payload' THEN false
               WHEN jsonb_typeof(a.evento -> c.campo) <> 'string' THEN true
               ELSE c.campo IN ('event_id', 'correlacao_id') AND core._uuid_ou_nulo(a.evento ->> c.campo) IS NULL
           END
     ORDER BY a.n, c.ordem
     LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'Elemento % do lote: o campo % falta ou não serve.', v_falta.n, v_falta.campo
            USING ERRCODE = 'FM422';
    END IF;

    SELECT min(a.n) INTO v_n
      FROM jsonb_array_elements(p_eventos) WITH ORDINALITY AS a (evento, n)
     WHERE core._derivado((a.evento ->> 'event_id')::uuid);
    IF v_n IS NOT NULL THEN
        RAISE EXCEPTION 'Elemento % do lote: o campo event_id não pode ser um UUID de versão 8, que só as colônias derivam.', v_n
            USING ERRCODE = 'FM422';
    END IF;

    IF core._sem_restricao() THEN
        RETURN;
    END IF;
    FOR v_grupo IN
        SELECT a.evento ->> 'tipo' AS tipo, coalesce(a.evento ->> 'versao_schema', '1.0.0') AS versao,
               a.evento ->> 'origem' AS origem, min(a.n) AS n
          FROM jsonb_array_elements(p_eventos) WITH ORDINALITY AS a (evento, n)
         GROUP BY 1, 2, 3
         ORDER BY 4
    LOOP
        BEGIN
            PERFORM core._exigir_produtor(v_grupo.tipo, v_grupo.versao, v_grupo.origem);
        EXCEPTION WHEN SQLSTATE 'FM403' THEN
            RAISE EXCEPTION 'Elemento % do lote: %', v_grupo.n, SQLERRM USING ERRCODE = 'FM403';
        END;
    END LOOP;
END
$$;

COMMENT ON FUNCTION core._conferir_lote(jsonb) IS
'Confere a forma de cada elemento do lote e o direito de publicá-lo. Erros: FM422 e FM403, com a posição do elemento.';

-- O caminho que a varredura da D-8 também usa: seis vetores paralelos, um comando que valida e grava.
--
-- A validação é condição do próprio INSERT: no caso comum, cada payload é lido uma vez; se gravou menos que o pedido,
-- procura-se qual foi recusado. A ordem dos números é a dos vetores, que unnest segue.
--
-- O INSERT não traz ON CONFLICT, que sondaria o índice duas vezes por evento (medido: 10 µs cada, um oitavo do total).
-- Um event_id repetido o desfaz, e o lote vai pelo caminho que distingue a reentrega do reuso; também um payload grande
-- demais, pelo caminho que diz qual é.
CREATE OR REPLACE FUNCTION core._publicar_lote(
    p_tipos text[], p_payloads jsonb[], p_origens text[], p_versoes text[], p_event_ids uuid[], p_correlacoes uuid[],
    p_de_fora boolean
)
RETURNS bigint[]
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_quando     CONSTANT timestamptz := date_trunc('milliseconds', core.agora());
    v_barreira   bigint;
    v_sequencias bigint[];
BEGIN
    LOCK TABLE core.event_log IN ROW EXCLUSIVE MODE;  -- antes da barreira, e ela antes do número
    v_barreira := core._barreira();
    BEGIN
        WITH gravados AS (
            INSERT INTO core.event_log (event_id, tipo, origem, versao_schema, correlacao_id, chave, payload,
                                        publicado_em, impressao)
            SELECT e.event_id, e.tipo, e.origem, e.versao, coalesce(e.correlacao_id, e.event_id),
                   coalesce(left(lower(e.payload ->> 'demanda_id'), 100), e.event_id::text), e.payload, v_quando,
                   core.impressao(e.tipo, e.versao, e.texto)
              -- OFFSET 0: o payload se escreve uma vez, para medir e para a impressão.
              FROM (SELECT u.*, u.payload::text AS texto
                      FROM unnest(p_tipos, p_payloads, p_origens, p_versoes, p_event_ids, p_correlacoes)
                           AS u (tipo, payload, origem, versao, event_id, correlacao_id)
                    OFFSET 0) AS e
             WHERE registro.valido(e.tipo, e.versao, e.payload)
               AND CASE
                       WHEN octet_length(e.texto) > core.tamanho_sem_exame()
                       THEN core._conferir_tamanho(e.tipo, e.versao, octet_length(e.texto), p_de_fora)
                       ELSE true
                   END
            RETURNING sequence_number
        )
        SELECT array_agg(g.sequence_number) INTO v_sequencias FROM gravados AS g;
        -- O primeiro é o menor. Só aqui: um a um, um número já passado pode ser o da primeira entrega.
        IF v_sequencias[1] <= v_barreira THEN
            PERFORM core._recusar_numero(v_sequencias[1]);
        END IF;
    EXCEPTION WHEN unique_violation OR SQLSTATE 'FM422' THEN
        v_sequencias := core._publicar_um_a_um(p_tipos, p_payloads, p_origens, p_versoes, p_event_ids, p_correlacoes,
                                               p_de_fora);
    END;
    IF cardinality(v_sequencias) IS DISTINCT FROM cardinality(p_event_ids) THEN
        PERFORM core._recusar_do_lote(p_tipos, p_versoes, p_payloads);
    END IF;
    PERFORM core.acordar();
    RETURN v_sequencias;
END
$$;

COMMENT ON FUNCTION core._publicar_lote(text[], jsonb[], text[], text[], uuid[], uuid[], boolean) IS
'Publica eventos dados em vetores paralelos (tipos, payloads, origens, versões, event_ids, correlações) e devolve seus
sequence_number, na mesma ordem. Tudo ou nada. p_de_fora diz se entram na rede por core.publicar_lote, e não são saídas
de uma colônia. Erros: FM422 e FM409, com a posição do elemento; FM409 sequência atrás do log ou log assinado.
Fonte: regras 1, 3 e 7.';

CREATE OR REPLACE FUNCTION core._recusar_do_lote(p_tipos text[], p_versoes text[], p_payloads jsonb[])
RETURNS void
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_mau record;
BEGIN
    SELECT e.n, e.tipo, e.versao, e.payload INTO v_mau
      FROM unnest(p_tipos, p_versoes, p_payloads) WITH ORDINALITY AS e (tipo, versao, payload, n)
     WHERE registro.valido(e.tipo, e.versao, e.payload) IS NOT TRUE
     ORDER BY e.n
     LIMIT 1;
    IF FOUND THEN
        BEGIN
            PERFORM core._recusar_payload(v_mau.tipo, v_mau.versao, v_mau.payload);
        EXCEPTION WHEN SQLSTATE 'FM422' THEN
            RAISE EXCEPTION 'Elemento % do lote: %', v_mau.n, SQLERRM USING ERRCODE = 'FM422';
        END;
    END IF;
END
$$;

COMMENT ON FUNCTION core._recusar_do_lote(text[], text[], jsonb[]) IS
'Levanta FM422 pelo primeiro elemento que o Registro recusa, com todas as suas faltas; nada faz se nenhum.';

CREATE OR REPLACE FUNCTION core._publicar_um_a_um(
    p_tipos text[], p_payloads jsonb[], p_origens text[], p_versoes text[], p_event_ids uuid[], p_correlacoes uuid[],
    p_de_fora boolean
)
RETURNS bigint[]
LANGUAGE plpgsql
AS $$
DECLARE
    v_sequencias bigint[];
BEGIN
    FOR i IN 1 .. cardinality(p_event_ids) LOOP
        BEGIN
            v_sequencias[i] := core._gravar_evento(p_tipos[i], p_payloads[i], p_origens[i], p_versoes[i], p_event_ids[i],
                                                   p_correlacoes[i], p_de_fora);
        EXCEPTION WHEN SQLSTATE 'FM409' OR SQLSTATE 'FM422' THEN
            RAISE EXCEPTION 'Elemento % do lote: %', i, SQLERRM USING ERRCODE = SQLSTATE;
        END;
    END LOOP;
    RETURN v_sequencias;
END
$$;

COMMENT ON FUNCTION core._publicar_um_a_um(text[], jsonb[], text[], text[], uuid[], uuid[], boolean) IS
'Publica um a um, o que reconhece a reentrega, um lote em que algum event_id já existe ou algum payload é grande demais.
Erros: FM409 event_id com outro conteúdo e FM422 payload recusado, com a posição do elemento.';

GRANT EXECUTE ON FUNCTION core.publicar_lote(jsonb) TO formigueiro_produtor;
GRANT EXECUTE ON FUNCTION core._publicar_lote(text[], jsonb[], text[], text[], uuid[], uuid[], boolean) TO d6b_dono, d8_dono;
