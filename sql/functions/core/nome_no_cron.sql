-- O nome de um trabalho no pg_cron: <banco>/<agendamento>, pois um pg_cron serve a muitos bancos.
--
-- No pg_cron 1.4 o nome é do tipo name, de 63 octetos: cortado por ele, dois trabalhos ficariam com o mesmo nome. O que
-- não cabe é cortado aqui, e leva no fim um resumo do nome inteiro.

CREATE OR REPLACE FUNCTION core.nome_no_cron(p_banco text, p_nome text)
RETURNS text
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT CASE
               WHEN octet_length(n.inteiro) <= 63 THEN n.inteiro
               ELSE core._ate_54_octetos(n.inteiro) || '~' || left(md5(n.inteiro), 8)
           END
      FROM (SELECT p_banco || '/' || p_nome) AS n (inteiro)
$$;

COMMENT ON FUNCTION core.nome_no_cron(text, text) IS
'O nome, no pg_cron, do trabalho de um agendamento de um banco: <banco>/<agendamento> ou, se não cabe em 63 octetos, o
começo dele, um til e oito dígitos do seu MD5.';

CREATE OR REPLACE FUNCTION core.prefixo_no_cron(p_banco text)
RETURNS text
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT core._ate_54_octetos(p_banco || '/')
$$;

COMMENT ON FUNCTION core.prefixo_no_cron(text) IS
'O começo comum aos nomes que core.nome_no_cron dá aos trabalhos de um banco. Não basta para dizer de quem é um trabalho:
o de casa também começa os de um banco casa/homolog.';

CREATE OR REPLACE FUNCTION core._ate_54_octetos(p_texto text)
RETURNS text
LANGUAGE sql
IMMUTABLE
AS $$
    SELECT left(p_texto, max(n.letras)) FROM generate_series(0, 54) AS n (letras)
     WHERE octet_length(left(p_texto, n.letras)) <= 54
$$;

COMMENT ON FUNCTION core._ate_54_octetos(text) IS
'O começo de um texto, em letras inteiras, que cabe em 54 octetos.';

GRANT EXECUTE ON FUNCTION core.nome_no_cron(text, text), core._ate_54_octetos(text) TO formigueiro_app, formigueiro_dba;
