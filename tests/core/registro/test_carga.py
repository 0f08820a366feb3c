"""Carregar esquemas: de novo não muda nada, uma mudança vale na hora, e o que ficou sem uso sai."""

from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

Banco = psycopg.Connection[Any]

_ESQUEMA = {
    "x-produtores": ["D-6a", "D-1a"],
    "x-campos-pessoais": ["a"],
    "properties": {"a": {"properties": {"b": {"items": {"const": "só aqui"}}}}},
}


def _carregar(bd: Banco, esquema: Any) -> bool:
    linha = bd.execute("SELECT core.carregar_esquema('teste.carga', '1.0.0', %s)", [Jsonb(esquema)]).fetchone()
    assert linha is not None
    return bool(linha[0])


def _geradas(bd: Banco) -> list[Any]:
    return bd.execute(
        "SELECT oid, xmin::text FROM pg_proc WHERE pronamespace = 'registro'::regnamespace ORDER BY oid"
    ).fetchall()


def test_carregar_de_novo_nao_muda_nada(bd: Banco) -> None:
    assert _carregar(bd, _ESQUEMA)
    antes = _geradas(bd)
    assert not _carregar(bd, _ESQUEMA)
    bd.execute("SELECT core.gerar_validadores()")
    assert _geradas(bd) == antes


def test_guarda_produtores_e_campos_pessoais(bd: Banco) -> None:
    _carregar(bd, _ESQUEMA)
    assert bd.execute(
        "SELECT esquema, produtores, campos_pessoais FROM core.esquemas WHERE tipo = 'teste.carga'"
    ).fetchone() == (_ESQUEMA, ["D-6a", "D-1a"], ["a"])


def test_esquema_mudado_vale_na_hora_e_as_partes_sem_uso_saem(bd: Banco) -> None:
    antes = len(_geradas(bd))
    _carregar(bd, _ESQUEMA)
    julgar = """SELECT registro.valido('teste.carga', '1.0.0', '{"a": {"b": [1]}}')"""
    assert bd.execute(julgar).fetchone() == (False,)
    assert len(_geradas(bd)) == antes + 4  # o validador, suas faltas, o objeto de dentro e a lista dele
    assert _carregar(bd, {"x-produtores": ["D-6a"]})
    assert bd.execute(julgar).fetchone() == (True,)
    assert len(_geradas(bd)) == antes + 2


def test_validador_que_sumiu_ou_foi_alterado_e_refeito(bd: Banco) -> None:
    _carregar(bd, _ESQUEMA)
    bd.execute("DROP FUNCTION registro.teste_carga_1_0_0_faltas(jsonb)")
    assert _carregar(bd, _ESQUEMA)
    bd.execute(
        "CREATE OR REPLACE FUNCTION registro.teste_carga_1_0_0(p_payload jsonb) RETURNS boolean LANGUAGE plpgsql"
        " AS 'BEGIN RETURN true; END'"
    )
    assert _carregar(bd, _ESQUEMA)
    assert bd.execute("""SELECT registro.valido('teste.carga', '1.0.0', '{"a": {"b": [1]}}')""").fetchone() == (False,)


def test_tipo_ou_versao_desconhecidos_dao_null(bd: Banco) -> None:
    for tipo, versao in [("nada", "1.0.0"), ("conselheiro.sorteado", "9.0.0"), (None, "1.0.0"), ("a", None)]:
        assert bd.execute(
            "SELECT registro.valido(%(t)s, %(v)s, '{}'), registro.faltas(%(t)s, %(v)s, '{}')", {"t": tipo, "v": versao}
        ).fetchone() == (None, None)


@pytest.mark.parametrize("papel", ["core_dono", "d6b_dono", "d8_dono"])
def test_os_donos_das_colonias_validam(bd: Banco, papel: str) -> None:
    bd.execute(f"SET ROLE {papel}")
    dossie = '{"demanda_id": "550e8400-e29b-41d4-a716-446655440000", "dossie": {"localizacao": {"lat": 1}}}'
    assert bd.execute("SELECT registro.valido('demanda.recebida', '2.0.0', %s)", [dossie]).fetchone() == (False,)
    linha = bd.execute("SELECT registro.faltas('demanda.recebida', '2.0.0', %s)", [dossie]).fetchone()
    assert linha is not None
    assert "campo dossie.localizacao.lng: obrigatório" in linha[0]


@pytest.mark.parametrize("papel", ["formigueiro_app", "formigueiro_produtor"])
def test_os_demais_papeis_nao_tocam_no_registro(bd: Banco, papel: str) -> None:
    bd.execute(f"SET ROLE {papel}")
    for comando in [
        "SELECT registro.valido('demanda.recebida', '2.0.0', '{}')",
        "SELECT core.carregar_esquema('teste.invasor', '1.0.0', '{}')",
        "SELECT core.gerar_validadores()",
    ]:
        with pytest.raises(psycopg.errors.InsufficientPrivilege), bd.transaction():
            bd.execute(comando)


def test_o_que_um_superusuario_carrega_tambem_e_do_dono_do_nucleo_e_nao_de_public(bd: Banco) -> None:
    _carregar(bd, _ESQUEMA)
    assert bd.execute(
        """
        SELECT DISTINCT pg_get_userbyid(f.proowner), has_function_privilege('formigueiro_produtor', f.oid, 'EXECUTE')
          FROM pg_proc AS f
         WHERE f.pronamespace = 'registro'::regnamespace
        """
    ).fetchall() == [("core_dono", False)]
