"""A unidade do systemd: aceita pelo systemd-analyze e coerente com o que o serviço faz."""

import re
import shlex

import pytest

from app.banco.sessao import LIMITE_DO_COMANDO_S
from app.http.servidor import ENCERRAMENTO_S
from app.linha_de_comando.principal import _analisador
from app.trabalhador.conexao import FOLGA_S
from ops.conferir_systemd import UNIDADE, faltas

TEXTO = UNIDADE.read_text(encoding="utf-8")


def _diretiva(nome: str) -> str:
    (valor,) = re.findall(rf"^{nome}=(.*)$", TEXTO, re.MULTILINE)
    return str(valor)


def test_o_systemd_a_aceita() -> None:
    achadas = faltas(TEXTO)
    if achadas is None:
        pytest.skip("sem systemd-analyze")
    assert achadas == ""
    assert faltas(TEXTO.replace("NoNewPrivileges=yes", "NoNewPrivilege=yes"))


def test_ela_chama_um_comando_que_existe() -> None:
    _, *argumentos = shlex.split(_diretiva("ExecStart"))
    assert argumentos[:2] == ["-m", "app"]
    opcoes = _analisador().parse_args(argumentos[2:])
    assert opcoes.sem_migrar


def test_ela_da_tempo_ao_lote_mais_longo_e_as_requisicoes() -> None:
    assert _diretiva("KillSignal") == "SIGTERM"
    assert int(_diretiva("TimeoutStopSec")) > LIMITE_DO_COMANDO_S + FOLGA_S + ENCERRAMENTO_S


def test_ela_nao_traz_segredo_nenhum() -> None:
    assert not re.search(r"^Environment=", TEXTO, re.MULTILINE)
    assert not re.search(r"(SEGREDO|PASSWORD|SENHA)=", TEXTO)
