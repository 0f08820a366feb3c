-- A hora que uma varredura recebe: um instante de verdade e, salvo para quem instalou, o presente.

CREATE OR REPLACE FUNCTION core.exigir_hora(p_agora timestamptz)
RETURNS void
LANGUAGE plpgsql
STABLE
AS $$
BEGIN
    PERFORM core.exigir_instante(p_agora, 'agora');
    PERFORM core._exigir_log_proprio();  -- uma varredura publica
    -- Um minuto de folga: a hora pode vir do relógio de outra máquina.
    IF p_agora NOT BETWEEN core.agora() - interval '1 minute' AND core.agora() + interval '1 minute'
       AND NOT core._sem_restricao() THEN
        RAISE EXCEPTION 'O papel % só varre à hora da rede: o campo agora, %, está a mais de um minuto dela, %. A outra hora, só quem instalou.',
                        session_user, p_agora, core.agora()
            USING ERRCODE = 'FM403';
    END IF;
END
$$;

COMMENT ON FUNCTION core.exigir_hora(timestamptz) IS
'Levanta FM422 se a hora dada a uma varredura é nula, infinita ou fora dos anos 1 a 9999, e FM403 se está a mais de um
minuto de core.agora(): adiantá-la publicaria o que não aconteceu, e atrasá-la, menos atraso do que houve. Superusuário
e membros do dono do núcleo podem. E FM409 num log assinado de outro servidor. Fonte: regra 8.';

GRANT EXECUTE ON FUNCTION core.exigir_hora(timestamptz) TO d6b_dono, d8_dono, formigueiro_app, formigueiro_dba;
