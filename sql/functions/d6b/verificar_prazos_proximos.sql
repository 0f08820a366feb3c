-- A varredura dos prazos (D-6b 3.12): alerta os próximos, vence os passados.

CREATE OR REPLACE FUNCTION d6b.verificar_prazos_proximos(p_agora timestamptz DEFAULT core.agora())
RETURNS jsonb
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_agora    timestamptz := d6b.centesimo(p_agora);
    v_hoje     date        := (p_agora AT TIME ZONE 'UTC')::date;
    v_dia      date;
    v_prazo    d6b.prazos;
    v_vencidos int;
    v_alertas  int := 0;
    v_falhas   int := 0;
    v_balanco  jsonb;
BEGIN
    PERFORM core.exigir_hora(p_agora);
    v_dia := d6b.dia_dos_prazos(p_agora);
    WITH alvo AS MATERIALIZED (
        SELECT p.id
          FROM d6b.prazos AS p
          JOIN d6b.acompanhamentos AS a ON a.id = p.acompanhamento_id
         WHERE p.status = 'vigente'
           AND p.data_estimada <= v_hoje + (core.parametro('dias_antecedencia_alerta_prazo'))::int
           AND (p.data_estimada < v_dia OR a.status NOT IN ('aguardando_inicio', 'em_andamento'))
           FOR UPDATE OF p SKIP LOCKED
    )
    UPDATE d6b.prazos AS p
       SET status = 'vencido'
      FROM alvo AS v
     WHERE p.id = v.id;
    GET DIAGNOSTICS v_vencidos = ROW_COUNT;

    FOR v_prazo IN
        SELECT p.*
          FROM d6b.prazos AS p
          JOIN d6b.acompanhamentos AS a ON a.id = p.acompanhamento_id
         WHERE p.status = 'vigente'
           AND NOT p.alerta_enviado
           AND p.data_estimada BETWEEN v_dia AND v_hoje + (core.parametro('dias_antecedencia_alerta_prazo'))::int
           AND a.status IN ('aguardando_inicio', 'em_andamento')
         ORDER BY p.data_estimada, p.id
           FOR UPDATE OF p SKIP LOCKED
    LOOP
        IF d6b.alertar_prazo(v_prazo, v_agora) THEN
            v_alertas := v_alertas + 1;
        ELSE
            v_falhas := v_falhas + 1;
        END IF;
    END LOOP;

    v_balanco := jsonb_build_object('alertas_enviados', v_alertas, 'prazos_vencidos', v_vencidos, 'falhas', v_falhas);
    PERFORM core.marcar_execucao('d6b-prazos');
    RAISE LOG USING MESSAGE = 'Verificação de prazos concluída', DETAIL = v_balanco::text;
    RETURN v_balanco;
END
$$;

COMMENT ON FUNCTION d6b.verificar_prazos_proximos(timestamptz) IS
'Publica conselheiro.prazo_próximo dos prazos vigentes a até 3 dias (parâmetro dias_antecedencia_alerta_prazo, dias UTC)
e marca vencido o que passou (d6b.dia_dos_prazos) ou é de ciclo encerrado. Devolve {alertas_enviados, prazos_vencidos, falhas}; um alerta que
não pôde sair fica na DLQ e não detém os outros. Pode rodar em várias sessões. Erros: FM422 hora nula ou infinita.
Fonte: D-6b 3.12, E10, regra 9.';

CREATE OR REPLACE FUNCTION d6b.alertar_prazo(p_prazo d6b.prazos, p_agora timestamptz)
RETURNS boolean
LANGUAGE plpgsql
AS $$
DECLARE
    v_acompanhamento d6b.acompanhamentos;
    v_causa          core.event_log;
BEGIN
    SELECT * INTO STRICT v_acompanhamento FROM d6b.acompanhamentos AS a WHERE a.id = p_prazo.acompanhamento_id;
    SELECT * INTO v_causa FROM core.event_log AS e WHERE e.event_id = p_prazo.event_id_atualizacao;
    UPDATE d6b.prazos AS p
       SET alerta_enviado = true,
           data_alerta = p_agora
     WHERE p.id = p_prazo.id;
    RETURN core._publicar_saidas(v_causa, 'D-6b', jsonb_build_array(core._saida(
        'conselheiro.prazo_próximo', '1.0.0',
        jsonb_build_object('demanda_id', p_prazo.demanda_id,
                           'conselheiro_id', v_acompanhamento.conselheiro_id,
                           'unidade_civica_id', v_acompanhamento.unidade_civica_id,
                           'prazo_id', p_prazo.id,
                           'data_estimada', to_char(p_prazo.data_estimada, 'YYYY-MM-DD'),
                           'dias_restantes',
                           greatest(p_prazo.data_estimada - (p_agora AT TIME ZONE 'UTC')::date, 0),
                           'descricao_prazo', coalesce(core.mascarar_identificadores(p_prazo.descricao), ''),
                           'timestamp', core.iso(p_agora)),
        p_prazo.demanda_id,
        core.uuid_derivado('conselheiro.prazo_próximo', p_prazo.id::text))));
END
$$;

COMMENT ON FUNCTION d6b.alertar_prazo(d6b.prazos, timestamptz) IS
'Marca o prazo alertado e publica conselheiro.prazo_próximo, com a demanda por correlação; false se a saída ficou na DLQ.
Fonte: D-6b 3.5 e 3.12.';

GRANT EXECUTE ON FUNCTION d6b.verificar_prazos_proximos(timestamptz) TO formigueiro_app, formigueiro_dba;
