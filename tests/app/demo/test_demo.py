"""A demonstração toca a cidade inteira e reconhece quando ela acaba mal."""

from uuid import UUID

import pytest
from psycopg.conninfo import make_conninfo

from app.banco.erros import ErroBanco
from app.demo.demo import tocar
from app.pecas.denylist import Denylist
from tests.apoio.rede import Rede


def test_a_cidade_acaba_como_devia(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tocar(dsn, make_conninfo(dsn, user="formigueiro_app"), Denylist.de_texto("idiota")) == 0
    saida = capsys.readouterr().out
    assert "ERRADO" not in saida
    assert "manutenção.ciclo_encerrado" in saida
    assert "Reforma do parquinho da Praça Rotary (manutenção)" in saida


def test_um_desfecho_errado_e_apontado(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Sem a palavra na denylist, o relato ofensivo sai limpo."""
    assert tocar(dsn, make_conninfo(dsn, user="formigueiro_app"), Denylist.de_texto("outra")) == 1
    assert "ERRADO  o relato ofensivo saiu marcado como suspeito" in capsys.readouterr().out


def test_banco_com_eventos_e_recusado_sem_mexer_em_nada(dsn: str, rede: Rede) -> None:
    rede.sortear(UUID(int=1), UUID(int=11))
    with pytest.raises(ErroBanco, match="já tem eventos"):
        tocar(dsn, make_conninfo(dsn, user="formigueiro_app"), Denylist.de_texto("idiota"))
    assert len(rede.eventos()) == 1


def test_banco_que_nao_e_de_simulacao_e_recusado_sem_mexer_em_nada(dsn: str, rede: Rede) -> None:
    rede.bd.execute("UPDATE core.relogio SET quando = NULL, simulacao = false")
    with pytest.raises(ErroBanco, match="banco de simulação"):
        tocar(dsn, make_conninfo(dsn, user="formigueiro_app"), Denylist.de_texto("idiota"))
    assert rede.um("SELECT count(*) FROM core.produtores") == 0
