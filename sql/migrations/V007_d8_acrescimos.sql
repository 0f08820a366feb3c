-- depends: V005_create_consumer_offset d6b_0012_publicacoes
-- O que a seção 5 do projeto acrescenta à D-8: o desfecho de cada ciclo (E24), o resultado de cada evento, para
-- reconstruir (E23), e os índices da varredura e do dossiê.

SET LOCAL ROLE d8_dono;

ALTER TABLE d8.historico_manutencoes
    ADD COLUMN status_execucao varchar(20)
        CHECK (status_execucao IN ('concluida', 'parcial', 'nao_executada')),
    ADD COLUMN observacoes     text;

COMMENT ON COLUMN d8.historico_manutencoes.status_execucao IS
    'Como a manutenção terminou, do evento manutenção.executada; nulo enquanto não terminou (E24).';
COMMENT ON COLUMN d8.historico_manutencoes.observacoes IS
    'Observações de manutenção.executada, já sem identificadores pessoais (E24, E29).';

ALTER TABLE d8.processed_events
    ADD COLUMN resultado varchar(10) NOT NULL DEFAULT 'processado'
        CHECK (resultado IN ('processado', 'ignorado', 'descartado'));

COMMENT ON TABLE d8.processed_events IS
    'Eventos já vistos, na ordem em que foram aplicados; entram também os que a própria D-8 gera (E23). Não expira.';
COMMENT ON COLUMN d8.processed_events.resultado IS
    'Só os processados mudaram o estado, e só eles d8.reconstruir() reaplica; assim um parâmetro que mude depois não
altera o passado.';

COMMENT ON TABLE d8.projetos_monitorados IS
    'Um projeto com plano de manutenção. Quem segura a trava da linha é o único a escrever nela e em seus ciclos.';
COMMENT ON TABLE d8.historico_manutencoes IS
    'Um ciclo gerado por linha; o id deriva do projeto e do número do ciclo.';

-- Um dossiê com alguns ciclos passa de 2 KB; comprimi-lo custaria, a cada gravação, mais que a própria linha.
ALTER TABLE d8.historico_manutencoes SET (toast_tuple_target = 4080);

-- A varredura anda por (proximo_ciclo, id): com o id no índice, projetos que vencem no mesmo instante já vêm em ordem,
-- e cada lote retoma de onde o anterior parou sem ordenar de novo.
CREATE INDEX projetos_monitorados_vencimento_idx
    ON d8.projetos_monitorados (proximo_ciclo, id)
    WHERE status = 'ativo';

-- O dossiê lê os últimos ciclos do projeto, do mais novo para trás; único, pois cada ciclo se gera uma vez.
CREATE UNIQUE INDEX historico_manutencoes_ciclo_key
    ON d8.historico_manutencoes (projeto_id, ciclo_numero);

RESET ROLE;
