"""O que `migrar` recusa nas migrações, sempre dizendo o que fazer, e o que exige do servidor."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from app.banco.erros import ErroBanco
from app.banco.migracao import ErroMigracao
from app.banco.migrar import migrar
from app.banco.recursos import MIGRACOES
from tests.apoio.fotografia import fotografar


@pytest.fixture
def pasta(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Uma cópia das migrações, no lugar delas, num caminho com caracteres que o glob interpretaria."""
    copia = tmp_path / "minha cidade [1]" / "migrations"
    shutil.copytree(MIGRACOES, copia)
    monkeypatch.setattr("app.banco.migrar.MIGRACOES", copia)
    return copia


def test_recusa_migracao_editada_depois_de_aplicada(dsn: str, pasta: Path) -> None:
    arquivo = pasta / "V001_create_schema.sql"
    arquivo.write_text(arquivo.read_text(encoding="utf-8") + "-- só um comentário\n", encoding="utf-8")
    with pytest.raises(ErroMigracao, match="V001_create_schema foi editada depois de aplicada"):
        migrar(dsn)


def test_recusa_migracao_aplicada_que_sumiu(dsn: str, pasta: Path) -> None:
    (pasta / "V007_d8_acrescimos.sql").unlink()
    with pytest.raises(ErroMigracao, match="V007_d8_acrescimos, já aplicada, não está mais"):
        migrar(dsn)


def test_aplica_a_nova_e_so_ela(dsn: str, pasta: Path) -> None:
    (pasta / "x_nova.sql").write_text(
        "-- depends: V001_create_schema\nCREATE TABLE core.nova ();\n", encoding="utf-8"
    )
    assert migrar(dsn).migracoes == ["x_nova"]
    assert migrar(dsn).migracoes == []


def test_o_que_uma_migracao_remove_nao_se_cobra_ainda_que_migrar_morra_logo_depois(
    dsn: str, bd: psycopg.Connection[Any], pasta: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (pasta / "x_remove.sql").write_text(
        "-- depends: core_0003_barramento\nDROP INDEX core.ocorrencias_criado_em_idx;\n", encoding="utf-8"
    )
    with monkeypatch.context() as morte:
        morte.setattr("app.banco.funcoes.instalar", _morrer)
        with pytest.raises(KeyboardInterrupt):
            migrar(dsn)
    migrar(dsn)
    assert bd.execute("SELECT * FROM core.objetos_danificados()").fetchall() == []


def _morrer(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def test_um_agendamento_que_nasce_com_o_banco_no_ar_espera_sua_hora(
    dsn: str, bd: psycopg.Connection[Any], pasta: Path
) -> None:
    """O app antigo o rodaria já, e o que ele chama só vem com as funções."""
    (pasta / "x_agenda.sql").write_text(
        "-- depends: core_0004_parametros_e_agenda\n"
        "INSERT INTO core.agendamentos (nome, cron, comando) VALUES ('x', '0 0 1 1 *', 'SELECT core.x()');\n",
        encoding="utf-8",
    )
    migrar(dsn, simulacao=True)
    assert bd.execute("SELECT nome FROM core.agendamentos WHERE ultima_execucao IS NOT NULL").fetchall() == [("x",)]


def test_uma_migracao_que_falha_nao_deixa_nada_e_e_nomeada(dsn: str, pasta: Path) -> None:
    antes = fotografar(dsn)
    (pasta / "x_ruim.sql").write_text(
        "-- depends: V001_create_schema\nCREATE TABLE core.nova ();\nSELECT 1 / 0;\n", encoding="utf-8"
    )
    with pytest.raises(ErroMigracao, match="x_ruim falhou: division by zero"):
        migrar(dsn)
    assert fotografar(dsn) == antes


def test_recusa_migracao_que_nao_seria_retomavel(dsn: str, pasta: Path) -> None:
    (pasta / "x_solta.sql").write_text(
        "-- transactional: false\n-- depends: V001_create_schema\nSELECT 1;\n", encoding="utf-8"
    )
    with pytest.raises(ErroMigracao, match="x_solta pede para correr fora de transação"):
        migrar(dsn)


def test_recusa_dependencia_que_nao_existe(dsn: str, pasta: Path) -> None:
    (pasta / "x_solta.sql").write_text("-- depends: nao_ha\nSELECT 1;\n", encoding="utf-8")
    with pytest.raises(ErroMigracao, match="malformada"):
        migrar(dsn)


def test_recusa_uma_pasta_sem_migracoes(dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.banco.migrar.MIGRACOES", tmp_path)
    with pytest.raises(ErroMigracao, match="não há migrações"):
        migrar(dsn)


def test_recusa_um_banco_que_nao_guarda_acentos(banco_vazio: Callable[[], str]) -> None:
    dsn = banco_vazio()
    nome = f"{conninfo_to_dict(dsn)['dbname']}_latin1"
    with psycopg.connect(dsn, autocommit=True) as conexao:
        conexao.execute(f"CREATE DATABASE {nome} TEMPLATE template0 ENCODING latin1 LOCALE 'C'")
        try:
            with pytest.raises(ErroBanco, match="UTF8"):
                migrar(make_conninfo(dsn, dbname=nome))
        finally:
            conexao.execute(f"DROP DATABASE {nome}")


def test_guarda_os_parametros_que_um_dba_mudou(dsn: str, bd: psycopg.Connection[Any]) -> None:
    bd.execute("UPDATE core.parametros SET valor = '9' WHERE nome = 'dias_antecedencia_alerta_prazo'")
    migrar(dsn, {"fuso_horario": "America/Manaus"})
    valores: dict[str, object] = dict(bd.execute("SELECT nome, valor FROM core.parametros").fetchall())
    assert valores["dias_antecedencia_alerta_prazo"] == 9
    assert valores["fuso_horario"] == "America/Manaus"


def test_um_statement_timeout_do_papel_nao_interrompe(banco_vazio: Callable[[], str]) -> None:
    migrar(make_conninfo(banco_vazio(), options="-c statement_timeout=50"))
