-- Acorda o trabalhador só se ele estiver dormindo (regra 7).
--
-- NOTIFY numa transação toma uma trava do cluster inteiro no commit e limita a publicação. Por isso quem dorme
-- segura uma trava consultiva exclusiva, de sessão; quem publica tenta a mesma trava, partilhada, até o fim da
-- transação. Se a obtém, ninguém dorme: o trabalhador está lendo, ou só dormirá depois desta transação, e então
-- lerá de novo. Se não a obtém, há quem durma, e só então vale o preço do NOTIFY.
--
-- O servidor recusa PREPARE TRANSACTION depois de um NOTIFY. Quem publica em duas fases o dispensa, e a trava com ele,
-- que uma transação preparada seguraria: o trabalhador acha o evento quando olhar.

CREATE OR REPLACE FUNCTION core.ha_quem_durma()
RETURNS boolean
LANGUAGE sql
AS $$
    -- CASE, e não AND, que não promete a ordem: sem aviso, a trava não se há de tomar.
    SELECT CASE
               WHEN current_setting('formigueiro.sem_aviso', true) = 'on' THEN false
               ELSE NOT pg_try_advisory_xact_lock_shared(core.trava_do_sono())
           END
$$;

COMMENT ON FUNCTION core.ha_quem_durma() IS
'Se um trabalhador dorme e precisa do aviso; se não, impede que durma antes do fim da transação. Com formigueiro.sem_aviso
em on, nem uma coisa nem outra: é para quem publica em duas fases. Fonte: regras 3 e 7.';

CREATE OR REPLACE FUNCTION core.acordar()
RETURNS void
LANGUAGE plpgsql
AS $$
BEGIN
    IF core.ha_quem_durma() THEN
        NOTIFY formigueiro;
    END IF;
END
$$;

COMMENT ON FUNCTION core.acordar() IS
'Acorda o trabalhador que dorme, no commit; barata quando ele está acordado. Fonte: regra 7.';

CREATE OR REPLACE FUNCTION core.trava_do_sono()
RETURNS bigint
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT 7031001::bigint
$$;

COMMENT ON FUNCTION core.trava_do_sono() IS
'Chave da trava consultiva que o trabalhador segura enquanto dorme.';

GRANT EXECUTE ON FUNCTION core.acordar(), core.ha_quem_durma(), core.trava_do_sono() TO d6b_dono, d8_dono, formigueiro_app;
