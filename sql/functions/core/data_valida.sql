-- Data e data-hora dentro de um payload: o que aqui passa converte-se sem erro e sem sair dos anos 0001 a 9999, em
-- qualquer sessão; nada depende de TimeZone nem de DateStyle.
--
-- Em SQL puro, para que o planejador dissolva o corpo na expressão que chama.

CREATE OR REPLACE FUNCTION core.data_valida(p_texto text)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    -- Meses de 31 dias, de 30, fevereiro até 28, e o dia 29 dos anos bissextos.
    SELECT p_texto ~ ('^([0-9]{4}-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])'
                      '|(0[469]|11)-(0[1-9]|[12][0-9]|30)'
                      '|02-(0[1-9]|1[0-9]|2[0-8]))'
                      '|([0-9]{2}(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)-02-29)$') COLLATE "C"
       AND p_texto >= '0001' COLLATE "C"
$$;

COMMENT ON FUNCTION core.data_valida(text) IS
'Se o texto é uma data AAAA-MM-DD que existe, nos anos 0001 a 9999. Fonte: RFC 3339 (full-date); regra 11.';

-- Em plpgsql, que o planejador não dissolve: é o caminho dos casos raros, e não deve pesar na expressão de quem o chama.
CREATE OR REPLACE FUNCTION core.data_hora_valida(p_texto text)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
PARALLEL SAFE
AS $$
BEGIN
    -- A conversão recusa textos muito longos (uma fração de segundo pode ter quantos algarismos quiser).
    RETURN octet_length(p_texto) <= 64
       AND core.data_valida(left(p_texto, 10))
       AND substr(p_texto, 11) ~ ('^[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]+)?'
                                  '([Zz]|[+-](0[0-9]|1[0-5]):[0-5][0-9])$') COLLATE "C"
       AND CASE
               WHEN left(p_texto, 10) IN ('0001-01-01', '9999-12-31') THEN core._instante_nos_anos(p_texto)
               ELSE true
           END;
END
$$;

COMMENT ON FUNCTION core.data_hora_valida(text) IS
'Se o texto é uma data-hora com fuso (2026-11-30T12:34:56.780Z, 2026-11-30T09:34:56-03:00) que existe, nos anos 0001
a 9999 também em UTC, com deslocamento até 15:59 e sem segundo 60. Fonte: RFC 3339 (date-time); regra 11.';

-- A forma que core.iso escreve, e que quase todo payload traz, decide-se em menos da metade do tempo (medido: 1,2 µs
-- contra 2,7). O jsonpath confere dias, horas e minutos sem levantar erro, mas é frouxo em quatro pontos, que as outras
-- condições fecham: larguras, sinais e espaços no lugar de algarismos, mês ou dia 00, e o ano 0000.
CREATE OR REPLACE FUNCTION core.data_hora_valida(p_valor jsonb, p_texto text)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    SELECT CASE
               WHEN p_texto LIKE '____-__-__T__:__:__.___Z' COLLATE "C"
                    AND p_valor @? E'$.datetime("yyyy-mm-dd\\"T\\"HH24:MI:SS.MS\\"Z\\"")'
                    AND p_texto !~ '[^0-9][^0-9]' COLLATE "C"
                    AND p_texto NOT LIKE '%-00%' COLLATE "C"
                    AND p_texto >= '0001' COLLATE "C"
               THEN true
               ELSE core.data_hora_valida(p_texto)
           END
$$;

COMMENT ON FUNCTION core.data_hora_valida(jsonb, text) IS
'core.data_hora_valida(texto), com um atalho para a forma de core.iso: p_valor é a string jsonb de que p_texto é o texto.';

CREATE OR REPLACE FUNCTION core._instante_nos_anos(p_texto text)
RETURNS boolean
LANGUAGE sql
IMMUTABLE
PARALLEL SAFE
AS $$
    -- Imutável de fato: com o fuso escrito, a conversão não depende da sessão.
    SELECT p_texto::timestamptz >= '0001-01-01T00:00:00Z'::timestamptz
       AND p_texto::timestamptz < '10000-01-01T00:00:00Z'::timestamptz
$$;

COMMENT ON FUNCTION core._instante_nos_anos(text) IS
'Se a data-hora, já conferida na forma, fica nos anos 0001 a 9999 em UTC: no primeiro e no último dia, o fuso ou o
arredondamento da fração podem levá-la para fora.';

GRANT EXECUTE ON FUNCTION core.data_valida(text), core.data_hora_valida(text),
                          core.data_hora_valida(jsonb, text), core._instante_nos_anos(text)
   TO d6b_dono, d8_dono, formigueiro_dba;
