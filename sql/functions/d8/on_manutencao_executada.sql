-- manutenção.executada fecha um ciclo, marca o seguinte ou encerra o projeto no fim da vida útil (D-8 3.2 e 3.9).

CREATE OR REPLACE FUNCTION d8.on_manutencao_executada(p_evento core.event_log)
RETURNS text
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload  jsonb := p_evento.payload;
    v_status   text := core.status_execucao(v_payload -> 'status_execucao');
    v_projeto  d8.projetos_monitorados;
    v_ciclo    d8.historico_manutencoes;
    v_depois   d8.projetos_monitorados;
    v_contexto jsonb;
BEGIN
    IF d8.ja_processado(p_evento) THEN
        RETURN 'duplicado';
    END IF;
    IF v_status IS NULL THEN
        RETURN d8.descartar(p_evento, 'erro', 'manutenção.executada com status_execucao desconhecido.',
                            jsonb_build_object('status_execucao', v_payload -> 'status_execucao'));
    END IF;

    SELECT * INTO v_projeto
      FROM d8.projetos_monitorados AS p
     WHERE p.id = (v_payload ->> 'projeto_original_id')::uuid
        OR p.demanda_original_id = (v_payload ->> 'projeto_original_id')::uuid
       FOR UPDATE;
    IF v_projeto.id IS NULL THEN
        RETURN d8.descartar(p_evento, 'aviso', 'manutenção.executada recebido para projeto não monitorado.',
                            jsonb_build_object('projeto_original_id', v_payload -> 'projeto_original_id'));
    END IF;
    v_contexto := jsonb_build_object('projeto_id', v_projeto.id, 'demanda_original_id', v_projeto.demanda_original_id);
    v_ciclo := d8.ciclo_da_demanda(v_projeto.id, (v_payload ->> 'demanda_id')::uuid);
    IF v_ciclo.id IS NULL THEN
        RETURN d8.descartar(p_evento, 'aviso', 'manutenção.executada recebido para demanda sem registro no histórico.',
                            v_contexto);
    END IF;
    IF v_ciclo.status IN ('concluida', 'cancelada') THEN
        RETURN d8.descartar(p_evento, 'aviso', 'manutenção.executada recebido para ciclo já encerrado.',
                            v_contexto || jsonb_build_object('ciclo_numero', v_ciclo.ciclo_numero,
                                                             'status', v_ciclo.status));
    END IF;

    v_depois := d8.registrar_execucao(p_evento, v_projeto, v_ciclo);
    PERFORM d8.marcar_processado(p_evento.event_id, p_evento.tipo);

    v_contexto := d8.contexto(p_evento) || v_contexto;
    IF v_payload ?| ARRAY['plano_manutencao', 'observacoes'] THEN
        PERFORM d8.registrar_perdas_da_execucao(v_payload, v_projeto.plano_manutencao, v_contexto);
    END IF;
    IF v_depois.status = 'encerrado' AND v_projeto.status <> 'encerrado' THEN
        PERFORM d8.publicar_encerramento(p_evento, v_depois);
    END IF;
    PERFORM core.registrar('info',
                           CASE
                               WHEN v_status = 'nao_executada' THEN 'Manutenção registrada como não executada.'
                               ELSE 'Manutenção registrada como executada.'
                           END,
                           v_contexto
                           || jsonb_build_object('demanda_manutencao_id', v_ciclo.demanda_manutencao_id,
                                                 'status_execucao', v_status,
                                                 'vida_util_esgotada',
                                                 v_depois.motivo_encerramento IS NOT DISTINCT FROM 'vida_util_esgotada',
                                                 'proximo_ciclo', core.iso(d8.proxima_manutencao(v_depois))));
    RETURN 'processado';
END
$$;

COMMENT ON FUNCTION d8.on_manutencao_executada(core.event_log) IS
'Handler de manutenção.executada: fecha o ciclo da demanda e marca o próximo em publicado_em + intervalo, ou encerra o
projeto se a vida útil acabou, publicando manutenção.ciclo_encerrado. Descarta, com ocorrência: projeto não monitorado,
demanda sem ciclo, ciclo já encerrado (aviso), status_execucao desconhecido (erro). Fonte: D-8 3.2 e 3.9, E21-E25, N54,
N56.';

CREATE OR REPLACE FUNCTION d8.ciclo_da_demanda(p_projeto_id uuid, p_demanda_id uuid)
RETURNS d8.historico_manutencoes
LANGUAGE sql
STABLE
AS $$
    SELECT h.*
      FROM d8.historico_manutencoes AS h
     WHERE h.demanda_manutencao_id = p_demanda_id
       AND h.projeto_id = p_projeto_id
$$;

COMMENT ON FUNCTION d8.ciclo_da_demanda(uuid, uuid) IS
'O ciclo do projeto que gerou essa demanda de manutenção; NULL se não há. Fonte: D-8 3.9, E22.';

CREATE OR REPLACE FUNCTION d8.registrar_execucao(
    p_evento core.event_log, p_projeto d8.projetos_monitorados, p_ciclo d8.historico_manutencoes
)
RETURNS d8.projetos_monitorados
LANGUAGE plpgsql
AS $$
DECLARE
    v_payload   jsonb := p_evento.payload;
    v_quando    timestamptz := p_evento.publicado_em;
    v_status    text := core.status_execucao(v_payload -> 'status_execucao');
    v_executada boolean := v_status <> 'nao_executada';
    v_projeto   d8.projetos_monitorados;
BEGIN
    UPDATE d8.historico_manutencoes AS h
       SET status = CASE WHEN v_executada THEN 'concluida' ELSE 'cancelada' END,
           data_conclusao = CASE
                                WHEN v_executada
                                THEN date_trunc('milliseconds',
                                                coalesce((v_payload ->> 'data_conclusao')::timestamptz, v_quando))
                            END,
           conselheiro_id = (v_payload ->> 'conselheiro_id')::uuid,
           status_execucao = v_status,
           observacoes = left(d8.texto_publico(v_payload -> 'observacoes'), 10000),
           event_id_ultima_alteracao = p_evento.event_id,
           atualizado_em = d8.sem_recuar(v_quando, h.atualizado_em)
     WHERE h.id = p_ciclo.id;

    IF p_projeto.status = 'encerrado' THEN
        RETURN p_projeto;
    END IF;
    IF v_quando > d8.fim_da_vida(p_projeto) THEN
        PERFORM d8.gravar_encerramento(p_projeto.id, 'vida_util_esgotada',
                                       d8.sem_recuar(v_quando, p_projeto.atualizado_em), p_evento.event_id);
    -- Mais velha que o último ciclo gerado ou que a última execução, não traz de volta o que eles marcaram.
    ELSIF v_executada AND v_quando >= p_projeto.atualizado_em THEN
        UPDATE d8.projetos_monitorados AS p
           SET proximo_ciclo = d8.mais_dias(v_quando, d8.proximo_intervalo(v_payload, p.plano_manutencao)),
               event_id_ultima_alteracao = p_evento.event_id,
               atualizado_em = v_quando
         WHERE p.id = p_projeto.id;
    END IF;
    SELECT * INTO STRICT v_projeto FROM d8.projetos_monitorados AS p WHERE p.id = p_projeto.id;
    RETURN v_projeto;
END
$$;

COMMENT ON FUNCTION d8.registrar_execucao(core.event_log, d8.projetos_monitorados, d8.historico_manutencoes) IS
'Aplica uma execução já julgada ao ciclo e ao projeto, que quem chama travou, e devolve o projeto como ficou.
concluida e parcial fecham o ciclo como concluida e marcam o próximo, salvo se o que o marcou é mais novo que ela;
nao_executada o fecha como cancelada e não mexe no próximo; o fim da vida útil encerra em qualquer dos três; um projeto
encerrado fica como está.
Fonte: D-8 3.9, E21, E24, E25, N55.';

CREATE OR REPLACE FUNCTION d8.proximo_intervalo(p_payload jsonb, p_plano jsonb)
RETURNS int
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT CASE
               WHEN core._inteiro_entre(p_payload #> '{plano_manutencao,intervalo_dias}', 1, 36500)
               THEN (p_payload #> '{plano_manutencao,intervalo_dias}')::int
               ELSE (p_plano -> 'intervalo_dias')::int
           END
$$;

COMMENT ON FUNCTION d8.proximo_intervalo(jsonb, jsonb) IS
'Dias até o próximo ciclo: os do plano que veio na execução ou, sem um que sirva, os do plano do projeto. Fonte: E25.';

CREATE OR REPLACE FUNCTION d8.erros_do_proximo_plano(p_payload jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
AS $$
    -- Só o intervalo do plano é usado, e só ele é cobrado.
    SELECT coalesce(jsonb_agg(e.erro), '[]')
      FROM jsonb_array_elements(core.erros_plano(p_payload -> 'plano_manutencao', 'null', 'null')) AS e (erro)
     WHERE coalesce(p_payload -> 'plano_manutencao', 'null') <> 'null'
       AND e.erro ->> 'campo' = 'plano_manutencao.intervalo_dias'
$$;

COMMENT ON FUNCTION d8.erros_do_proximo_plano(jsonb) IS
'Faltas do intervalo do plano que veio na execução: [{campo, mensagem}]; vazio sem plano ou com um que serve.';

CREATE OR REPLACE FUNCTION d8.registrar_perdas_da_execucao(p_payload jsonb, p_plano jsonb, p_contexto jsonb)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_erros  jsonb := d8.erros_do_proximo_plano(p_payload);
    v_perdas jsonb := d8.perdas_da_execucao(p_payload, p_plano);
BEGIN
    IF v_erros <> '[]' THEN
        PERFORM core.registrar('erro', 'Plano do próximo ciclo recusado; vale o do projeto.',
                               p_contexto || jsonb_build_object('erros', v_erros));
    END IF;
    IF v_perdas <> '[]' THEN
        PERFORM core.registrar('aviso', 'Campos da execução que a D-8 corta ou deixa de fora.',
                               p_contexto || jsonb_build_object('erros', v_perdas));
    END IF;
END
$$;

COMMENT ON FUNCTION d8.registrar_perdas_da_execucao(jsonb, jsonb, jsonb) IS
'Ocorrências do que a execução traz e não vale: plano recusado (erro), campos cortados ou de fora (aviso). Fonte: E25, N56.';

CREATE OR REPLACE FUNCTION d8.perdas_da_execucao(p_payload jsonb, p_plano jsonb)
RETURNS jsonb
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('campo', t.campo, 'mensagem', t.mensagem) ORDER BY t.n), '[]')
      FROM (SELECT 1, 'observacoes', 'Texto acima de 1000 caracteres: os dossiês levam os 1000 primeiros.'
             WHERE length(p_payload ->> 'observacoes') > 1000
            UNION ALL
            -- Um plano sem intervalo que sirva já foi recusado inteiro.
            SELECT 1 + c.n, 'plano_manutencao.' || c.campo, 'Do plano da execução só vale intervalo_dias; segue o do projeto.'
              FROM (VALUES (1, 'tipo'), (2, 'prazo_tolerancia_dias'), (3, 'vida_util_dias')) AS c (n, campo)
             WHERE core._inteiro_entre(p_payload #> '{plano_manutencao,intervalo_dias}', 1, 36500)
               AND coalesce(p_payload -> 'plano_manutencao' -> c.campo, 'null')
                   NOT IN ('null', coalesce(p_plano -> c.campo, 'null'))) AS t (n, campo, mensagem)
$$;

COMMENT ON FUNCTION d8.perdas_da_execucao(jsonb, jsonb) IS
'O que a execução traz e a D-8 não leva adiante: [{campo, mensagem}]. p_plano é o do projeto. Fonte: E24, E25, N56.';

CREATE OR REPLACE FUNCTION d8.publicar_encerramento(p_evento core.event_log, p_projeto d8.projetos_monitorados)
RETURNS void
LANGUAGE plpgsql
AS $$
DECLARE
    v_saida jsonb := core._saida('manutenção.ciclo_encerrado', '1.0.0',
                                 d8.payload_encerrado(p_projeto, p_projeto.motivo_encerramento,
                                                      p_projeto.data_encerramento),
                                 p_evento.correlacao_id);
BEGIN
    PERFORM core._publicar_saidas(p_evento, 'D-8', jsonb_build_array(v_saida));
    PERFORM d8.marcar_processado((v_saida ->> 'event_id')::uuid, 'manutenção.ciclo_encerrado');
END
$$;

COMMENT ON FUNCTION d8.publicar_encerramento(core.event_log, d8.projetos_monitorados) IS
'Publica, como saída do evento, o manutenção.ciclo_encerrado de um projeto que ele encerrou. Fonte: D-8 3.9, regra 5.';
