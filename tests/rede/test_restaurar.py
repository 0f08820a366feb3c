"""Uma cópia tirada no pior momento, restaurada noutro servidor: tudo se consome, sem nenhum passo à mão.

Os comandos da página de como fazer são conferidos em tests/docs/test_copia.py; aqui importa o que estava em curso.
"""

import asyncio
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from app.banco.cluster import Cluster
from app.pecas.denylist import Denylist
from app.trabalhador import trabalhador
from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao
from tests.apoio.rede import Rede
from tests.apoio.servidor import BINARIOS, cluster_de_teste, pasta_de_cluster

FALHOU, DETIDA, PRESA, NOVA = (UUID(int=n) for n in (1, 2, 3, 4))
ANA = UUID(int=11)
PLANO = {"intervalo_dias": 30, "tipo": "poda", "prazo_tolerancia_dias": 5, "vida_util_dias": 300}
PUBLICADA = "conselheiro.atualização_publicada"


@pytest.fixture
def destino() -> Iterator[Cluster]:
    with pasta_de_cluster() as pasta, cluster_de_teste(pasta) as cluster:
        yield cluster


def em_curso(rede: Rede, publicador: psycopg.Connection) -> None:
    """DLQ em aberto (evento, espera e saída), texto reservado, lacuna detida por `publicador` e eventos por ler."""
    rede.sortear(DETIDA, ANA)
    rede.concluir(DETIDA, ANA, plano_manutencao=PLANO, categoria="3.9", localizacao={"lat": -23.5, "lng": -46.6})
    recusar_publicacao(rede.bd, "demanda.concluída")
    rede.bd.execute(
        f"""
        CREATE FUNCTION d6b.veneno() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'veneno'; END $$;
        CREATE TRIGGER veneno BEFORE INSERT ON d6b.acompanhamentos FOR EACH ROW
            WHEN (NEW.demanda_id = '{FALHOU}') EXECUTE FUNCTION d6b.veneno()
        """
    )
    rede.sortear(FALHOU, ANA)
    rede.atualizar(FALHOU, ANA)
    rede.despachar()
    aceitar_publicacao(rede.bd)
    rede.bd.execute("DROP TRIGGER veneno ON d6b.acompanhamentos")
    rede.bd.execute("SELECT d6b.reservar_publicacoes(1)")
    # A reserva, de quem não virá, vence sozinha; aqui, logo.
    rede.bd.execute(
        "UPDATE d6b.publicacoes_pendentes SET reservada_ate = clock_timestamp() + interval '3 s'"
        " WHERE reservada_ate IS NOT NULL"
    )

    Rede(publicador).sortear(UUID(int=99), ANA)  # nunca confirmado
    rede.sortear(PRESA, ANA)
    rede.bd.execute("UPDATE core.dlq SET proxima_tentativa = clock_timestamp() + interval '1 hour'"
                    " WHERE estado = 'pendente'")  # fmt: skip
    rede.despachar()
    rede.bd.execute("UPDATE core.dlq SET proxima_tentativa = clock_timestamp() WHERE estado = 'pendente'")
    rede.atualizar(PRESA, ANA)


def restaurar(dsn: str, destino: Cluster, pasta: Path) -> str:
    """Papéis e banco, da origem ao destino; devolve o DSN do banco restaurado."""
    papeis, copia = pasta / "papeis.sql", pasta / "banco.dump"
    servidor = destino.endereco.dsn("postgres")
    _rodar("pg_dumpall", "--roles-only", f"--file={papeis}", f"--dbname={dsn}")
    _rodar("pg_dump", "--format=custom", f"--file={copia}", dsn)
    _rodar("psql", "--quiet", f"--dbname={servidor}", f"--file={papeis}")  # o papel postgres já existe
    _rodar("pg_restore", "--create", "--exit-on-error", f"--dbname={servidor}", str(copia))
    return destino.endereco.dsn(str(conninfo_to_dict(dsn)["dbname"]))


def _rodar(programa: str, *argumentos: str) -> None:
    feito = subprocess.run(
        [BINARIOS / programa, *argumentos],
        check=False, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C.UTF-8"},
    )  # fmt: skip
    assert feito.returncode == 0, feito.stderr


def trabalhar_ate_o_repouso(destino: Cluster, rede: Rede) -> None:
    async def rodar() -> None:
        parar = asyncio.Event()
        dsn = destino.endereco.dsn(rede.bd.info.dbname, "formigueiro_app")
        tarefa = asyncio.create_task(trabalhador.trabalhar(dsn, Denylist.de_texto("idiota"), parar))
        try:
            async with asyncio.timeout(30):
                while not em_repouso(rede):
                    await asyncio.sleep(0.05)
        finally:
            parar.set()
            await tarefa

    asyncio.run(rodar())


def em_repouso(rede: Rede) -> bool:
    return bool(
        rede.um("SELECT core.proximo_despacho() IS NULL AND NOT EXISTS (SELECT FROM d6b.publicacoes_pendentes)")
    )


def test_o_que_estava_em_curso_na_copia_se_consome_sozinho(
    rede: Rede, dsn: str, destino: Cluster, tmp_path: Path
) -> None:
    with psycopg.connect(dsn) as publicador:
        em_curso(rede, publicador)
        abertas = rede.linhas("SELECT especie, estado FROM core.dlq WHERE estado IN ('pendente', 'em_espera')")
        assert {(a["especie"], a["estado"]) for a in abertas} >= {
            ("evento", "pendente"),
            ("evento", "em_espera"),
            ("saida", "pendente"),
        }
        assert rede.um("SELECT count(*) FROM core.consumidores WHERE lacuna_ate IS NOT NULL") > 0
        assert rede.um("SELECT count(*) FROM d6b.publicacoes_pendentes WHERE reserva IS NOT NULL") > 0
        restaurado = restaurar(dsn, destino, tmp_path)
        publicador.rollback()

    with psycopg.connect(restaurado, autocommit=True) as conexao:
        outra = Rede(conexao)
        antes = outra.um("SELECT max(sequence_number) FROM core.event_log")
        outra.sortear(NOVA, ANA)
        outra.atualizar(NOVA, ANA)
        assert outra.um("SELECT min(sequence_number) FROM core.event_log WHERE chave = %s", str(NOVA)) > antes
        trabalhar_ate_o_repouso(destino, outra)

        assert outra.linhas("SELECT FROM core.dlq WHERE estado <> 'resolvida'") == []
        assert {str(evento["chave"]) for evento in outra.eventos(PUBLICADA)} == {str(d) for d in (FALHOU, PRESA, NOVA)}
        assert [a["status"] for a in outra.acompanhamentos(DETIDA)] == ["concluido"]
        assert len(outra.eventos("demanda.concluída")) == 1
        assert outra.um("SELECT count(*) FROM d8.projetos_monitorados") == 1
        assert outra.um("SELECT core.estado() -> 'problemas'") == []
