"""O cluster local: quem o liga, quem o adota, quem o desliga, e o que uma queda deixa para trás."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from app.banco import cluster as modulo
from app.banco import postmaster
from app.banco.cluster import Cluster, ErroCluster
from app.banco.recursos import RAIZ
from tests.apoio.espera import ate
from tests.apoio.servidor import cluster_de_teste, pasta_de_cluster

NINGUEM = 65534
RAIZ_DO_SISTEMA = os.geteuid() == 0

# Só root cria um diretório de outro usuário.
INTRUSOS = ["ligação simbólica", *(["outro usuário"] if RAIZ_DO_SISTEMA else [])]


@pytest.fixture
def pasta() -> Iterator[Path]:
    with pasta_de_cluster() as pasta:
        yield pasta


def _perguntar(cluster: Cluster, consulta: str) -> object:
    with psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as conexao:
        linha = conexao.execute(consulta).fetchone()
        return linha[0] if linha else None


def _usar_noutro_processo(pasta: Path, ambiente: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """Um processo que usa o cluster até ler uma linha da entrada; devolvido quando o servidor já atende."""
    programa = (
        "import sys; from pathlib import Path; from tests.apoio.servidor import cluster_de_teste\n"
        "with cluster_de_teste(Path(sys.argv[1])): print('ligado', flush=True); sys.stdin.readline()"
    )
    processo = subprocess.Popen(
        [sys.executable, "-c", programa, str(pasta)],
        cwd=RAIZ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | (ambiente or {}),
    )  # fmt: skip
    assert processo.stdout is not None
    assert processo.stdout.readline() == "ligado\n"
    return processo


def _encerrar(processo: subprocess.Popen[str], matar: bool = False) -> None:
    if matar:
        processo.kill()
    processo.communicate("\n" if not matar else None)


def test_liga_guarda_e_desliga(pasta: Path) -> None:
    with cluster_de_teste(pasta) as cluster:
        with psycopg.connect(cluster.endereco.dsn("postgres")) as conexao:
            conexao.execute("CREATE TABLE t AS SELECT 7 AS n")
        dados = cluster.dados
    assert postmaster.ler(dados) is None
    assert not cluster.endereco.soquete.exists()
    with cluster_de_teste(pasta) as cluster:
        assert _perguntar(cluster, "SELECT n FROM t") == 7


def test_quem_morre_deixa_o_servidor_e_quem_vem_o_adota_e_desliga(pasta: Path) -> None:
    _encerrar(_usar_noutro_processo(pasta), matar=True)
    deixado = postmaster.ler(pasta / "pg")
    assert deixado is not None
    with cluster_de_teste(pasta) as cluster:
        assert cluster.pid() == deixado.pid
        assert _perguntar(cluster, "SELECT 1") == 1
    assert postmaster.ler(pasta / "pg") is None


def test_adota_um_servidor_nascido_com_outro_tmpdir(pasta: Path) -> None:
    outro = pasta / "tmp"
    outro.mkdir()
    outro.chmod(0o1777)
    _encerrar(_usar_noutro_processo(pasta, {"TMPDIR": str(outro)}), matar=True)
    with cluster_de_teste(pasta) as cluster:
        assert cluster.endereco.soquete.parent == outro
        assert _perguntar(cluster, "SELECT 1") == 1


def test_so_o_ultimo_a_sair_desliga(pasta: Path) -> None:
    outro = _usar_noutro_processo(pasta)
    with cluster_de_teste(pasta) as cluster:
        pid = cluster.pid()
        _encerrar(outro)
        assert cluster.pid() == pid
    assert postmaster.ler(pasta / "pg") is None


def test_quem_sai_primeiro_nao_tira_o_servidor_de_quem_fica(pasta: Path) -> None:
    with cluster_de_teste(pasta):
        outro = _usar_noutro_processo(pasta)
    assert postmaster.ler(pasta / "pg") is not None
    _encerrar(outro)
    assert postmaster.ler(pasta / "pg") is None


def test_initdb_interrompido_recomeca(pasta: Path) -> None:
    """PG_VERSION nasce cedo no initdb: não é sinal de que ele acabou."""
    with cluster_de_teste(pasta) as cluster:
        dono = cluster.dados.stat()
    cluster.dados.rename(pasta / "pg.novo")
    (pasta / "pg.novo" / "global" / "pg_control").unlink()
    with cluster_de_teste(pasta) as cluster:
        assert _perguntar(cluster, "SELECT 1") == 1
    assert cluster.dados.stat().st_uid == dono.st_uid
    assert not (pasta / "pg.novo").exists()


def test_um_postmaster_pid_de_processo_alheio_nao_impede_de_ligar(pasta: Path) -> None:
    with cluster_de_teste(pasta) as cluster:
        conteudo = (cluster.dados / "postmaster.pid").read_text()
    linhas = conteudo.splitlines()
    dono = cluster.dados.stat()
    alheio = subprocess.Popen(["sleep", "60"], user=dono.st_uid if os.geteuid() == 0 else None)
    try:
        arquivo = cluster.dados / "postmaster.pid"
        arquivo.write_text("\n".join([str(alheio.pid), *linhas[1:]]) + "\n")
        os.chown(arquivo, dono.st_uid, dono.st_gid)
        with cluster_de_teste(pasta) as cluster:
            assert cluster.pid() != alheio.pid
            assert _perguntar(cluster, "SELECT 1") == 1
    finally:
        alheio.kill()
        alheio.wait()


@pytest.mark.parametrize("sinal", [signal.SIGKILL, signal.SIGQUIT])
def test_religa_um_servidor_que_caiu(sinal: signal.Signals, pasta: Path) -> None:
    with cluster_de_teste(pasta) as cluster:
        caido = cluster.pid()
        os.kill(caido, sinal)
        ate(lambda: postmaster.ler(cluster.dados) is None, o_que="servidor morrer")
        cluster.religar()
        assert cluster.pid() != caido
        assert _perguntar(cluster, "SELECT 1") == 1


def test_espera_os_filhos_de_um_servidor_morto_e_diz_quais_sao(pasta: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modulo, "ESPERA_ORFAOS_S", 0.2)
    with cluster_de_teste(pasta) as cluster:
        orfao = subprocess.Popen(["sleep", "60"], cwd=cluster.dados)
        try:
            os.kill(cluster.pid(), signal.SIGKILL)
            ate(lambda: postmaster.processos(cluster.dados) == {orfao.pid}, o_que="o servidor e seus filhos saírem")
            with pytest.raises(ErroCluster, match=f"encerre {orfao.pid}"):
                cluster.religar()
        finally:
            orfao.kill()
            orfao.wait()


@pytest.mark.parametrize("intruso", INTRUSOS)
def test_recusa_um_soquete_que_nao_e_seu(intruso: str, pasta: Path) -> None:
    cluster = cluster_de_teste(pasta)
    soquete = cluster.endereco.soquete
    if intruso == "outro usuário":
        soquete.mkdir()
        os.chown(soquete, NINGUEM, NINGUEM)
    else:
        soquete.symlink_to(pasta, target_is_directory=True)
    try:
        with pytest.raises(ErroCluster, match="remova-o"), cluster:
            pass
    finally:
        soquete.unlink() if soquete.is_symlink() else soquete.rmdir()


def test_um_usuario_comum_liga_e_desliga_o_seu(pasta: Path) -> None:
    """Num filho que, se é root, deixa de ser com tudo já importado: só root talvez atravesse a pasta do clone."""
    dono = NINGUEM if RAIZ_DO_SISTEMA else os.geteuid()
    os.chown(pasta, dono, -1)
    filho = os.fork()
    if filho == 0:
        codigo = 1
        try:
            if RAIZ_DO_SISTEMA:
                os.setgroups([])
                os.setgid(dono)
                os.setuid(dono)
            with cluster_de_teste(pasta) as cluster:
                codigo = 0 if _perguntar(cluster, "SELECT 1") == 1 else 1
        finally:
            os._exit(codigo)
    assert os.waitstatus_to_exitcode(os.waitpid(filho, 0)[1]) == 0
    assert (pasta / "pg").stat().st_uid == dono
    assert postmaster.ler(pasta / "pg") is None


def test_uma_pasta_em_que_nao_se_escreve_e_dita_em_uma_linha(pasta: Path) -> None:
    (pasta / "arquivo").touch()
    with pytest.raises(ErroCluster, match="não posso escrever em"), cluster_de_teste(pasta / "arquivo" / "dados"):
        pass


def test_binarios_que_nao_existem_sao_ditos_em_uma_linha(pasta: Path) -> None:
    with pytest.raises(ErroCluster, match="não posso rodar"), Cluster(pasta, pasta / "bin"):
        pass


def test_o_que_o_servidor_diz_ao_recusar_ligar_chega_a_quem_opera(pasta: Path) -> None:
    with pytest.raises(ErroCluster, match="shared_buffers"), cluster_de_teste(pasta, shared_buffers="-7"):
        pass
