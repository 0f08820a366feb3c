"""Um PostgreSQL local: criar, ligar e desligar, como root ou não.

Serve ao banco embutido e à suíte de testes. Vários processos podem usar o mesmo cluster: cada um segura uma trava
de uso (`flock`, que morre com o processo), e o último a sair desliga o servidor.
"""

import fcntl
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from psycopg.conninfo import make_conninfo

ESPERA_LIGAR_S = 60
SUPERUSUARIO = "postgres"


class ErroCluster(RuntimeError):
    """O servidor local não pôde ser criado, ligado ou desligado; a mensagem basta para quem opera."""


@dataclass(frozen=True)
class Endereco:
    """Onde o servidor atende: o diretório do soquete e a porta que dá nome a ele."""

    soquete: Path
    porta: int = 5432

    def dsn(self, banco: str, papel: str = SUPERUSUARIO) -> str:
        return make_conninfo(host=str(self.soquete), port=self.porta, dbname=banco, user=papel)


class Cluster:
    """Gerenciador de contexto de um PostgreSQL em `pasta`, com os programas de `binarios`.

    O soquete fica num diretório temporário só do dono (o caminho dos dados pode ser longo demais para um soquete),
    e é por essa permissão que a autenticação local pode ser `trust`.
    """

    def __init__(
        self, pasta: Path, binarios: Path, parametros: Mapping[str, str] | None = None, usuario_root: str = SUPERUSUARIO
    ) -> None:
        self.pasta = pasta.absolute()
        self.dados = self.pasta / "pg"
        self.binarios = binarios
        self.parametros = dict(parametros or {})
        self._dono = pwd.getpwnam(usuario_root) if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())
        resumo = sha256(str(self.dados).encode()).hexdigest()[:12]
        self.endereco = Endereco(Path(tempfile.gettempdir()) / f"formigueiro-{self._dono.pw_uid}-{resumo}")
        self._uso: IO[str] | None = None

    def __enter__(self) -> Self:
        self.pasta.mkdir(parents=True, exist_ok=True)
        self._uso = (self.pasta / "uso.trava").open("w")
        try:
            with self._portaria():
                fcntl.flock(self._uso, fcntl.LOCK_SH)
                self._criar()
                self._ligar()
        except BaseException:
            self._uso.close()
            raise
        return self

    def __exit__(self, tipo: type[BaseException] | None, erro: BaseException | None, tb: TracebackType | None) -> None:
        assert self._uso is not None
        with self._portaria():
            try:
                fcntl.flock(self._uso, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pass  # outro processo ainda usa o servidor
            else:
                self._pg_ctl("stop", "-m", "fast")
            self._uso.close()

    def religar(self) -> None:
        """Liga de novo um servidor que caiu (os testes de queda matam o processo)."""
        self._ligar()

    def pid(self) -> int:
        """PID do postmaster, lido do próprio cluster."""
        return int((self.dados / "postmaster.pid").read_text().split(maxsplit=1)[0])

    def _portaria(self) -> IO[str]:
        """Trava de entrada e saída: ninguém liga enquanto outro desliga."""
        trava = (self.pasta / "portaria.trava").open("w")
        fcntl.flock(trava, fcntl.LOCK_EX)
        return trava

    def _criar(self) -> None:
        if (self.dados / "PG_VERSION").exists():
            return
        if os.geteuid() == 0:
            self._abrir_passagem(self.pasta)
            self._abrir_passagem(self.binarios)
        # Um initdb interrompido deixa a pasta pela metade; sem PG_VERSION não há dado a perder.
        shutil.rmtree(self.dados, ignore_errors=True)
        self.dados.mkdir(mode=0o700)
        os.chown(self.dados, self._dono.pw_uid, self._dono.pw_gid)
        self._rodar("initdb", "-D", str(self.dados), "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8",
                    "--no-sync", "-U", SUPERUSUARIO)  # fmt: skip

    def _ligar(self) -> None:
        if self._rodar("pg_ctl", "-D", str(self.dados), "status", exigir=False) == 0:
            return
        self._preparar_soquete()
        opcoes = {"listen_addresses": "", "unix_socket_directories": str(self.endereco.soquete), **self.parametros}
        linha = " ".join(f"-c {nome}='{valor}'" for nome, valor in opcoes.items())
        self._pg_ctl("start", "-t", str(ESPERA_LIGAR_S), "-l", str(self.dados / "servidor.log"), "-o", linha)

    def _preparar_soquete(self) -> None:
        soquete = self.endereco.soquete
        soquete.mkdir(mode=0o700, exist_ok=True)
        situacao = soquete.lstat()
        if not stat.S_ISDIR(situacao.st_mode) or situacao.st_uid not in (os.geteuid(), self._dono.pw_uid):
            raise ErroCluster(f"{soquete} pertence a outro usuário; remova-o e tente de novo")
        os.chown(soquete, self._dono.pw_uid, self._dono.pw_gid)
        soquete.chmod(0o700)

    def _abrir_passagem(self, caminho: Path) -> None:
        """Como root, o servidor roda com outro usuário, que precisa atravessar (não listar) as pastas acima."""
        for pasta in caminho.resolve().parents:
            modo = pasta.stat().st_mode
            if not modo & stat.S_IXOTH:
                pasta.chmod(modo | stat.S_IXOTH)

    def _pg_ctl(self, *argumentos: str) -> None:
        self._rodar("pg_ctl", "-D", str(self.dados), "-w", *argumentos)

    def _rodar(self, programa: str, *argumentos: str, exigir: bool = True) -> int:
        """Roda um programa do PostgreSQL como o dono dos dados; devolve o código de saída."""
        como: dict[str, object] = {}
        if os.geteuid() == 0:
            como = {"user": self._dono.pw_uid, "group": self._dono.pw_gid, "extra_groups": []}
        # Saída em arquivo: o servidor herda os descritores, e um cano ficaria aberto enquanto ele vivesse.
        with tempfile.TemporaryFile("w+") as saida:
            feito = subprocess.run(
                [str(self.binarios / programa), *argumentos],
                stdin=subprocess.DEVNULL, stdout=saida, stderr=saida, cwd="/", check=False,
                env={**os.environ, "LC_ALL": "C.UTF-8"}, **como,  # type: ignore[call-overload]
            )  # fmt: skip
            if exigir and feito.returncode != 0:
                saida.seek(0)
                raise ErroCluster(f"{programa} falhou em {self.dados}: {self._motivo(saida.read())}")
        return int(feito.returncode)

    def _motivo(self, saida: str) -> str:
        """A linha que explica a falha: a última do registro do servidor, se há, ou do próprio programa."""
        registro = self.dados / "servidor.log"
        linhas = [linha for linha in saida.splitlines() if linha.strip()]
        if registro.exists():
            graves = [linha for linha in registro.read_text(errors="replace").splitlines() if "FATAL" in linha]
            linhas += graves[-1:]
        return linhas[-1] if linhas else "sem mensagem"
