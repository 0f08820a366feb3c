-- O tempo da D-6b: suas colunas guardam centésimos (TIMESTAMPTZ(2)); corta-se antes de guardar e de publicar, para que
-- coluna e payload digam o mesmo (regra 10).

CREATE OR REPLACE FUNCTION d6b.centesimo(p_quando timestamptz)
RETURNS timestamptz
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT date_bin('10 milliseconds', p_quando, timestamptz '2000-01-01 00:00:00+00')
$$;

COMMENT ON FUNCTION d6b.centesimo(timestamptz) IS
'A data-hora cortada (não arredondada) ao centésimo de segundo, a precisão das colunas da D-6b. Fonte: regra 10.';

CREATE OR REPLACE FUNCTION d6b.dias_entre(p_inicio timestamptz, p_fim timestamptz)
RETURNS int
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT greatest(0, ceil(extract(epoch FROM p_fim - p_inicio) / 86400))::int
$$;

COMMENT ON FUNCTION d6b.dias_entre(timestamptz, timestamptz) IS
'Dias de uma data-hora a outra, arredondados para cima e nunca negativos. Fonte: E19.';
