"""Um log alimentado por replicação lógica não é um barramento, até que alguém o promova (N59)."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from app.banco.cluster import Cluster
from app.banco.espera import esperar
from app.banco.migrar import migrar
from tests.apoio.rede import Rede
from tests.apoio.servidor import BINARIOS, cluster_de_teste, pasta_de_cluster

ANA = UUID(int=11)
LOTE = f"""
    SELECT core.publicar_lote('[{{"tipo": "conselheiro.sorteado", "origem": "D-6a",
                                 "payload": {{"demanda_id": "{ANA}", "conselheiro_id": "{ANA}",
                                             "unidade_civica_id": "{ANA}"}}}}]')
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with pasta_de_cluster() as pasta, cluster_de_teste(pasta, wal_level="logical") as cluster:
        yield cluster


class Par:
    """Uma origem em uso e, noutro banco, quem assina tudo o que é dela."""

    def __init__(self, cluster: Cluster, pilha: ExitStack, so_o_log: bool) -> None:
        self.nome = f"par_{uuid4().hex[:8]}"
        with psycopg.connect(cluster.endereco.dsn("postgres"), autocommit=True) as bd:
            for lado in ("origem", "replica"):
                bd.execute(f"CREATE DATABASE {self.nome}_{lado}")
        self.dsn_origem, self.dsn = (cluster.endereco.dsn(f"{self.nome}_{lado}") for lado in ("origem", "replica"))
        migrar(self.dsn_origem, simulacao=True)
        if so_o_log:
            migrar(self.dsn)
        else:
            self._copiar_o_esquema()
        self.que = "TABLE core.event_log" if so_o_log else "ALL TABLES"
        self.origem, self.replica = (
            Rede(pilha.enter_context(psycopg.connect(dsn, autocommit=True))) for dsn in (self.dsn_origem, self.dsn)
        )

    def _copiar_o_esquema(self) -> None:
        ambiente = {**os.environ, "LC_ALL": "C.UTF-8"}
        copia = subprocess.run(
            [BINARIOS / "pg_dump", "--schema-only", self.dsn_origem], check=True, capture_output=True, env=ambiente
        )
        subprocess.run(
            [BINARIOS / "psql", "-q", "-v", "ON_ERROR_STOP=1", self.dsn],
            check=True, input=copia.stdout, stdout=subprocess.DEVNULL, env=ambiente,
        )  # fmt: skip
        with psycopg.connect(self.dsn, autocommit=True) as bd:
            papeis = "formigueiro_app, formigueiro_produtor, formigueiro_dba, formigueiro_leitura"
            bd.execute(f"REVOKE ALL ON DATABASE {bd.info.dbname} FROM PUBLIC")
            bd.execute(f"GRANT CONNECT ON DATABASE {bd.info.dbname} TO {papeis}")

    def assinar(self) -> None:
        self.origem.bd.execute(f"CREATE PUBLICATION {self.nome} FOR {self.que}")
        self.origem.bd.execute("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", [self.nome])
        self.replica.bd.execute(
            f"CREATE SUBSCRIPTION {self.nome} CONNECTION '{self.dsn_origem}' PUBLICATION {self.nome}"
            " WITH (create_slot = false)"
        )

    def alcancar(self) -> None:
        esperar(self._igual, 30, "a réplica alcançar a origem")

    def _igual(self) -> bool:
        if self.replica.linhas("SELECT FROM pg_subscription_rel WHERE srsubstate <> 'r'"):
            return False
        tabelas = ("core.event_log", "core.consumidores", "d6b.acompanhamentos", "d6b.consumer_offset")
        return all(
            self.origem.linhas(f"SELECT * FROM {tabela} AS t ORDER BY t::text")
            == self.replica.linhas(f"SELECT * FROM {tabela} AS t ORDER BY t::text")
            for tabela in tabelas
        )

    def largar(self) -> None:
        self.replica.bd.execute(f"ALTER SUBSCRIPTION {self.nome} DISABLE")
        self.replica.bd.execute(f"ALTER SUBSCRIPTION {self.nome} SET (slot_name = NONE)")
        self.replica.bd.execute(f"DROP SUBSCRIPTION {self.nome}")

    def desfazer(self) -> None:
        if self.replica.linhas("SELECT FROM pg_subscription_rel"):
            self.largar()
        esperar(
            lambda: self.origem.um("SELECT count(*) FROM pg_replication_slots WHERE active") == 0, 30, "o slot livre"
        )
        self.origem.bd.execute("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots")


@pytest.fixture
def par(cluster: Cluster, request: pytest.FixtureRequest) -> Iterator[Par]:
    with ExitStack() as pilha:
        par = Par(cluster, pilha, so_o_log=getattr(request, "param", False))
        pilha.callback(par.desfazer)
        yield par


def recusado(ato: Any, *argumentos: Any) -> str:
    with pytest.raises(psycopg.Error) as recusa:
        ato(*argumentos)
    assert recusa.value.sqlstate == "FM409", recusa.value
    return str(recusa.value)


def test_o_assinante_nao_publica_nem_despacha_nem_varre_ate_ser_promovido(par: Par) -> None:
    demanda = uuid4()
    par.origem.sortear(demanda, ANA)
    par.assinar()
    par.alcancar()
    assert par.replica.um("SELECT core.obter_maior_sequence()") == 1
    # A origem segue trabalhando, e o que ela muda nas outras tabelas não desfaz a marca.
    par.origem.despachar()
    par.origem.atualizar(demanda, ANA)
    par.origem.despachar()
    par.alcancar()

    aqui = par.replica
    assert f"assinatura {par.nome}" in recusado(aqui.sortear, uuid4(), ANA)
    recusado(aqui.despachar)
    for comando in (
        LOTE,
        "SELECT d6b.processar_pendentes()",
        "SELECT d8.reservar_lote()",
        "SELECT d6b.verificar_prazos_proximos()",
        "CALL d8.executar_varredura()",
    ):
        recusado(aqui.bd.execute, comando.encode())
    (problema,) = aqui.um("SELECT core.estado() -> 'problemas'")
    assert "alimentado por replicação" in problema
    assert aqui.um("SELECT valor FROM core.metricas() WHERE nome = 'formigueiro_barramento_assinado'") == 1
    assert "DROP SUBSCRIPTION" in recusado(aqui.um, "SELECT core.promover()")

    par.largar()
    recusado(aqui.sortear, uuid4(), ANA)  # sem a assinatura, ainda é uma réplica
    with psycopg.connect(make_conninfo(par.dsn, user="formigueiro_dba"), autocommit=True) as dba:
        maior = par.origem.um("SELECT core.obter_maior_sequence()")
        assert Rede(dba).um("SELECT core.promover()") == {"sequencia": maior, "lacunas": 0}
    assert "não há o que promover" in recusado(aqui.um, "SELECT core.promover()")
    nova = uuid4()
    aqui.sortear(nova, ANA)
    aqui.despachar()
    assert aqui.um("SELECT min(sequence_number) FROM core.event_log WHERE chave = %s", str(nova)) > maior
    assert aqui.acompanhamento(nova)["status"] == "aguardando_inicio"
    assert aqui.tipos(demanda) == ["conselheiro.demanda_iniciada"]  # o que veio não se trata de novo
    assert aqui.um("SELECT core.estado() -> 'problemas'") == []


def test_promover_nomeia_as_lacunas_e_so_passa_por_elas_a_quem_as_conferiu(par: Par) -> None:
    par.origem.sortear(uuid4(), ANA)
    par.assinar()
    par.alcancar()
    with psycopg.connect(par.dsn_origem) as demorado:
        Rede(demorado).sortear(uuid4(), ANA)  # o 2, que a origem só confirma depois de perdida
        par.origem.sortear(uuid4(), ANA)
        par.alcancar()
        par.largar()
        demorado.commit()
    assert "Faltam ao log 1 números que as colônias ainda não passaram: 2." in recusado(
        par.replica.um, "SELECT core.promover()"
    )
    recusado(par.replica.despachar)  # a recusa não promove nada
    assert par.replica.um("SELECT core.promover(true)") == {"sequencia": 3, "lacunas": 1}
    par.replica.despachar()
    assert par.replica.um("SELECT count(*) FROM d6b.acompanhamentos") == 2
    par.replica.bd.execute("SELECT setval('core.event_log_sequence_number_seq', 2, false)")
    recusado(par.replica.sortear, uuid4(), ANA)  # o que se deu por perdido não se dá a outro


@pytest.mark.parametrize("par", [True], indirect=True, ids=["só o log"])
def test_uma_assinatura_que_ainda_nao_trouxe_nada_ja_se_reconhece(par: Par) -> None:
    par.assinar()
    assert "alimentado por replicação" in str(par.replica.um("SELECT core.estado() -> 'problemas'"))
    recusado(par.replica.despachar)
    recusado(par.replica.sortear, uuid4(), ANA)
