-- A liderança do trabalhador: quem segura a trava dela.
--
-- Qualquer login pode tomar uma trava consultiva, o de leitura inclusive. Quem a toma sem ser do aplicativo não lidera:
-- impede que alguém lidere, e é o que core.estado diz dele.

CREATE OR REPLACE FUNCTION core._detentores_da_lideranca()
RETURNS TABLE (pid int, papel name, lidera boolean)
LANGUAGE sql
STABLE
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT t.pid, s.usename,
           coalesce(pg_has_role(s.usesysid, 'formigueiro_app', 'MEMBER')
                    OR pg_has_role(s.usesysid, 'core_dono', 'MEMBER'), false)
      FROM pg_catalog.pg_locks AS t
      LEFT JOIN pg_catalog.pg_stat_activity AS s ON s.pid = t.pid
     -- A trava consultiva do líder (app.trabalhador.trabalhador.TRAVA_DE_LIDER).
     WHERE t.locktype = 'advisory'
       AND t.classid = 0
       AND t.objid = 7031002
       AND t.objsubid = 1
       AND t.granted
       AND t.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = current_database())
$$;

COMMENT ON FUNCTION core._detentores_da_lideranca() IS
'As sessões que seguram a trava do líder: pid e papel, nulos numa transação preparada, e se lideram, isto é, se o papel
é membro de formigueiro_app ou de quem instalou.';

CREATE OR REPLACE FUNCTION core.ha_lider()
RETURNS boolean
LANGUAGE sql
STABLE
AS $$
    SELECT EXISTS (SELECT FROM core._detentores_da_lideranca() AS d WHERE d.lidera)
$$;

COMMENT ON FUNCTION core.ha_lider() IS
'Se há um trabalhador na liderança: a trava do líder com um papel do aplicativo ou de quem instalou. Atrás de um pool de
transações não há líder, e isto é sempre falso. Fonte: regra 7.';

GRANT EXECUTE ON FUNCTION core.ha_lider(), core._detentores_da_lideranca() TO formigueiro_app, formigueiro_dba;
