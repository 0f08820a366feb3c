"""Regra 8, nas rotinas: dono do esquema, nada para PUBLIC, caminho fixo em SECURITY DEFINER, e um COMMENT em cada."""

import re

import pytest

from tests.catalogo.conftest import Perguntar

ROTINAS = """
    (SELECT p.oid::regprocedure::text AS nome, p.*, n.nspname, r.rolname AS dono
       FROM pg_proc AS p
       JOIN pg_namespace AS n ON n.oid = p.pronamespace
       JOIN pg_roles AS r ON r.oid = p.proowner
      WHERE n.nspname IN ('core', 'd6b', 'd8', 'registro'))
"""

# Comentários e literais, na ordem em que aparecem: o que está dentro de um não começa outro.
LITERAIS = re.compile(
    r"--[^\n]*|/\*.*?\*/|\$(\w*)\$.*?\$\1\$|\b[eE]'(?:[^'\\]|\\.|'')*'|(?P<simples>(?P<u>\b[uU]&)?'(?:[^']|'')*')",
    re.DOTALL,
)


def test_cada_rotina_e_do_dono_de_seu_esquema(perguntar: Perguntar) -> None:
    donos = "CASE WHEN p.nspname = 'registro' THEN 'core_dono' ELSE p.nspname || '_dono' END"
    assert perguntar(f"SELECT p.nome FROM {ROTINAS} AS p WHERE p.dono <> {donos}") == []


def test_public_nao_executa_nenhuma_rotina(perguntar: Perguntar) -> None:
    assert (
        perguntar(
            f"""
            SELECT p.nome FROM {ROTINAS} AS p
             CROSS JOIN aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) AS a
             WHERE a.grantee = 0
            """
        )
        == []
    )


def test_security_definer_fixa_o_caminho_terminado_em_pg_temp(perguntar: Perguntar) -> None:
    assert (
        perguntar(
            f"""
            SELECT p.nome FROM {ROTINAS} AS p
             WHERE p.prosecdef
               AND NOT EXISTS (SELECT FROM unnest(p.proconfig) AS c WHERE c ~ '^search_path=.*pg_temp"?$')
            """
        )
        == []
    )


def test_cada_rotina_tem_um_comentario(perguntar: Perguntar) -> None:
    assert perguntar(f"SELECT p.nome FROM {ROTINAS} AS p WHERE obj_description(p.oid, 'pg_proc') IS NULL") == []


def test_nenhum_texto_muda_com_standard_conforming_strings(perguntar: Perguntar) -> None:
    """Num literal sem E, uma barra invertida é uma coisa ou outra conforme a sessão de quem chama; U& nem se lê."""
    for nome, corpo in zip(
        perguntar(f"SELECT p.nome FROM {ROTINAS} AS p ORDER BY p.oid"),
        perguntar(f"SELECT p.prosrc FROM {ROTINAS} AS p ORDER BY p.oid"),
        strict=True,
    ):
        ambiguos = [
            achado[0] for achado in LITERAIS.finditer(corpo) if achado["simples"] and ("\\" in achado[0] or achado["u"])
        ]
        assert ambiguos == [], nome


@pytest.mark.parametrize("papel", ["core_dono", "d6b_dono", "d8_dono"])
def test_os_donos_nao_entram(papel: str, perguntar: Perguntar) -> None:
    assert perguntar("SELECT rolcanlogin FROM pg_roles WHERE rolname = %s", papel) == [False]


def test_o_produtor_so_publica(perguntar: Perguntar) -> None:
    permitidas = {"publicar", "publicar_lote", "obter_maior_sequence"}
    podem = perguntar(
        f"SELECT p.nspname || '.' || p.proname FROM {ROTINAS} AS p"
        " WHERE has_function_privilege('formigueiro_produtor', p.oid, 'EXECUTE')"
        "   AND has_schema_privilege('formigueiro_produtor', p.nspname, 'USAGE')"
    )
    assert "core.publicar" in podem
    assert {nome.removeprefix("core.") for nome in podem} <= permitidas


def test_o_dba_nao_forja_eventos(perguntar: Perguntar) -> None:
    assert (
        perguntar(
            f"SELECT p.nome FROM {ROTINAS} AS p WHERE p.proname ~ '^_?publicar(_lote)?$' AND p.nspname = 'core'"
            " AND has_function_privilege('formigueiro_dba', p.oid, 'EXECUTE')"
        )
        == []
    )
