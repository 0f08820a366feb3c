-- conselheiro.atualização_transcrita preenche, uma única vez, a linha que esperava o texto (D-6b 3.2.1 e 3.9.1).

CREATE OR REPLACE FUNCTION d6b.on_conselheiro_atualizacao_transcrita(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload     jsonb := p_evento.payload;
    v_sucesso     boolean;
    v_faltas      text[] := d6b.campos_ausentes(v_payload, 'atualizacao_event_id', 'sucesso');
    v_erros       jsonb  := d6b.erros_da_transcricao(v_payload);
    v_atualizacao d6b.atualizacoes;
BEGIN
    IF d6b.ja_processado(p_evento) THEN
        RETURN 'duplicado';
    END IF;
    IF v_faltas <> '{}' THEN
        RETURN d6b.descartar(p_evento, 'erro', 'Payload incompleto', jsonb_build_object('faltam', v_faltas));
    END IF;
    IF v_erros <> '[]' THEN
        RETURN d6b.descartar(p_evento, 'erro', 'Transcrição inválida', jsonb_build_object('erros', v_erros));
    END IF;

    -- A trava é do acompanhamento, ativo ou não; depois dela a linha é relida.
    PERFORM FROM d6b.acompanhamentos AS a
      JOIN d6b.atualizacoes AS u ON u.acompanhamento_id = a.id
     WHERE u.event_id_publicacao = (v_payload ->> 'atualizacao_event_id')::uuid
       FOR UPDATE OF a;
    SELECT * INTO v_atualizacao
      FROM d6b.atualizacoes AS u
     WHERE u.event_id_publicacao = (v_payload ->> 'atualizacao_event_id')::uuid;
    IF v_atualizacao.id IS NULL THEN
        PERFORM d6b.exigir_atualizacao_tratada(p_evento);
        RETURN d6b.descartar(p_evento, 'aviso', 'Transcrição sem atualização correspondente');
    END IF;
    IF v_atualizacao.conteudo_estruturado ->> 'transcricao_status' IS DISTINCT FROM 'aguardando'
       OR EXISTS (SELECT FROM d6b.acompanhamentos AS a
                   WHERE a.id = v_atualizacao.acompanhamento_id
                     AND a.redigido_em IS NOT NULL) THEN
        RETURN d6b.descartar(p_evento, 'aviso', 'A atualização não aguarda transcrição',
                             jsonb_build_object('atualizacao_id', v_atualizacao.id));
    END IF;

    v_sucesso := (v_payload ->> 'sucesso')::boolean AND coalesce(btrim(v_payload ->> 'texto_transcrito'), '') <> '';
    v_atualizacao := d6b.aplicar_transcricao(v_atualizacao, v_payload, v_sucesso);
    IF d6b.conclui(to_jsonb(v_atualizacao)) THEN
        PERFORM d6b.aplicar_transcricao_da_conclusao(v_atualizacao, v_sucesso, p_evento);
    ELSIF v_sucesso THEN
        PERFORM d6b.enfileirar_publicacao(v_atualizacao);
    END IF;
    PERFORM d6b.marcar_processado(p_evento);
    RETURN 'processado';
END
$$;

COMMENT ON FUNCTION d6b.on_conselheiro_atualizacao_transcrita(core.event_log) IS
'Handler de conselheiro.atualização_transcrita: com sucesso, preenche o texto e o põe na fila de publicação; sem, marca
a falha e nada publica. A de uma conclusão preenche texto_resumo_final e solta o resumo de fecho (E15). Descarta, com
ocorrência: texto ou modelo longos demais, sem linha, linha que não aguarda ou de ciclo que a retenção já redigiu, payload
incompleto. Erros: FM409 a atualização está na DLQ. Fonte: D-6b 3.2.1 e 3.9.1, E12, E18.';

CREATE OR REPLACE FUNCTION d6b.exigir_atualizacao_tratada(p_evento core.event_log)
RETURNS void
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    -- O contrato dispensa demanda_id na transcrição, e sem ele a chave dela é outra: não espera na DLQ pela da demanda.
    IF EXISTS (SELECT
                 FROM core.dlq AS d
                WHERE d.colonia = 'D-6b'
                  AND d.event_id = (p_evento.payload ->> 'atualizacao_event_id')::uuid
                  AND d.especie = 'evento'
                  AND d.estado IN ('pendente', 'em_espera')) THEN
        RAISE EXCEPTION 'A atualização % está na DLQ; a transcrição espera por ela.', p_evento.payload ->> 'atualizacao_event_id'
            USING ERRCODE = 'FM409';
    END IF;
END
$$;

COMMENT ON FUNCTION d6b.exigir_atualizacao_tratada(core.event_log) IS
'Recusa a transcrição de uma atualização que ainda está em aberto na DLQ, para que fique lá também e seja tentada depois
dela. Erros: FM409. Fonte: regras 2 e 4.';

-- Sem consultas, como d6b.erros_de_limite. O modelo vai a um evento público, mas nenhum parâmetro o mede.
CREATE OR REPLACE FUNCTION d6b.erros_da_transcricao(p_payload jsonb)
RETURNS jsonb
LANGUAGE plpgsql
STABLE
AS $$
DECLARE
    v_texto CONSTANT int := (core.parametro('limite_texto'))::int;
    v_erros jsonb := '[]'::jsonb;
BEGIN
    IF length(p_payload ->> 'texto_transcrito') > v_texto THEN
        v_erros := v_erros || d6b.erro('texto_transcrito', format('Texto acima de %s caracteres.', v_texto));
    END IF;
    IF length(p_payload ->> 'modelo_transcricao') > 200 THEN
        v_erros := v_erros || d6b.erro('modelo_transcricao', 'Texto acima de 200 caracteres.');
    END IF;
    RETURN v_erros;
END
$$;

COMMENT ON FUNCTION d6b.erros_da_transcricao(jsonb) IS
'O que de uma transcrição passa dos limites: [{campo, mensagem}]. Fonte: D-6b 6.2, E12.';

CREATE OR REPLACE FUNCTION d6b.aplicar_transcricao(p_atualizacao d6b.atualizacoes, p_payload jsonb, p_sucesso boolean)
RETURNS d6b.atualizacoes
LANGUAGE plpgsql
AS $$
DECLARE
    v d6b.atualizacoes;
BEGIN
    UPDATE d6b.atualizacoes AS u
       SET texto_estruturado = CASE WHEN p_sucesso THEN p_payload ->> 'texto_transcrito' ELSE u.texto_estruturado END,
           conteudo_estruturado = u.conteudo_estruturado || CASE
               WHEN p_sucesso
               THEN jsonb_build_object('transcricao_status', 'concluida')
                    || jsonb_strip_nulls(jsonb_build_object(
                           'modelo_transcricao', d6b.texto_ou_nulo(p_payload -> 'modelo_transcricao'),
                           'confianca_transcricao', p_payload -> 'confianca'))
               ELSE jsonb_build_object('transcricao_status', 'falha')
           END
     WHERE u.id = p_atualizacao.id
    RETURNING * INTO v;
    RETURN v;
END
$$;

COMMENT ON FUNCTION d6b.aplicar_transcricao(d6b.atualizacoes, jsonb, boolean) IS
'Grava na linha o resultado da transcrição: texto, modelo e confiança, ou a falha. Fonte: D-6b 3.9.1, E18.';

CREATE OR REPLACE FUNCTION d6b.aplicar_transcricao_da_conclusao(
    p_atualizacao d6b.atualizacoes, p_sucesso boolean, p_evento core.event_log
)
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    UPDATE d6b.acompanhamentos AS a
       SET texto_resumo_final = CASE
                                    WHEN p_sucesso THEN p_atualizacao.texto_estruturado
                                    ELSE 'Conclusão relatada em áudio; a transcrição não foi possível.'
                                END,
           event_id_ultima_alteracao = p_evento.event_id,
           atualizado_em = d6b.centesimo(p_evento.publicado_em)
     WHERE a.id = p_atualizacao.acompanhamento_id;
    UPDATE d6b.publicacoes_pendentes AS p
       SET proxima_tentativa = clock_timestamp()
     WHERE p.atualizacao_id = p_atualizacao.id;
    PERFORM core.acordar();
END
$$;

COMMENT ON FUNCTION d6b.aplicar_transcricao_da_conclusao(d6b.atualizacoes, boolean, core.event_log) IS
'O texto da conclusão relatada em áudio vira texto_resumo_final, e o resumo de fecho deixa de esperar. Fonte: E15.';
