"""O processo do servidor de uma pasta de dados, pelo que dizem o postmaster.pid e o sistema.

Um postmaster.pid pode sobrar de uma queda, e seu número pode já ser de outro processo. Todo processo do PostgreSQL tem
a pasta de dados como diretório corrente, e é por isso que se reconhecem os dela; onde não há /proc, vale o número.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Postmaster:
    """O que o postmaster.pid diz; soquete e porta só valem com o servidor pronto."""

    pid: int
    porta: int
    soquete: Path
    pronto: bool


def ler(dados: Path) -> Postmaster | None:
    """O servidor vivo desta pasta; None se não há, ainda que uma queda tenha deixado o arquivo."""
    try:
        linhas = (dados / "postmaster.pid").read_text().splitlines()
        pid = int(linhas[0])
    except (FileNotFoundError, IndexError, ValueError):
        return None
    if not (_em(dados.stat(), PROC / str(pid)) if PROC.exists() else _existe(pid)):
        return None
    porta, soquete, situacao = (linhas[n] if n < len(linhas) else "" for n in (3, 4, 7))
    return Postmaster(pid, int(porta or 0), Path(soquete), situacao.strip() == "ready")


def processos(dados: Path) -> set[int]:
    """Processos com esta pasta como diretório corrente: o servidor e seus filhos, mesmo órfãos."""
    situacao = dados.stat()
    return {int(processo.name) for processo in PROC.glob("[0-9]*") if _em(situacao, processo)}


def remover_pid_alheio(dados: Path) -> None:
    """Remove um postmaster.pid cujo número é de um processo alheio, ou do servidor morto que ainda não foi recolhido:
    com ele lá, o servidor se recusa a ligar.

    Se o número não é de ninguém, o arquivo fica, pois por ele o servidor procura filhos de quem caiu.
    """
    arquivo = dados / "postmaster.pid"
    with suppress(FileNotFoundError, IndexError, ValueError):
        if PROC.exists() and _existe(int(arquivo.read_text().splitlines()[0])):
            arquivo.unlink()


def _em(pasta: os.stat_result, processo: Path) -> bool:
    try:
        return os.path.samestat((processo / "cwd").stat(), pasta)
    except OSError:  # terminou, ou é de outro usuário
        return False


def _existe(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
