"""As restaurações, uma a uma: o que cada uma deixa para trás, `estado` o diz e `migrar` o repõe, e nada se perde."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from app.banco import embutido
from app.banco.cluster import Cluster
from app.banco.erros import ErroBanco
from app.banco.migrar import migrar
from tests.apoio.fotografia import esquema
from tests.apoio.rede import Rede
from tests.apoio.servidor import BINARIOS, PARAMETROS, pasta_de_cluster
from tests.docs.blocos import endereco

ABERTA, OBRA, ANA = UUID(int=1), UUID(int=2), UUID(int=11)
PLANO = {"intervalo_dias": 30, "tipo": "poda", "prazo_tolerancia_dias": 5, "vida_util_dias": 300}
LUGAR = {"lat": -23.5, "lng": -46.6}
PARCIAL = ("core", "registro", "d6b", "migracoes")
# De um pg_dump, o que diz de quem é cada objeto e quem pode o quê.
DE_QUEM = re.compile(r"^(?:ALTER .* OWNER TO|GRANT|REVOKE|ALTER DEFAULT PRIVILEGES|CREATE SCHEMA).*$", re.MULTILINE)


@pytest.fixture
def origem(rede: Rede, dsn: str) -> Rede:
    """Uma rede em uso: um ciclo aberto, uma obra em manutenção, um ciclo já gerado, uma lacuna e um evento por ler."""
    rede.bd.execute("INSERT INTO core.produtores VALUES ('formigueiro_produtor', 'D-6a')")
    rede.sortear(ABERTA, ANA)
    rede.sortear(OBRA, ANA)
    rede.concluir(OBRA, ANA, plano_manutencao=PLANO, categoria="3.9", localizacao=LUGAR)
    rede.despachar()
    with psycopg.connect(dsn) as desistente:
        Rede(desistente).sortear(uuid4(), ANA)
        desistente.rollback()
    rede.relogio("2027-01-05 12:00:00+00")
    rede.bd.execute("CALL d8.executar_varredura()")
    rede.despachar()
    rede.atualizar(ABERTA, ANA)
    return rede


def copiar(dsn: str, pasta: Path) -> Path:
    copia = pasta / "banco.dump"
    _rodar(BINARIOS, "pg_dump", "--format=custom", "--compress=0", f"--file={copia}", endereco(dsn))
    return copia


def restaurar(copia: Path, dsn: str, *opcoes: str, binarios: Path = BINARIOS) -> None:
    _rodar(binarios, "pg_restore", "--exit-on-error", *opcoes, f"--dbname={endereco(dsn)}", str(copia))


def _rodar(binarios: Path, programa: str, *argumentos: str) -> None:
    feito = subprocess.run(
        [binarios / programa, *argumentos],
        check=False, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert feito.returncode == 0, feito.stderr


def de_quem(dsn: str) -> list[str]:
    """O que o pg_dump diz de cada objeto, menos o que é de quem migrou e o que só um superusuário fecha."""
    linhas = DE_QUEM.findall(esquema(endereco(dsn)))
    return sorted(linha for linha in linhas if "migracoes" not in linha and "pg_catalog." not in linha)


def conferir(dsn: str, origem: Rede, mesma_versao: bool = True) -> None:
    """Migrada, a cópia é como a origem, e segue: publica, despacha e varre, cada um como o papel que o faz."""
    if mesma_versao:
        assert de_quem(dsn) == de_quem(origem.bd.info.dsn)
    nova = uuid4()
    with (
        psycopg.connect(make_conninfo(dsn, user="formigueiro_produtor"), autocommit=True) as produtor,
        psycopg.connect(make_conninfo(dsn, user="formigueiro_app"), autocommit=True) as app,
        psycopg.connect(dsn, autocommit=True) as bd,
    ):
        copia = Rede(bd)
        assert copia.um("SELECT core.estado() -> 'problemas'") == []
        objetos = "SELECT * FROM core._objetos() ORDER BY 1, 2"
        assert copia.linhas(objetos) == origem.linhas(objetos)
        antes = copia.um("SELECT core.obter_maior_sequence()")
        payload = f'{{"demanda_id": "{nova}", "conselheiro_id": "{ANA}", "unidade_civica_id": "{ANA}"}}'
        produtor.execute("SELECT core.publicar('conselheiro.sorteado', %s::jsonb, 'D-6a')", [payload])
        assert copia.um("SELECT min(sequence_number) FROM core.event_log WHERE chave = %s", str(nova)) > antes
        for _ in range(2):
            app.execute("CALL core.despachar()")
            app.execute("CALL d8.executar_varredura()")
            app.execute("SELECT d6b.verificar_prazos_proximos()")
        assert copia.acompanhamento(nova)["status"] == "aguardando_inicio"
        assert copia.acompanhamento(ABERTA)["status"] == "em_andamento"  # o que estava por ler
        assert len(copia.eventos("demanda.manutenção_gerada")) == 1
        assert len(copia.eventos("demanda.concluída")) == 1
        copia.relogio("2027-02-10 12:00:00+00")
        app.execute("CALL d8.executar_varredura()")
        app.execute("CALL d8.executar_varredura()")
        assert len(copia.eventos("demanda.manutenção_gerada")) == 2
        assert copia.linhas("SELECT * FROM core.dlq") == []
        assert copia.linhas("SELECT * FROM core.ocorrencias WHERE nivel = 'erro'") == []
        assert copia.um("SELECT core.estado() -> 'problemas'") == []


@dataclass(frozen=True)
class Caso:
    """Como se restaura, e o que disso `estado` diz antes de migrar."""

    opcoes: tuple[str, ...]
    diz: str


CASOS = {
    "inteira": Caso((), "banco tem outros direitos"),
    "sem dono": Caso(("--no-owner",), "esquema core é de postgres"),
    "sem direitos": Caso(("--no-acl",), "direitos de nascença core_dono falta"),
    "sem dono nem direitos": Caso(("--no-owner", "--no-acl"), "direitos de nascença core_dono falta"),
}


@pytest.mark.parametrize("caso", CASOS.values(), ids=list(CASOS))
def test_restaurada(caso: Caso, origem: Rede, dsn: str, banco_vazio: Callable[[], str], tmp_path: Path) -> None:
    copia = banco_vazio()  # sem --create, PUBLIC entra nele
    restaurar(copiar(dsn, tmp_path), copia, *caso.opcoes)
    with psycopg.connect(copia) as bd:
        (problema,) = Rede(bd).um("SELECT core.estado() -> 'problemas'")
    assert caso.diz in problema
    feito = migrar(copia)
    assert feito.funcoes
    conferir(copia, origem)
    assert not migrar(copia).funcoes  # e outra vez, nada muda


def test_restaurada_por_outro_dono_que_nao_e_superusuario(
    origem: Rede, dsn: str, banco_vazio: Callable[[], str], tmp_path: Path
) -> None:
    instalador = f"instalador_{os.getpid()}"
    banco = banco_vazio()
    nome = conninfo_to_dict(banco)["dbname"]
    origem.bd.execute(f"CREATE ROLE {instalador} LOGIN CREATEROLE")
    try:
        origem.bd.execute(f"ALTER DATABASE {nome} OWNER TO {instalador}")
        copia = make_conninfo(banco, user=instalador)
        restaurar(copiar(dsn, tmp_path), copia, "--no-owner", "--no-acl")
        if origem.bd.info.server_version >= 160000:  # antes, quem cria papéis se dá os que quiser
            with pytest.raises(ErroBanco, match="como superusuário") as recusa:
                migrar(copia)
            assert "\n" not in str(recusa.value)
        origem.bd.execute(f"GRANT core_dono, d6b_dono, d8_dono TO {instalador}")
        migrar(copia)
        conferir(banco, origem)
    finally:
        origem.bd.execute(f"DROP DATABASE {nome} WITH (FORCE)")
        origem.bd.execute(f"CREATE DATABASE {nome}")
        origem.bd.execute(f"DROP ROLE {instalador}")


def test_um_esquema_so_trocado_pelo_da_copia(
    origem: Rede, dsn: str, banco_vazio: Callable[[], str], tmp_path: Path
) -> None:
    arquivo = copiar(dsn, tmp_path)
    copia = banco_vazio()
    restaurar(arquivo, copia)
    migrar(copia)
    with psycopg.connect(copia, autocommit=True) as bd:
        bd.execute("DROP SCHEMA d8 CASCADE")
        (problema,) = Rede(bd).um("SELECT core.estado() -> 'problemas'")
        assert "esquema d8 falta" in problema
        with pytest.raises(ErroBanco, match="o banco não tem d8"):
            migrar(copia)
        bd.execute("CREATE SCHEMA d8")
    restaurar(arquivo, copia, "--schema=d8", "--no-owner")
    with psycopg.connect(copia) as bd:
        (problema,) = Rede(bd).um("SELECT core.estado() -> 'problemas'")
        assert "esquema d8 é de postgres" in problema
    migrar(copia)
    conferir(copia, origem)


@pytest.mark.parametrize(
    ("esquemas", "diz"),
    [
        (("d8",), "tem d8, mas não o registro das migrações"),
        (("core", "registro"), "tem core, mas não o registro das migrações"),
        (PARCIAL, "não tem d8, que as migrações já criaram"),
    ],
    ids=["só a D-8", "só o núcleo", "tudo menos a D-8"],
)
def test_so_uma_parte_da_copia_e_dita_numa_linha(
    esquemas: tuple[str, ...], diz: str, origem: Rede, dsn: str, banco_vazio: Callable[[], str], tmp_path: Path
) -> None:
    copia = banco_vazio()
    arquivo = copiar(dsn, tmp_path)
    with psycopg.connect(copia, autocommit=True) as bd:
        for esquema_ in esquemas:
            bd.execute(f"CREATE SCHEMA {esquema_}")
    # O que cita os esquemas que faltam não se restaura: é o que se acha depois de um pg_restore sem --exit-on-error.
    subprocess.run(
        [BINARIOS / "pg_restore", *(f"--schema={e}" for e in esquemas), f"--dbname={endereco(copia)}", str(arquivo)],
        check=False, capture_output=True, env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    with pytest.raises(ErroBanco, match=diz) as recusa:
        migrar(copia)
    assert "\n" not in str(recusa.value)


def test_sem_os_indices_e_as_restricoes_migrar_nao_segue(
    origem: Rede, dsn: str, banco_vazio: Callable[[], str], tmp_path: Path
) -> None:
    """Um pg_restore que acaba antes da última seção: sem índice único, o mesmo evento entraria duas vezes."""
    arquivo, copia = copiar(dsn, tmp_path), banco_vazio()
    restaurar(arquivo, copia, "--section=pre-data", "--section=data")
    with psycopg.connect(copia) as bd:
        assert "rode formigueiro migrar" in Rede(bd).um("SELECT core.estado() -> 'problemas' ->> 0")
    with pytest.raises(ErroBanco, match=r"^faltam ao banco restrição .* e mais \d+, que as migrações") as recusa:
        migrar(copia)
    assert "\n" not in str(recusa.value)
    restaurar(arquivo, copia, "--section=post-data")
    migrar(copia)
    conferir(copia, origem)


@pytest.mark.parametrize(
    ("perder", "perdido"),
    [
        ("ALTER TABLE core.event_log DROP CONSTRAINT event_log_event_id_key", "índice core.event_log_event_id_key"),
        ("ALTER TABLE core.dlq DROP CONSTRAINT dlq_estado_check", "restrição dlq_estado_check em core.dlq"),
        ("DROP SEQUENCE core.barreira_d8", "relação core.barreira_d8"),
        ("DROP TABLE d8.medidas", "relação d8.medidas"),
    ],
)
def test_o_que_uma_restauracao_nao_refez_e_nomeado_antes_e_por_migrar(
    rede: Rede, dsn: str, perder: LiteralString, perdido: str
) -> None:
    rede.bd.execute(perder)
    assert f"{perdido} falta" in str(rede.um("SELECT core.estado() -> 'problemas'"))
    with pytest.raises(ErroBanco, match="que as migrações já criaram") as recusa:
        migrar(dsn)
    assert perdido in str(recusa.value)


@pytest.fixture
def outro_servidor() -> Iterator[Cluster]:
    """O PostgreSQL embutido, sem nenhum papel do projeto: do 15 da suíte, é uma cópia para o 18."""
    with (
        pasta_de_cluster() as pasta,
        Cluster(pasta, embutido.binarios(), PARAMETROS, usuario_root=embutido.garantir_usuario()) as cluster,
    ):
        yield cluster


@pytest.mark.parametrize("papeis", [True, False], ids=["com os papéis", "sem papel nenhum"])
def test_noutro_servidor_de_versao_igual_ou_mais_nova(
    papeis: bool, origem: Rede, dsn: str, outro_servidor: Cluster, tmp_path: Path
) -> None:
    servidor, binarios = outro_servidor.endereco.dsn("postgres"), embutido.binarios()
    arquivo = copiar(dsn, tmp_path)
    copia = outro_servidor.endereco.dsn("cidade")
    _rodar(binarios, "createdb", f"--maintenance-db={servidor}", "cidade")
    if papeis:
        lista = tmp_path / "papeis.sql"
        _rodar(BINARIOS, "pg_dumpall", "--roles-only", f"--file={lista}", f"--dbname={endereco(dsn)}")
        _rodar(binarios, "psql", "-q", f"--dbname={servidor}", f"--file={lista}")  # o papel postgres já existe
        restaurar(arquivo, copia, binarios=binarios)
    else:
        restaurar(arquivo, copia, "--no-owner", "--no-acl", binarios=binarios)
    with psycopg.connect(copia) as bd:
        (problema,) = Rede(bd).um("SELECT core.estado() -> 'problemas'")
        assert "rode formigueiro migrar" in problema
    migrar(copia)
    conferir(copia, origem, mesma_versao=embutido.binarios() == BINARIOS)
