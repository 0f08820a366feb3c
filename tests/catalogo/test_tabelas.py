"""Regra 8, nas tabelas: dono do esquema, e cada papel só com o que as migrações lhe dão."""

import pytest

from tests.catalogo.conftest import Perguntar

# Tudo o que o aplicativo lê sem passar por uma função.
LEITURAS_DO_APP = {"core.agendamentos", "core.consumidores", "core.parametros", "core.relogio"}

RELACOES = """
    (SELECT c.oid::regclass::text AS nome, c.*, n.nspname
       FROM pg_class AS c
       JOIN pg_namespace AS n ON n.oid = c.relnamespace
      WHERE n.nspname IN ('core', 'd6b', 'd8', 'registro')
        AND c.relkind IN ('r', 'p', 'v', 'm', 'S'))
"""


def test_cada_tabela_e_do_dono_de_seu_esquema(perguntar: Perguntar) -> None:
    assert (
        perguntar(
            f"""
            SELECT t.nome FROM {RELACOES} AS t
             WHERE pg_get_userbyid(t.relowner) <> CASE t.nspname WHEN 'registro' THEN 'core_dono'
                                                                 ELSE t.nspname || '_dono' END
            """
        )
        == []
    )


def _direitos(perguntar: Perguntar, papel: str) -> set[tuple[str, str]]:
    """(relação, direito) do que o papel tem, por si ou por PUBLIC; os donos têm tudo no que é seu."""
    return {
        (nome, direito)
        for direito in ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
        for nome in perguntar(
            f"SELECT t.nome FROM {RELACOES} AS t WHERE t.relkind <> 'S' AND has_table_privilege(%s, t.oid, %s)",
            papel,
            direito,
        )
    }


def test_o_app_so_le_o_que_as_migracoes_lhe_dao(perguntar: Perguntar) -> None:
    assert _direitos(perguntar, "formigueiro_app") == {(nome, "SELECT") for nome in LEITURAS_DO_APP}


def test_o_produtor_nao_toca_em_tabela_nenhuma(perguntar: Perguntar) -> None:
    assert _direitos(perguntar, "formigueiro_produtor") == set()


def test_o_dba_so_le(perguntar: Perguntar) -> None:
    assert {direito for _, direito in _direitos(perguntar, "formigueiro_dba")} <= {"SELECT"}


@pytest.mark.parametrize(("papel", "alheio"), [("d6b_dono", "d8"), ("d8_dono", "d6b")])
def test_uma_colonia_nao_le_a_outra(papel: str, alheio: str, perguntar: Perguntar) -> None:
    assert perguntar("SELECT has_schema_privilege(%s, %s, 'USAGE')", papel, alheio) == [False]
    assert [nome for nome, _ in _direitos(perguntar, papel) if nome.startswith(f"{alheio}.")] == []


@pytest.mark.parametrize("colonia", ["d6b", "d8"])
def test_o_nucleo_nao_le_as_colonias(colonia: str, perguntar: Perguntar) -> None:
    assert [nome for nome, _ in _direitos(perguntar, "core_dono") if nome.startswith(f"{colonia}.")] == []


@pytest.mark.parametrize("esquema", ["core", "d6b", "d8", "registro", "public", "migracoes"])
def test_public_nao_cria_em_esquema_nenhum(esquema: str, perguntar: Perguntar) -> None:
    criadores = perguntar(
        "SELECT 1 FROM pg_namespace AS n"
        " CROSS JOIN aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) AS a"
        " WHERE n.nspname = %s AND a.grantee = 0 AND a.privilege_type = 'CREATE'",
        esquema,
    )
    assert criadores == []
