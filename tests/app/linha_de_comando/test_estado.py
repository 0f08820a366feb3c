"""`estado`: o que se vê num relance, e o código de saída conforme a saúde."""

import json
import re
from datetime import timedelta
from typing import Any, LiteralString
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from app.linha_de_comando.estado import duracao
from app.trabalhador.trabalhador import TRAVA_DE_LIDER
from tests.apoio.falhas import recusar_publicacao
from tests.apoio.rede import Rede
from tests.app.linha_de_comando.conftest import Formigueiro


def test_saudavel(formigueiro: Formigueiro) -> None:
    codigo, saida, _ = formigueiro("estado")
    assert codigo == 0
    assert saida.startswith("Tudo em ordem.")
    for trecho in ("D-6b", "D-8", "textos por publicar", "core-despacho", "Último evento: 0"):
        assert trecho in saida


def test_o_papel_do_app_e_o_do_dba_bastam(formigueiro: Formigueiro, dsn: str) -> None:
    for papel in ("formigueiro_app", "formigueiro_dba"):
        codigo, saida, erro = formigueiro("estado", "--json", DATABASE_URL=make_conninfo(dsn, user=papel))
        assert (codigo, erro) == (0, "")
        assert json.loads(saida)["publicacoes"]["espera"] == 0


def test_conta_o_atraso_em_eventos_e_segundos(formigueiro: Formigueiro, rede: Rede) -> None:
    rede.sortear(uuid4(), uuid4())
    rede.relogio("2026-11-30 12:10:00+00")
    codigo, saida, _ = formigueiro("estado", "--json")
    estado = json.loads(saida)
    colonia = estado["colonias"][0]
    assert (colonia["colonia"], colonia["atraso_eventos"], colonia["atraso_segundos"]) == ("D-6b", 1, 600)
    assert codigo == 1
    assert "D-6b: 1 eventos por ler, o mais antigo há 600 s" in estado["problemas"]
    rede.despachar()
    assert formigueiro("estado")[0] == 0


def test_o_que_falhou_vai_para_o_alto_e_para_o_codigo_de_saida(formigueiro: Formigueiro, rede: Rede) -> None:
    recusar_publicacao(rede.bd, "conselheiro.demanda_iniciada")
    demanda, conselheiro = uuid4(), uuid4()
    rede.sortear(demanda, conselheiro)
    rede.atualizar(demanda, conselheiro)
    rede.despachar()
    codigo, saida, _ = formigueiro("estado")
    assert codigo == 1
    assert saida.startswith("ATENÇÃO\n  D-6b: 1 na DLQ")
    # Quem espera sem ter por quem esperar não passa calado.
    rede.bd.execute("UPDATE core.dlq SET estado = 'em_espera'")
    codigo, saida, _ = formigueiro("estado")
    assert codigo == 1
    assert saida.startswith("ATENÇÃO\n  D-6b: 0 na DLQ (1 em espera atrás)")


def test_diz_quem_detem_a_leitura(formigueiro: Formigueiro, rede: Rede, dsn: str) -> None:
    """Quem publica e não confirma segura o horizonte, e é nomeado."""
    with psycopg.connect(dsn) as parado:
        Rede(parado).sortear(uuid4(), uuid4())
        rede.sortear(uuid4(), uuid4())
        rede.despachar()
        codigo, saida, _ = formigueiro("estado", "--json")
        colonia = json.loads(saida)["colonias"][0]
        assert [detentor["pid"] for detentor in colonia["detentores"]] == [parado.info.backend_pid]
        assert codigo == 0  # ainda não é demais
        rede.bd.execute("UPDATE core.consumidores SET lacuna_desde = clock_timestamp() - interval '5 minutes'")
        codigo, saida, _ = formigueiro("estado")
        assert codigo == 1
        assert f"por pid {parado.info.backend_pid}" in saida
        parado.rollback()


def test_sem_direito_nao_da_para_saber(formigueiro: Formigueiro, dsn: str) -> None:
    codigo, saida, erro = formigueiro("estado", DATABASE_URL=make_conninfo(dsn, user="formigueiro_produtor"))
    assert (codigo, saida) == (3, "")
    assert "este papel não tem direito a isso" in erro


@pytest.mark.parametrize(
    ("dano", "diz"),
    [
        ("ALTER FUNCTION core._estado_dos_detentores(text[]) OWNER TO CURRENT_USER", "_estado_dos_detentores"),
        ("ALTER SCHEMA d6b OWNER TO CURRENT_USER", "esquema d6b é de postgres"),
        ("ALTER TABLE d8.consumer_offset OWNER TO CURRENT_USER", "relação d8.consumer_offset é de postgres"),
        ("ALTER SCHEMA core OWNER TO CURRENT_USER", "permission denied for schema core"),
        ("ALTER TABLE core.objetos OWNER TO CURRENT_USER", "permission denied for table objetos"),
    ],
)
def test_um_dano_qualquer_ainda_se_diz_e_migrar_o_repoe(
    formigueiro: Formigueiro, bd: psycopg.Connection[Any], dano: str, diz: str
) -> None:
    """Também o que tira de `estado` aquilo com que diria o que falta."""
    inteiro = json.loads(formigueiro("estado", "--json")[1])
    bd.execute(dano.encode())
    codigo, saida, erro = formigueiro("estado")
    assert (codigo, erro) == (1, "")
    assert saida.startswith("ATENÇÃO\n")
    assert diz in saida
    assert "rode formigueiro migrar" in saida
    assert json.loads(formigueiro("estado", "--json")[1]).keys() == inteiro.keys()
    assert formigueiro("migrar")[0] == 0
    assert formigueiro("estado")[0] == 0


def test_uma_sessao_que_cita_todos_os_nomes_nao_os_da_por_danificados(
    formigueiro: Formigueiro, bd: psycopg.Connection[Any]
) -> None:
    bd.execute(f"ALTER DATABASE {bd.info.dbname} SET quote_all_identifiers = on".encode())
    assert formigueiro("estado")[1].startswith("Tudo em ordem.")
    assert formigueiro("migrar")[0] == 0
    bd.execute(f"ALTER DATABASE {bd.info.dbname} RESET quote_all_identifiers".encode())
    assert formigueiro("estado")[1].startswith("Tudo em ordem.")


def test_banco_de_versao_anterior(formigueiro: Formigueiro, bd: psycopg.Connection[Any]) -> None:
    bd.execute("CREATE OR REPLACE FUNCTION core.estado() RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$")
    codigo, _, erro = formigueiro("estado")
    assert codigo == 3
    assert "rode formigueiro migrar" in erro


def test_a_ajuda_diz_os_codigos_de_saida(formigueiro: Formigueiro) -> None:
    ajuda = " ".join(formigueiro("estado", "--help")[1].split())
    for codigo in ("0, tudo em ordem", "1, algo pede atenção", "2, ajuste ou argumento", "3, não deu para saber"):
        assert codigo in ajuda


def test_agendamento_que_nao_acaba_bem(formigueiro: Formigueiro, rede: Rede) -> None:
    rede.bd.execute("SELECT d6b.verificar_prazos_proximos()")
    assert re.search(r"^d6b-prazos .* há \d+ s$", formigueiro("estado")[1], re.MULTILINE)
    rede.bd.execute("UPDATE core.agendamentos SET ultima_conclusao = ultima_conclusao - interval '3 days'")
    codigo, saida, _ = formigueiro("estado")
    assert codigo == 1
    assert "o agendamento d6b-prazos (0 */6 * * *) não acaba bem desde" in saida
    assert re.search(r"^d6b-prazos .* há 3 d +ATRASADO$", saida, re.MULTILINE)
    assert re.search(r"^core-limpeza .* nunca$", saida, re.MULTILINE)


def test_textos_parados_por_falta_de_trabalhador(formigueiro: Formigueiro, rede: Rede) -> None:
    demanda, conselheiro = uuid4(), uuid4()
    rede.sortear(demanda, conselheiro)
    rede.atualizar(demanda, conselheiro)
    rede.despachar()
    assert formigueiro("estado")[0] == 0
    rede.bd.execute("UPDATE d6b.publicacoes_pendentes SET criado_em = criado_em - interval '20 minutes'")
    codigo, saida, _ = formigueiro("estado")
    assert codigo == 1
    assert re.search(r"1 textos da D-6b esperam o trabalhador, .* não há trabalhador na liderança", saida)
    assert re.search(r"^textos por publicar +1 +0 +há 20 min$", saida, re.MULTILINE)


def test_diz_se_ha_trabalhador_na_lideranca(formigueiro: Formigueiro, rede: Rede) -> None:
    assert "Trabalhador: ninguém na liderança" in formigueiro("estado")[1]
    rede.bd.execute("SELECT pg_advisory_lock(%s)", [TRAVA_DE_LIDER])
    assert "Trabalhador: na liderança" in formigueiro("estado")[1]


@pytest.mark.parametrize("papel", ["formigueiro_app", "formigueiro_leitura", "formigueiro_produtor", "formigueiro_dba"])
def test_quem_toma_a_trava_do_lider_sem_ser_do_aplicativo_e_dito(
    formigueiro: Formigueiro, rede: Rede, dsn: str, papel: str
) -> None:
    rede.bd.execute(f"GRANT EXECUTE ON FUNCTION pg_advisory_lock(bigint) TO {papel}")  # como onde não se pôde fechar
    with psycopg.connect(make_conninfo(dsn, user=papel), autocommit=True) as detentor:
        detentor.execute("SELECT pg_advisory_lock(%s)", [TRAVA_DE_LIDER])
        for quem_olha in ("formigueiro_app", "formigueiro_dba"):
            codigo, saida, _ = formigueiro("estado", DATABASE_URL=make_conninfo(dsn, user=quem_olha))
            if papel == "formigueiro_app":
                assert (codigo, "Trabalhador: na liderança" in saida) == (0, True)
            else:
                pid = detentor.info.backend_pid
                assert codigo == 1
                assert f"nenhum trabalhador pode liderar: a trava do líder está com {papel} (pid {pid})" in saida
                assert "Trabalhador: ninguém na liderança" in saida
        lider = "SELECT valor FROM core.metricas() WHERE nome = 'formigueiro_trabalhador_lider'"
        assert rede.um(lider) == (papel == "formigueiro_app")


@pytest.mark.parametrize(
    ("segundos", "texto"),
    [(-5, "0 s"), (0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (172_800, "2 d")],
)
def test_duracao(segundos: int, texto: str) -> None:
    assert duracao(timedelta(seconds=segundos)) == texto


@pytest.fixture
def rede(bd: psycopg.Connection[Any]) -> Rede:
    rede = Rede(bd)
    rede.relogio("2026-11-30 12:00:00+00")
    return rede


@pytest.mark.parametrize(
    ("estrago", "problemas"),
    [
        (
            "DELETE FROM core.consumidores",
            ["a colônia do esquema d6b não está em core.consumidores: nada se lê por ela",
             "a colônia do esquema d8 não está em core.consumidores: nada se lê por ela"],
        ),
        (
            "DELETE FROM core.consumidores WHERE colonia = 'D-8'",
            ["a colônia do esquema d8 não está em core.consumidores: nada se lê por ela"],
        ),
        ("DELETE FROM core.agendamentos", ["core.agendamentos está vazia: nada se despacha nem se varre por si"]),
        ("UPDATE core.parametros SET valor = '\"x\"' WHERE nome LIKE 'fila%'", []),
        ("UPDATE core.parametros SET valor = '1e300' WHERE nome LIKE 'fila%'", []),
    ],
)  # fmt: skip
def test_uma_tabela_do_nucleo_estragada_nao_cala_o_estado(
    formigueiro: Formigueiro, rede: Rede, estrago: LiteralString, problemas: list[str]
) -> None:
    rede.bd.execute(estrago)
    codigo, saida, _ = formigueiro("estado", "--json")
    assert (codigo, sorted(json.loads(saida)["problemas"])) == (int(bool(problemas)), problemas)
    assert formigueiro("estado")[0] == codigo
    rede.despachar()
