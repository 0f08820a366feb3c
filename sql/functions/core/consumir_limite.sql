-- Limite de requisições que vale para todos os processos do app (D-6b 6.1).
--
-- Janela deslizante exata: guardam-se as horas dos últimos p_limite consumos aceitos, e um novo cabe se o mais antigo
-- deles já saiu da janela. Uma janela fixa deixaria passar o dobro em volta de sua fronteira. Recusar não escreve.
-- A hora é a do servidor, não a da rede (core.agora): um relógio simulado parado não pode travar ninguém.

CREATE OR REPLACE FUNCTION core.consumir_limite(
    p_chave text, p_limite int, p_janela interval DEFAULT interval '1 minute'
)
RETURNS int
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_nova   boolean;
    v_espera numeric;
BEGIN
    IF (length(p_chave) <= 500 AND p_limite >= 1 AND p_janela > interval '0' AND p_janela <= interval '1 year') IS NOT TRUE THEN
        RAISE EXCEPTION 'Campos obrigatórios: chave, de até 500 caracteres, limite a partir de 1 e janela de até um ano.'
            USING ERRCODE = 'FM422';
    END IF;

    -- O conflito trava a linha antes de avaliar o WHERE: as horas comparadas são posteriores às de quem a tinha.
    -- Uma marca no futuro é de antes de o relógio do servidor recuar, e não conta.
    INSERT INTO core.limites AS l (chave, marcas, vence_em)
    VALUES (p_chave, ARRAY[clock_timestamp()], clock_timestamp() + p_janela)
        ON CONFLICT (chave) DO UPDATE
       SET marcas = l.marcas[greatest(cardinality(l.marcas) - p_limite + 2, 1):] || clock_timestamp(),
           vence_em = clock_timestamp() + p_janela
     WHERE cardinality(l.marcas) < p_limite
        OR l.marcas[cardinality(l.marcas) - p_limite + 1]
           NOT BETWEEN clock_timestamp() - p_janela AND clock_timestamp()
    RETURNING xmax = 0 INTO v_nova;

    IF NOT FOUND THEN
        SELECT extract(epoch FROM l.marcas[cardinality(l.marcas) - p_limite + 1] + p_janela - clock_timestamp())
          INTO v_espera
          FROM core.limites AS l
         WHERE l.chave = p_chave;
        RETURN greatest(ceil(coalesce(v_espera, 0)), 1);
    END IF;

    -- Cada chave nova leva consigo até duas vencidas: a tabela não passa de quem apareceu há pouco.
    IF v_nova THEN
        DELETE FROM core.limites AS l
         WHERE l.chave IN (SELECT e.chave
                             FROM core.limites AS e
                            WHERE e.vence_em < clock_timestamp()
                            ORDER BY e.vence_em
                            LIMIT 2
                              FOR UPDATE SKIP LOCKED);
    END IF;
    RETURN 0;
END
$$;

COMMENT ON FUNCTION core.consumir_limite(text, int, interval) IS
'Consome uma unidade do limite p_chave e devolve 0 ou, se já houve p_limite consumos dentro de p_janela, quantos
segundos inteiros faltam para caber outro (e nada é consumido). Correta sob concorrência e em vários processos.
Erros: FM422 argumentos sem sentido. Fonte: D-6b 6.1.';

GRANT EXECUTE ON FUNCTION core.consumir_limite(text, int, interval) TO formigueiro_app;
