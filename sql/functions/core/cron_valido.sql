-- Que horários a agenda aceita: os que o pg_cron (todas as versões) e o app entendem do mesmo modo.

CREATE OR REPLACE FUNCTION core.cron_valido(p_cron text)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT cardinality(c.campos) = 5
           AND core._valores_do_cron(c.campos[1], 0, 59) IS NOT NULL
           AND core._valores_do_cron(c.campos[2], 0, 23) IS NOT NULL
           AND core._valores_do_cron(c.campos[5], 0, 7) IS NOT NULL
           -- Um dia que nenhum dos meses tem não chega nunca.
           AND EXISTS (SELECT FROM unnest(core._valores_do_cron(c.campos[3], 1, 31)) AS d (dia)
                        CROSS JOIN unnest(core._valores_do_cron(c.campos[4], 1, 12)) AS m (mes)
                        WHERE d.dia <= CASE WHEN m.mes = 2 THEN 29 WHEN m.mes IN (4, 6, 9, 11) THEN 30 ELSE 31 END)
      FROM (SELECT string_to_array(p_cron, ' ')) AS c (campos)
$$;

COMMENT ON FUNCTION core.cron_valido(text) IS
'Se o texto é um horário de cron de cinco campos numéricos (*, n, n-m, com /passo e listas), separados por um espaço, e
que chega algum dia. Nomes de meses e dias, e "N seconds" do pg_cron 1.5, não são aceitos: o app não os entende.';

CREATE OR REPLACE FUNCTION core._valores_do_cron(p_campo text, p_min int, p_max int)
RETURNS int[]
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT CASE WHEN bool_and(s.serve) THEN array_agg(DISTINCT v.valor) END
      FROM string_to_table(p_campo, ',') AS p (parte)
     CROSS JOIN LATERAL regexp_match(
                    p.parte, '^([*]|[0-9]{1,2}-[0-9]{1,2}|[0-9]{1,2}$)(?:/([0-9]{1,2}))?$') AS r (partes)
     CROSS JOIN LATERAL (SELECT CASE WHEN r.partes[1] = '*' THEN p_min
                                     ELSE split_part(r.partes[1], '-', 1)::int END,
                                CASE WHEN r.partes[1] = '*' THEN p_max
                                     ELSE split_part(r.partes[1], '-', -1)::int END,
                                coalesce(r.partes[2], '1')::int) AS f (de, ate, passo)
     CROSS JOIN LATERAL (SELECT coalesce(p_min <= f.de AND f.de <= f.ate AND f.ate <= p_max AND f.passo > 0,
                                         false)) AS s (serve)
      LEFT JOIN LATERAL generate_series(f.de, f.ate, greatest(f.passo, 1)) AS v (valor) ON s.serve
$$;

COMMENT ON FUNCTION core._valores_do_cron(text, int, int) IS
'Os valores que um campo de cron abrange; NULL se ele é malformado ou sai dos limites.';

CREATE OR REPLACE FUNCTION core.guarda_agendamentos()
RETURNS trigger
LANGUAGE plpgsql
AS $$
BEGIN
    IF core.cron_valido(NEW.cron) IS NOT TRUE THEN
        RAISE EXCEPTION 'O campo cron do agendamento % deve ser um horário de cinco campos numéricos, e não %.',
                        NEW.nome, coalesce('"' || left(NEW.cron, 200) || '"', 'nulo')
            USING ERRCODE = 'FM422';
    END IF;
    RETURN NEW;
END
$$;

COMMENT ON FUNCTION core.guarda_agendamentos() IS
'Gatilho: recusa com FM422 um horário que o pg_cron ou o app não entenderia, e que deteria a agenda toda.';

CREATE OR REPLACE TRIGGER agendamentos_cron_valido
    BEFORE INSERT OR UPDATE OF cron ON core.agendamentos
    FOR EACH ROW
    EXECUTE FUNCTION core.guarda_agendamentos();
