"""A agenda cumprida pelo próprio pg_cron, sem nenhum Python: cada trabalho, lançado por ele, dá certo como escrito."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from app.banco.cluster import Cluster
from app.banco.erros import ErroBanco
from app.banco.migrar import migrar
from app.banco.pg_cron import EM_OUTRO_BANCO
from tests.apoio.espera import ate
from tests.apoio.rede import Rede
from tests.pg_cron.conftest import ligado

UM_MINUTO_E_POUCO_S = 120  # o grão do pg_cron é o minuto

AGENDA = {
    "core-despacho": "* * * * *",
    "core-filas": "* * * * *",
    "core-limpeza": "20 4 * * *",
    "core-retencao": "50 4 * * *",
    "d6b-inativos": "30 9 * * *",
    "d6b-medidas": "*/5 * * * *",
    "d6b-prazos": "0 */6 * * *",
    "d6b-saidas-conclusao": "* * * * *",
    "d8-ciclos": "5 * * * *",
    "d8-medidas": "*/5 * * * *",
}
DO_CRON = {True: "espelho", False: "limpeza-do-cron"}  # o trabalho a mais, com o pg_cron neste banco ou em outro


@contextmanager
def _conectado(cluster: Cluster, banco: str, papel: str = "postgres") -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(cluster.endereco.dsn(banco, papel), autocommit=True) as conexao:
        yield conexao


def _trabalhos(cron: psycopg.Connection[Any], banco: str = "cidade") -> dict[str, str]:
    linhas = cron.execute(
        "SELECT jobname::text, schedule FROM cron.job WHERE starts_with(jobname::text, %s)", [f"{banco}/"]
    ).fetchall()
    return {nome.removeprefix(f"{banco}/"): agenda for nome, agenda in linhas}


class Cidade:
    """O banco da rede, migrado por quem não é superusuário, com todos os trabalhos marcados para cada minuto."""

    def __init__(self, cluster: Cluster, banco_do_cron: str, pilha: ExitStack) -> None:
        self.aqui = banco_do_cron == "cidade"
        self.cluster = cluster
        self.cron = pilha.enter_context(_conectado(cluster, banco_do_cron))
        self.bd = pilha.enter_context(_conectado(cluster, "cidade"))
        self.rede = Rede(self.bd)
        self.sorteada = uuid4()
        self._dar_direitos()
        self._ocupar_o_lancador()
        self.migrar()
        assert _trabalhos(self.cron) == AGENDA | {DO_CRON[self.aqui]: AGENDA_DO_CRON[self.aqui]}
        self._semear()
        self._envelhecer_execucoes()
        self._a_cada_minuto()
        self._por_padroes_alheios()

    def migrar(self) -> None:
        assert migrar(self.cluster.endereco.dsn("cidade", "instalador")).pg_cron

    def _dar_direitos(self) -> None:
        self.cron.execute("GRANT USAGE ON SCHEMA cron TO instalador")
        if not self.aqui:
            self.cron.execute("GRANT pg_read_all_settings TO instalador")
            self.cron.execute(f"GRANT EXECUTE ON FUNCTION {EM_OUTRO_BANCO} TO instalador")

    def _ocupar_o_lancador(self) -> None:
        """Um trabalho de outrem, o primeiro da fila, que nunca acaba: em modo libpq não detém os que vêm depois."""
        self.cron.execute("SELECT cron.schedule('alheio', '* * * * *', 'SELECT pg_sleep(3600)')")

    def _por_padroes_alheios(self) -> None:
        """Os padrões do banco, que cada trabalho acha em sua sessão, não são os que ele precisa (N69)."""
        padroes = {"default_transaction_isolation": "serializable", "DateStyle": "SQL, DMY", "row_security": "off"}
        if not self.aqui:  # onde o pg_cron mora, ele mesmo não escreveria suas execuções
            padroes["default_transaction_read_only"] = "on"
        for nome, valor in padroes.items():
            self.bd.execute(f"ALTER DATABASE cidade SET {nome} = '{valor}'")

    def _semear(self) -> None:
        """Um sorteio por despachar e um prazo por alertar."""
        conselheiro, com_prazo = uuid4(), uuid4()
        depois_de_amanha = (datetime.now(UTC) + timedelta(days=2)).date()
        prazo: dict[str, object] = {"data_estimada": str(depois_de_amanha), "descricao_prazo": "troca da tampa"}
        self.rede.sortear(com_prazo, conselheiro)
        self.rede.atualizar(com_prazo, conselheiro, "prazo_registrado", prazo)
        self.rede.despachar()
        assert self.rede.um("SELECT count(*) FROM d6b.prazos") == 1
        self.rede.sortear(self.sorteada, conselheiro)

    def _envelhecer_execucoes(self) -> None:
        """Uma execução que nunca acabou, outra de há um mês, e a de outro banco, que não é nossa."""
        self.cron.execute(
            """
            INSERT INTO cron.job_run_details (runid, database, username, command, status, end_time)
            VALUES (-3, 'cidade', 'instalador', 'velha', 'starting', NULL),
                   (-2, 'cidade', 'instalador', 'velha', 'succeeded', now() - interval '30 days'),
                   (-1, 'outra', 'instalador', 'de outrem', 'succeeded', now() - interval '30 days')
            """
        )

    def _a_cada_minuto(self) -> None:
        self.bd.execute("INSERT INTO core.agendamentos VALUES ('de-passagem', '0 0 1 1 *', 'SELECT 1')")
        self.bd.execute("UPDATE core.agendamentos SET cron = '* * * * *'")
        self.migrar()
        if not self.aqui:
            self.cron.execute("UPDATE cron.job SET schedule = '* * * * *' WHERE jobname = 'cidade/limpeza-do-cron'")
        assert set(_trabalhos(self.cron).values()) == {"* * * * *"}
        # O que muda daqui em diante chega ao pg_cron pelo espelho, onde ele há.
        with _conectado(self.cluster, "cidade", "formigueiro_dba") as dba:
            (quando,) = dba.execute("SELECT core.reagendar('d6b-inativos', '15 3 * * *')").fetchone() or ("",)
        assert quando.startswith("vale em até um minuto" if self.aqui else "vale depois do próximo migrar")
        self.bd.execute("DELETE FROM core.agendamentos WHERE nome = 'de-passagem'")

    def execucoes(self) -> dict[str, str]:
        """A situação da primeira execução acabada de cada trabalho daqui."""
        linhas = self.cron.execute(
            """
            SELECT DISTINCT ON (j.jobname) j.jobname::text,
                   CASE d.status WHEN 'succeeded' THEN d.status ELSE d.status || ': ' || d.return_message END
              FROM cron.job_run_details AS d
              JOIN cron.job AS j ON j.jobid = d.jobid
             WHERE d.end_time IS NOT NULL AND starts_with(j.jobname::text, 'cidade/')
             ORDER BY j.jobname, d.runid
            """
        ).fetchall()
        return {nome.removeprefix("cidade/"): situacao for nome, situacao in linhas}

    def em_dia(self) -> bool:
        """Os trabalhos são os de core.agendamentos, com o que mudou depois de migrar, e o do pg_cron."""
        return _trabalhos(self.cron) == dict.fromkeys(AGENDA, "* * * * *") | {
            "d6b-inativos": "15 3 * * *",
            DO_CRON[self.aqui]: AGENDA_DO_CRON[self.aqui],
        }

    def cumprida(self) -> bool:
        return self.execucoes().keys() >= AGENDA.keys() | {DO_CRON[self.aqui]}


AGENDA_DO_CRON = {True: "* * * * *", False: "40 4 * * *"}


@pytest.mark.timeout(400)
def test_cada_trabalho_e_cumprido_neste_banco_e_em_outro(neste_banco: Cluster, em_outro_banco: Cluster) -> None:
    with ExitStack() as pilha:
        cidades = [Cidade(neste_banco, "cidade", pilha), Cidade(em_outro_banco, "postgres", pilha)]
        ate(lambda: all(cidade.cumprida() for cidade in cidades), UM_MINUTO_E_POUCO_S, "cada trabalho rodar uma vez")
        for cidade in cidades:
            assert set(cidade.execucoes().values()) == {"succeeded"}
            assert cidade.rede.acompanhamentos(cidade.sorteada)
            assert cidade.rede.eventos("conselheiro.prazo_próximo")
            # O primeiro da fila ainda roda: não deteve ninguém.
            assert _um(cidade.cron, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'SELECT pg_sleep%'") == 1
            assert _um(cidade.cron, "SELECT count(*) FROM cron.job WHERE jobname = 'alheio'") == 1
            assert _um(cidade.cron, "SELECT array_agg(command) FROM cron.job_run_details WHERE runid < 0") == [
                "de outrem"
            ]
            donos = "SELECT array_agg(DISTINCT username) FROM cron.job WHERE starts_with(jobname::text, 'cidade/')"
            assert _um(cidade.cron, donos) == ["instalador"]

        # A mudança de um operador e a remoção de um agendamento chegam: aqui sem mais nada, de lá ao migrar.
        cidades[1].migrar()
        for cidade in cidades:
            ate(cidade.em_dia, UM_MINUTO_E_POUCO_S, "o pg_cron ficar igual a core.agendamentos")


def _um(conexao: psycopg.Connection[Any], consulta: str) -> Any:
    (valor,) = conexao.execute(consulta).fetchone() or (None,)
    return valor


@pytest.fixture
def vila(em_outro_banco: Cluster) -> Iterator[str]:
    """Outro banco do cluster cujo pg_cron mora em `postgres`."""
    nome = f"vila_{uuid4().hex[:8]}"
    with _conectado(em_outro_banco, "postgres") as cron:
        cron.execute(f"CREATE DATABASE {nome} OWNER instalador")
        yield nome
        cron.execute("DELETE FROM cron.job WHERE starts_with(jobname::text, %s)", [f"{nome}/"])


def test_o_app_nao_cumpre_a_agenda_que_esta_no_pg_cron(em_outro_banco: Cluster, vila: str) -> None:
    assert migrar(em_outro_banco.endereco.dsn(vila)).pg_cron
    with _conectado(em_outro_banco, vila, "formigueiro_app") as app:
        assert _um(app, "SELECT count(*) FROM core.agenda_do_app()") == 0


def test_migrar_por_um_superusuario_toma_os_trabalhos_que_mudam_e_nao_deixa_duplicado(
    em_outro_banco: Cluster, vila: str
) -> None:
    dsn = em_outro_banco.endereco.dsn(vila)
    with _conectado(em_outro_banco, "postgres") as cron, _conectado(em_outro_banco, vila) as bd:
        cron.execute("CREATE ROLE outro_instalador LOGIN SUPERUSER")
        migrar(em_outro_banco.endereco.dsn(vila, "outro_instalador"))
        bd.execute("UPDATE core.agendamentos SET cron = '*/7 * * * *' WHERE nome = 'd8-ciclos'")
        migrar(dsn)
        assert _trabalhos(cron, vila) == AGENDA | {"d8-ciclos": "*/7 * * * *", "limpeza-do-cron": "40 4 * * *"}
        todos = f"SELECT count(*) FROM cron.job WHERE starts_with(jobname::text, '{vila}/')"
        assert _um(cron, todos) == len(_trabalhos(cron, vila))
        cron.execute(f"DELETE FROM cron.job WHERE starts_with(jobname::text, '{vila}/')")


def test_sem_direito_no_pg_cron_deste_banco_o_que_falta_e_dito_numa_linha() -> None:
    with ligado("cidade") as cluster, _conectado(cluster, "cidade") as cron:
        dsn = cluster.endereco.dsn("cidade", "instalador")
        _conceder_o_que_pede(dsn, cron, 'GRANT USAGE ON SCHEMA cron TO "instalador"')
        assert migrar(dsn).pg_cron
        assert _um(cron, "SELECT array_agg(DISTINCT username) FROM cron.job") == ["instalador"]


def test_sem_direito_no_pg_cron_de_outro_banco_o_que_falta_e_dito_numa_linha() -> None:
    with ligado("postgres") as cluster, _conectado(cluster, "postgres") as cron:
        dsn = cluster.endereco.dsn("cidade", "instalador")
        feito = migrar(dsn)  # nem pode saber que há um pg_cron: instala, e avisa
        assert not feito.pg_cron
        _, pedido = feito.avisos[0].split("como superusuário: ")
        cron.execute(pedido)
        _conceder_o_que_pede(
            dsn,
            cron,
            f'GRANT USAGE ON SCHEMA cron TO "instalador"; GRANT EXECUTE ON FUNCTION {EM_OUTRO_BANCO} TO "instalador"',
        )
        assert migrar(dsn).pg_cron

        cron.execute("DROP EXTENSION pg_cron")
        assert not migrar(dsn).pg_cron
        with _conectado(cluster, "cidade", "formigueiro_app") as app:
            # O despacho, o trabalhador faz a cada passo.
            assert _um(app, "SELECT count(*) FROM core.agenda_do_app()") == len(AGENDA) - 1


def _conceder_o_que_pede(dsn: str, cron: psycopg.Connection[Any], concessao: str) -> None:
    with pytest.raises(ErroBanco) as recusa:
        migrar(dsn)
    assert str(recusa.value).endswith(f"como superusuário, {concessao}")
    assert "\n" not in str(recusa.value)
    cron.execute(concessao)


def test_a_configuracao_que_pede_atencao_e_dita_ao_migrar() -> None:
    with ligado("cidade", cron__use_background_workers="on") as cluster:
        (aviso,) = migrar(cluster.endereco.dsn("cidade")).avisos
        assert "ponha cron.use_background_workers em off" in aviso


def test_a_extensao_num_banco_em_que_o_pg_cron_nao_mora_nao_conta() -> None:
    """É o que se acha na cópia, por TEMPLATE, do banco do pg_cron, e depois de mudar ou tirar a configuração."""
    with ligado("cidade") as cluster:
        dsn = cluster.endereco.dsn("cidade")
        assert migrar(dsn).pg_cron
        cluster.parametros["cron.database_name"] = "postgres"
        _reiniciar(cluster)
        with _conectado(cluster, "cidade") as bd:
            feito = migrar(dsn)
            assert not feito.pg_cron
            assert feito.avisos == [
                "a extensão pg_cron deste banco não trabalha, pois o pg_cron mora no banco postgres;"
                " para removê-la: DROP EXTENSION pg_cron"
            ]
            bd.execute("DELETE FROM core.agendamentos WHERE nome = 'd8-ciclos'")
            assert _um(bd, "SELECT core.espelhar_agenda()") == 0
        with _conectado(cluster, "cidade", "formigueiro_dba") as dba:
            assert dba.execute("SELECT FROM pg_settings WHERE name = 'cron.database_name'").fetchone() is None
            ate(lambda: not _um(dba, "SELECT core.cron_neste_banco()"), 30, "o pg_cron subir no outro banco")
        with _conectado(cluster, "postgres") as cron:
            cron.execute("CREATE EXTENSION pg_cron")
            assert migrar(dsn).pg_cron
            assert set(_trabalhos(cron)) == AGENDA.keys() - {"d8-ciclos"} | {"limpeza-do-cron"}

        del cluster.parametros["shared_preload_libraries"]
        _reiniciar(cluster)
        feito = migrar(dsn)
        assert not feito.pg_cron
        assert "não está carregado no servidor" in feito.avisos[0]
        with _conectado(cluster, "cidade", "formigueiro_dba") as dba:
            assert not _um(dba, "SELECT core.cron_neste_banco()")


def _reiniciar(cluster: Cluster) -> None:
    os.kill(cluster.pid(), signal.SIGINT)
    ate(lambda: not (cluster.dados / "postmaster.pid").exists(), 30, "o servidor parar")
    cluster.religar()


def test_um_nome_que_nao_cabe_no_pg_cron_nao_se_confunde_com_outro_nem_muda_a_cada_vez(
    neste_banco: Cluster, em_outro_banco: Cluster
) -> None:
    comprido = f"prefeitura_municipal_de_são_josé_dos_campos_{uuid4().hex[:8]}"
    with _conectado(em_outro_banco, "postgres") as cron:
        cron.execute(f'CREATE DATABASE "{comprido}"')
        ids = "SELECT array_agg(jobid ORDER BY jobid) FROM cron.job WHERE command <> 'SELECT pg_sleep(3600)'"
        antes = set(_um(cron, ids) or [])
        migrar(em_outro_banco.endereco.dsn(comprido))
        criados = set(_um(cron, ids)) - antes
        assert len(criados) == len(AGENDA) + 1
        migrar(em_outro_banco.endereco.dsn(comprido))
        assert set(_um(cron, ids)) - antes == criados
        with _conectado(em_outro_banco, comprido) as bd:
            bd.execute("DELETE FROM core.agendamentos")
        migrar(em_outro_banco.endereco.dsn(comprido))
        assert len(set(_um(cron, ids)) - antes) == 1  # a limpeza
        cron.execute("DELETE FROM cron.job WHERE jobid = ANY(%s)", [list(set(_um(cron, ids)) - antes)])

    with _conectado(neste_banco, "cidade") as bd:
        bd.execute("GRANT USAGE ON SCHEMA cron TO instalador")
    migrar(neste_banco.endereco.dsn("cidade", "instalador"))
    with _conectado(neste_banco, "cidade", "instalador") as bd, bd.transaction(force_rollback=True):
        bd.execute("SET LOCAL ROLE core_dono")
        for fim in "ab":
            bd.execute("INSERT INTO core.agendamentos VALUES (repeat('n', 80) || %s, '* * * * *', 'SELECT 1')", [fim])
        bd.execute("RESET ROLE")
        assert [_um(bd, "SELECT core.espelhar_agenda()") for _ in range(2)] == [2, 0]


def test_migrar_nao_toca_nos_trabalhos_de_um_banco_cujo_nome_comeca_por_este(
    em_outro_banco: Cluster, vila: str
) -> None:
    homologacao = f"{vila}/homolog"
    with _conectado(em_outro_banco, "postgres") as cron:
        cron.execute(f'CREATE DATABASE "{homologacao}"')
        for banco in (vila, homologacao, vila):
            migrar(em_outro_banco.endereco.dsn(banco))
        assert _trabalhos(cron, homologacao) == AGENDA | {"limpeza-do-cron": "40 4 * * *"}
        assert _trabalhos(cron, vila).keys() == AGENDA.keys() | {"limpeza-do-cron"} | {
            f"homolog/{nome}" for nome in (*AGENDA, "limpeza-do-cron")
        }
