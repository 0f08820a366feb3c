-- "pattern" é uma expressão regular ECMA-262. Só se aceita a parte dela que o PostgreSQL lê do mesmo modo, e cujo
-- sentido não depende de localidade: literais e classes ASCII, grupos, alternativas, âncoras e um quantificador por
-- átomo. Ficam de fora o ponto (o do PostgreSQL casa com quebra de linha) e as classes por letra, como \d.

CREATE OR REPLACE FUNCTION core._padrao_aceito(p_padrao text)
RETURNS boolean
LANGUAGE plpgsql
IMMUTABLE
AS $$
DECLARE
    c_escape  CONSTANT text := E'[\\\\][][(){}|^$.*+?/\\\\-]';
    c_literal CONSTANT text := '[ !"#%&'',/0-9:;<=>@A-Z_`a-z~-]';
    c_classe  CONSTANT text := format(E'[[]\\^?([ -Z^-~]|%s)+[]]', c_escape);
    c_quantos CONSTANT text := E'([*+?]|\\{[0-9]+(,[0-9]*)?\\})?';
    c_padrao  CONSTANT text := format(E'^((%s|%s|%s|\\))%s|\\((\\?:)?|[|^$])*$', c_literal, c_escape, c_classe, c_quantos);
BEGIN
    IF p_padrao !~ c_padrao COLLATE "C" THEN
        RETURN false;
    END IF;
    PERFORM '' ~ p_padrao COLLATE "C";
    RETURN true;
EXCEPTION
    WHEN invalid_regular_expression THEN
        RETURN false;
END
$$;

COMMENT ON FUNCTION core._padrao_aceito(text) IS
'Se o padrão tem o mesmo sentido em JSON Schema e no PostgreSQL.';
