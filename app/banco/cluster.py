"""Um PostgreSQL local: criar, ligar e desligar, como root ou não.

Serve ao banco embutido e à suíte de testes. Vários processos podem usar o mesmo cluster: cada um segura uma trava
de uso (`flock`, que morre com o processo), e o último a sair desliga o servidor. Quem encontra um servidor que um
processo morto deixou ligado o adota, e responde por ele.
"""

import fcntl
import logging
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from psycopg.conninfo import make_conninfo

from app.banco import postmaster
from app.banco.erros import ErroBanco
from app.banco.espera import esperar

ESPERA_LIGAR_S = 60
ESPERA_ORFAOS_S = 30
SUPERUSUARIO = "postgres"

log = logging.getLogger(__name__)


class ErroCluster(ErroBanco):
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
        self._registro = self.dados / "servidor.log"
        self.endereco = Endereco(Path(tempfile.gettempdir()) / f"formigueiro-{self._dono.pw_uid}-{resumo}")
        self._uso: IO[str] | None = None

    def __enter__(self) -> Self:
        try:
            self.pasta.mkdir(parents=True, exist_ok=True)
            self._uso = (self.pasta / "uso.trava").open("w")
        except OSError as erro:
            raise ErroCluster(f"não posso escrever em {self.pasta}: {erro.strerror}") from None
        try:
            with self._portaria():
                fcntl.flock(self._uso, fcntl.LOCK_SH)
                self._criar()
                self._ligar()
        except BaseException:
            self._sair(self._uso)
            raise
        return self

    def __exit__(self, tipo: type[BaseException] | None, erro: BaseException | None, tb: TracebackType | None) -> None:
        assert self._uso is not None
        self._sair(self._uso)

    def _sair(self, uso: IO[str]) -> None:
        with self._portaria(), uso:
            try:
                fcntl.flock(uso, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # outro processo ainda usa o servidor
            if postmaster.ler(self.dados):
                self._pg_ctl("stop", "-m", "fast")
                with suppress(OSError):  # ainda tem o que uma queda deixou
                    self.endereco.soquete.rmdir()

    def religar(self) -> None:
        """Liga de novo um servidor que caiu (os testes de queda matam o processo)."""
        self._ligar()

    def pid(self) -> int:
        """PID do servidor."""
        servidor = postmaster.ler(self.dados)
        if servidor is None:
            raise ErroCluster(f"o servidor de {self.dados} não está ligado")
        return servidor.pid

    @contextmanager
    def _portaria(self) -> Iterator[None]:
        """Trava de entrada e saída: ninguém liga enquanto outro desliga."""
        with (self.pasta / "portaria.trava").open("w") as trava:
            fcntl.flock(trava, fcntl.LOCK_EX)
            yield

    def _criar(self) -> None:
        if os.geteuid() == 0:
            self._abrir_passagem(self.dados)
            self._abrir_passagem(self.binarios)
        if self.dados.exists():
            return
        # Numa pasta à parte, que só toma o nome definitivo quando completa: um initdb pode ser interrompido.
        nova = self.pasta / "pg.novo"
        shutil.rmtree(nova, ignore_errors=True)
        nova.mkdir(mode=0o700)
        os.chown(nova, self._dono.pw_uid, self._dono.pw_gid)
        sem_sincronia = ["--no-sync"] if self.parametros.get("fsync") == "off" else []
        self._rodar("initdb", "-D", str(nova), "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "-U",
                    SUPERUSUARIO, *sem_sincronia)  # fmt: skip
        nova.rename(self.dados)

    def _ligar(self) -> None:
        if postmaster.ler(self.dados) is None:
            self._esperar_orfaos()
            postmaster.remover_pid_alheio(self.dados)
            self._preparar_soquete()
            if self._registro.exists():
                self._registro.rename(self.dados / "servidor.anterior.log")
            opcoes = {"listen_addresses": "", "unix_socket_directories": str(self.endereco.soquete), **self.parametros}
            linha = " ".join(f"-c {nome}='{valor}'" for nome, valor in opcoes.items())
            self._pg_ctl("start", "-t", str(ESPERA_LIGAR_S), "-l", str(self._registro), "-o", linha)
        self.endereco = self._onde_atende()

    def _esperar_orfaos(self) -> None:
        """Filhos de um servidor morto ainda usam a memória partilhada; percebem a morte e saem sozinhos."""
        try:
            esperar(lambda: not postmaster.processos(self.dados), ESPERA_ORFAOS_S, "fim dos processos órfãos")
        except TimeoutError:
            orfaos = ", ".join(map(str, sorted(postmaster.processos(self.dados))))
            raise ErroCluster(f"processos de um servidor morto ainda usam {self.dados}: encerre {orfaos}") from None

    def _onde_atende(self) -> Endereco:
        """O endereço que o próprio servidor declara: um adotado pode ter nascido com outro TMPDIR."""

        def pronto() -> postmaster.Postmaster | None:
            servidor = postmaster.ler(self.dados)
            return servidor if servidor and servidor.pronto else None

        try:
            servidor = esperar(pronto, ESPERA_LIGAR_S, "o servidor ficar pronto")
        except TimeoutError:
            raise ErroCluster(f"o servidor de {self.dados} não ficou pronto: {self._motivo('')}") from None
        return Endereco(servidor.soquete, servidor.porta)

    def _preparar_soquete(self) -> None:
        soquete = self.endereco.soquete
        soquete.mkdir(mode=0o700, exist_ok=True)
        try:
            descritor = os.open(soquete, os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            raise ErroCluster(f"{soquete} não é um diretório deste usuário; remova-o e tente de novo") from None
        try:
            if os.fstat(descritor).st_uid not in (os.geteuid(), self._dono.pw_uid):
                raise ErroCluster(f"{soquete} pertence a outro usuário; remova-o e tente de novo")
            os.fchown(descritor, self._dono.pw_uid, self._dono.pw_gid)
            os.fchmod(descritor, 0o700)
        finally:
            os.close(descritor)
        for resto in soquete.glob(".s.PGSQL.*"):  # de um servidor que caiu; o diretório é só deste
            resto.unlink()

    def _abrir_passagem(self, caminho: Path) -> None:
        """Como root, o servidor roda com outro usuário, que precisa atravessar (não listar) as pastas acima."""
        for pasta in caminho.resolve().parents:
            modo = pasta.stat().st_mode
            if not modo & stat.S_IXOTH:
                pasta.chmod(modo | stat.S_IXOTH)
                log.warning("%s passou a ser atravessável (o+x) pelo usuário %s", pasta, self._dono.pw_name)

    def _pg_ctl(self, *argumentos: str) -> None:
        self._rodar("pg_ctl", "-D", str(self.dados), "-w", *argumentos)

    def _rodar(self, programa: str, *argumentos: str) -> None:
        """Roda um programa do PostgreSQL como o dono dos dados."""
        como: dict[str, object] = {}
        if os.geteuid() == 0:
            como = {"user": self._dono.pw_uid, "group": self._dono.pw_gid, "extra_groups": []}
        # Saída em arquivo: o servidor herda os descritores, e um cano ficaria aberto enquanto ele vivesse.
        with tempfile.TemporaryFile("w+") as saida:
            try:
                processo = subprocess.Popen(
                    [str(self.binarios / programa), *argumentos],
                    stdin=subprocess.DEVNULL, stdout=saida, stderr=saida, cwd="/",
                    env={**os.environ, "LC_ALL": "C.UTF-8"}, **como,  # type: ignore[call-overload]
                )  # fmt: skip
            except OSError as erro:
                raise ErroCluster(f"não posso rodar {self.binarios / programa}: {erro.strerror}") from None
            try:
                processo.wait()
            except KeyboardInterrupt:
                processo.wait()  # um pg_ctl interrompido deixaria nascer um servidor de ninguém
                raise
            if processo.returncode != 0:
                saida.seek(0)
                raise ErroCluster(f"{programa} falhou em {self.dados}: {self._motivo(saida.read())}")

    def _motivo(self, saida: str) -> str:
        """A linha que explica a falha: a do registro do servidor, se há, ou a do próprio programa."""
        linhas = saida.splitlines()
        if self._registro.exists():
            linhas = self._registro.read_text(errors="replace").splitlines() + linhas
        graves = [linha for linha in linhas if "FATAL:" in linha or "error:" in linha]
        return next(iter(graves or reversed(linhas)), "sem mensagem")
