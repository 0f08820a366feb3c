-- Até onde vai a manutenção da manutenção: quem recebe o plano (D-8) o recusa além dela, e quem o julga antes (D-6b) o diz.

CREATE OR REPLACE FUNCTION core.profundidade_maxima()
RETURNS int
LANGUAGE sql
STABLE
AS $$
    SELECT least((core.parametro('profundidade_maxima'))::int, 2)
$$;

COMMENT ON FUNCTION core.profundidade_maxima() IS
'O parâmetro profundidade_maxima, que só pode baixar o limite de 2 da tabela. Fonte: D-8 6.2.';

GRANT EXECUTE ON FUNCTION core.profundidade_maxima() TO d6b_dono, d8_dono;
