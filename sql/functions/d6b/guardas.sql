-- As garantias que a especificação deixa à aplicação, aqui no banco (E13).

CREATE OR REPLACE FUNCTION d6b.guarda_atualizacoes()
RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.conteudo_estruturado ->> 'transcricao_status' = 'aguardando'
       AND to_jsonb(NEW) - ARRAY['texto_estruturado', 'conteudo_estruturado']
         = to_jsonb(OLD) - ARRAY['texto_estruturado', 'conteudo_estruturado'] THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'UPDATE' AND EXISTS (SELECT FROM d6b.acompanhamentos AS a
                                       WHERE a.id = OLD.acompanhamento_id
                                         AND a.redigido_em IS NOT NULL)
       AND to_jsonb(NEW) = to_jsonb(OLD) || jsonb_build_object(
               'texto_bruto', '', 'texto_estruturado', '', 'sugestao_ia', NULL,
               'conteudo_estruturado', d6b.conteudo_redigido(OLD.conteudo_estruturado)) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'd6b.atualizacoes é só de acréscimo: % recusado na atualização %.', TG_OP, OLD.id
        USING ERRCODE = 'FM409';
END
$$;

COMMENT ON FUNCTION d6b.guarda_atualizacoes() IS
'Gatilho: recusa com FM409 mudar ou remover uma atualização, salvo a transcrição que uma linha pendente espera e
a redação de um ciclo com redigido_em. Fonte: D-6b 2.3, E13.';

CREATE OR REPLACE TRIGGER atualizacoes_so_acrescimo
    BEFORE UPDATE OR DELETE ON d6b.atualizacoes
    FOR EACH ROW
    EXECUTE FUNCTION d6b.guarda_atualizacoes();

CREATE OR REPLACE FUNCTION d6b.guarda_truncate()
RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    RAISE EXCEPTION '%.% não pode ser esvaziada.', TG_TABLE_SCHEMA, TG_TABLE_NAME USING ERRCODE = 'FM409';
END
$$;

COMMENT ON FUNCTION d6b.guarda_truncate() IS
'Gatilho: recusa TRUNCATE com FM409. Fonte: E13.';

CREATE OR REPLACE TRIGGER atualizacoes_sem_truncate
    BEFORE TRUNCATE ON d6b.atualizacoes
    FOR EACH STATEMENT
    EXECUTE FUNCTION d6b.guarda_truncate();

CREATE OR REPLACE FUNCTION d6b.guarda_acompanhamentos()
RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF (OLD.status, NEW.status) IN (('aguardando_inicio', 'em_andamento'),
                                    ('aguardando_inicio', 'reatribuido'),
                                    ('em_andamento', 'reatribuido'),
                                    ('em_andamento', 'concluido'),
                                    ('em_andamento', 'fim_mandato'),
                                    ('em_andamento', 'desistencia')) THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'Transição proibida de status: % para %, no acompanhamento %.', OLD.status, NEW.status, OLD.id
        USING ERRCODE = 'FM409';
END
$$;

COMMENT ON FUNCTION d6b.guarda_acompanhamentos() IS
'Gatilho: só deixa passar as transições de status da seção 4.8; as demais, FM409. Fonte: D-6b 4.8, E13.';

CREATE OR REPLACE TRIGGER acompanhamentos_transicoes
    BEFORE UPDATE OF status ON d6b.acompanhamentos
    FOR EACH ROW
    WHEN (OLD.status IS DISTINCT FROM NEW.status)
    EXECUTE FUNCTION d6b.guarda_acompanhamentos();
