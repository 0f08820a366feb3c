"""A instalação das funções: o banco fica como os arquivos dizem, venha de onde vier."""

import shutil
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from structlog.testing import capture_logs

from app.banco import funcoes, transacoes
from app.banco.catalogo import ESQUEMAS, PAPEIS
from app.banco.erros import ErroBanco
from app.banco.funcoes import ErroFuncao
from app.banco.recursos import FUNCOES
from tests.apoio.espera import ate
from tests.apoio.fotografia import fotografar

Conexao = psycopg.Connection[Any]


class Pasta:
    """Uma cópia de sql/functions em que o teste mexe, e o banco em que a instala."""

    def __init__(self, raiz: Path, bd: Conexao, dsn: str) -> None:
        self.raiz = raiz
        self.bd = bd
        self.dsn = dsn

    def escrever(self, nome: str, *comandos: str) -> None:
        arquivo = self.raiz / nome
        arquivo.parent.mkdir(parents=True, exist_ok=True)
        arquivo.write_text(";\n".join(comandos) + ";\n", encoding="utf-8")

    def remover(self, nome: str) -> None:
        (self.raiz / nome).unlink()

    def instalar(self) -> bool:
        return funcoes.instalar(self.bd, self.raiz)

    def um(self, consulta: str) -> Any:
        linha = self.bd.execute(consulta).fetchone()
        return linha[0] if linha else None


@pytest.fixture
def pasta(tmp_path: Path, bd: Conexao, dsn: str) -> Pasta:
    shutil.copytree(FUNCOES, tmp_path / "functions")
    return Pasta(tmp_path / "functions", bd, dsn)


def funcao(nome: str, corpo: str, parametros: str = "", devolve: str = "int", linguagem: str = "sql") -> str:
    return f"CREATE OR REPLACE FUNCTION {nome}({parametros}) RETURNS {devolve} LANGUAGE {linguagem} AS $$ {corpo} $$"


GATILHO = funcao("core.ao_mudar", "BEGIN RETURN NEW; END", devolve="trigger", linguagem="plpgsql")
LIGA_GATILHO = (
    "CREATE OR REPLACE TRIGGER ao_mudar BEFORE UPDATE ON core.agendamentos"
    " FOR EACH ROW EXECUTE FUNCTION core.ao_mudar()"
)


def test_sem_mudanca_nao_instala(pasta: Pasta) -> None:
    assert pasta.instalar() is False


def test_uma_funcao_editada_e_reinstalada(pasta: Pasta) -> None:
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 1"))
    assert pasta.instalar()
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 2"))
    assert pasta.instalar()
    assert pasta.um("SELECT core.nova()") == 2


def test_uma_funcao_sem_arquivo_e_removida_com_seu_gatilho(pasta: Pasta) -> None:
    antes = fotografar(pasta.dsn)
    pasta.escrever("core/ao_mudar.sql", GATILHO, LIGA_GATILHO)
    pasta.instalar()
    pasta.bd.execute("UPDATE core.agendamentos SET cron = cron")
    pasta.remover("core/ao_mudar.sql")
    pasta.instalar()
    assert fotografar(pasta.dsn) == antes


def test_um_gatilho_que_saiu_do_arquivo_e_removido(pasta: Pasta) -> None:
    pasta.escrever("core/ao_mudar.sql", GATILHO, LIGA_GATILHO)
    pasta.instalar()
    pasta.escrever("core/ao_mudar.sql", GATILHO)
    pasta.instalar()
    assert pasta.um("SELECT count(*) FROM pg_trigger WHERE tgname = 'ao_mudar'") == 0
    assert pasta.um("SELECT to_regprocedure('core.ao_mudar()') IS NOT NULL")


def test_orfa_congelada_tambem_e_removida(pasta: Pasta) -> None:
    """A idade de uma linha congelada nada diz; e depois de a contagem dar a volta, diria o contrário."""
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 1"))
    pasta.instalar()
    pasta.bd.execute("VACUUM (FREEZE) pg_proc")
    pasta.remover("core/nova.sql")
    pasta.instalar()
    assert pasta.um("SELECT to_regprocedure('core.nova()') IS NULL")
    assert pasta.um("SELECT to_regprocedure('core.agora()') IS NOT NULL")


@pytest.mark.parametrize(
    ("antes", "depois"),
    [
        pytest.param(
            funcao("core.nova", "SELECT 1"), funcao("core.nova", "SELECT 'a'", devolve="text"), id="tipo devolvido"
        ),
        pytest.param(
            funcao("core.nova", "SELECT p_a", "p_a int"), funcao("core.nova", "SELECT p_b", "p_b int"), id="nome"
        ),
        pytest.param(
            funcao("core.nova", "SELECT p_a", "p_a int DEFAULT 1"),
            funcao("core.nova", "SELECT p_a", "p_a int"),
            id="perda do padrão",
        ),
        pytest.param(
            funcao("core.nova", "SELECT p_a", "p_a int"),
            funcao("core.nova", "SELECT p_a", "p_a int, p_b int DEFAULT 0"),
            id="parâmetro a mais",
        ),
        pytest.param(
            funcao("core.nova", "SELECT 1"),
            "CREATE OR REPLACE PROCEDURE core.nova() LANGUAGE sql AS $$ SELECT 1 $$",
            id="de função a procedimento",
        ),
    ],
)
def test_uma_assinatura_mudada_e_trocada(antes: str, depois: str, pasta: Pasta) -> None:
    """Mesmo numa família, cujo arquivo não tem o nome da função."""
    pasta.escrever("core/familia.sql", funcao("core.outra", "SELECT 0"), antes)
    pasta.instalar()
    pasta.escrever("core/familia.sql", funcao("core.outra", "SELECT 0"), depois)
    pasta.instalar()
    assert pasta.um("SELECT count(*) FROM pg_proc WHERE proname = 'nova'") == 1


def test_trocar_uma_funcao_recria_o_gatilho_e_a_visao_que_a_usam(pasta: Pasta) -> None:
    visao = "CREATE OR REPLACE VIEW core.vista AS SELECT core.nova() AS n"
    pasta.escrever("core/visoes/vista.sql", visao)
    pasta.escrever("core/a_usa.sql", GATILHO, LIGA_GATILHO)
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 1"))
    pasta.instalar()
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 'a'", devolve="text"))
    pasta.instalar()
    assert pasta.um("SELECT n FROM core.vista") == "a"
    assert pasta.um("SELECT count(*) FROM pg_trigger WHERE tgname = 'ao_mudar'") == 1


def test_uma_visao_muda_de_colunas_e_some_com_o_arquivo(pasta: Pasta) -> None:
    pasta.escrever("core/visoes/vista.sql", "CREATE OR REPLACE VIEW core.vista AS SELECT 1 AS a, 2 AS b")
    pasta.instalar()
    pasta.escrever("core/visoes/vista.sql", "CREATE OR REPLACE VIEW core.vista AS SELECT 3 AS c")
    pasta.instalar()
    assert pasta.um("SELECT c FROM core.vista") == 3
    pasta.remover("core/visoes/vista.sql")
    pasta.instalar()
    assert pasta.um("SELECT to_regclass('core.vista') IS NULL")


def test_uma_visao_muda_com_a_funcao_que_a_devolve_e_a_que_a_recebe(pasta: Pasta) -> None:
    """Elas dependem do tipo da visão, e a visão pode depender de outras: saem na ordem que der."""

    def escrever(coluna: str) -> None:
        pasta.escrever(
            "core/visoes/vista.sql",
            funcao("core.valor", f"SELECT 1 AS {coluna}"),
            f"CREATE OR REPLACE VIEW core.vista AS SELECT core.valor() AS {coluna}",
            funcao("core.devolve", "SELECT * FROM core.vista", devolve="SETOF core.vista"),
            funcao("core.recebe", f"SELECT (p).{coluna}", "p core.vista"),
            "CREATE OR REPLACE VIEW core.vista_da_vista AS SELECT core.recebe(v) AS n FROM core.devolve() AS v",
        )

    antes = fotografar(pasta.dsn)
    for coluna in "ab":
        escrever(coluna)
        pasta.instalar()
        assert pasta.um("SELECT n FROM core.vista_da_vista") == 1
    pasta.remover("core/visoes/vista.sql")
    pasta.instalar()
    assert fotografar(pasta.dsn) == antes


def test_um_direito_que_saiu_do_arquivo_e_retirado_e_o_de_um_dba_fica(pasta: Pasta) -> None:
    nova = funcao("core.nova", "SELECT 1")
    pasta.escrever("core/nova.sql", nova, "GRANT EXECUTE ON FUNCTION core.nova() TO formigueiro_app")
    pasta.instalar()
    pasta.bd.execute("GRANT EXECUTE ON FUNCTION core.nova() TO pg_monitor")
    assert pasta.um("SELECT has_function_privilege('formigueiro_app', 'core.nova()', 'EXECUTE')")
    pasta.escrever("core/nova.sql", nova)
    pasta.instalar()
    assert not pasta.um("SELECT has_function_privilege('formigueiro_app', 'core.nova()', 'EXECUTE')")
    assert pasta.um("SELECT has_function_privilege('pg_monitor', 'core.nova()', 'EXECUTE')")


def test_um_papel_de_nome_parecido_nao_e_do_projeto(pasta: Pasta) -> None:
    """Um DBA dá ao seu Grafana um nome destes, e migrar não há de lhe tirar o que ele deu."""
    papel = f"formigueiro_grafana_{pasta.bd.info.dbname}"
    pasta.bd.execute(f"CREATE ROLE {papel}; GRANT EXECUTE ON FUNCTION core.agora() TO {papel}")
    try:
        pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 1"))
        pasta.instalar()
        assert pasta.um(f"SELECT has_function_privilege('{papel}', 'core.agora()', 'EXECUTE')")
    finally:
        pasta.bd.execute(f"DROP OWNED BY {papel}; DROP ROLE {papel}")


def test_todo_papel_a_que_os_arquivos_dao_algo_e_do_projeto(bd: Conexao) -> None:
    """Um que faltasse na lista guardaria para sempre o que os arquivos lhe tiram."""
    dos_arquivos = bd.execute(
        """
        SELECT DISTINCT r.rolname
          FROM pg_proc AS p
         CROSS JOIN aclexplode(p.proacl) AS a
          JOIN pg_roles AS r ON r.oid = a.grantee
         WHERE p.pronamespace::regnamespace::text = ANY (%s)
        """,
        [list(ESQUEMAS)],
    )
    assert {papel for (papel,) in dos_arquivos} <= set(PAPEIS)


DE_UM_DBA = (
    "GRANT SELECT ON core.vista TO pg_monitor",
    "GRANT SELECT ON core.vista TO PUBLIC",
    "GRANT EXECUTE ON FUNCTION core.nova(int) TO pg_monitor WITH GRANT OPTION",
    "GRANT EXECUTE ON FUNCTION core.nova(text) TO pg_monitor",
)


def test_o_que_um_dba_deu_passa_ao_que_toma_o_lugar(pasta: Pasta) -> None:
    """Também à função que não mudou, e só se afasta por ter o nome de outra; ao que deixa de existir, não."""
    pasta.escrever("core/visoes/vista.sql", "CREATE OR REPLACE VIEW core.vista AS SELECT 1 AS a")
    pasta.escrever("core/nova.sql", *(funcao("core.nova", "SELECT 1", f"p {tipo}") for tipo in ("int", "text", "date")))
    pasta.instalar()
    for comando in (*DE_UM_DBA, "GRANT EXECUTE ON FUNCTION core.nova(date) TO pg_monitor"):
        pasta.bd.execute(comando)
    antes = _direitos(pasta)
    pasta.escrever("core/visoes/vista.sql", "CREATE OR REPLACE VIEW core.vista AS SELECT 'a' AS b")
    pasta.escrever(
        "core/nova.sql",
        funcao("core.nova", "SELECT 1::bigint", "p int", devolve="bigint"),
        funcao("core.nova", "SELECT 1", "p text"),
    )
    pasta.instalar()
    assert antes - _direitos(pasta) == {("core.nova(date)", "{core_dono=X/core_dono,pg_monitor=X/core_dono}")}
    assert _direitos(pasta) < antes


def _direitos(pasta: Pasta) -> set[tuple[str, str]]:
    consulta = """
        SELECT oid::regprocedure::text, proacl::text FROM pg_proc WHERE proname = 'nova'
         UNION ALL
        SELECT oid::regclass::text, relacl::text FROM pg_class WHERE relname = 'vista'
    """
    return set(pasta.bd.execute(consulta))


CORPO_RUIM = funcao("core.nova", "BEGIN SELEC 1; END", linguagem="plpgsql")


@pytest.mark.parametrize(
    ("comando", "mensagem"),
    [
        pytest.param("CREATE OR REPLACE FUNCTON core.nova()", r"core/nova\.sql:2: syntax error", id="sintaxe"),
        pytest.param(funcao("core.nova", "SELECT 1", devolve="nada"), r"core/nova\.sql: type", id="tipo"),
        pytest.param(CORPO_RUIM, r"core/nova\.sql: syntax error", id="corpo"),
        pytest.param(funcao("core.nova", "SELECT core.nao()"), r"core/nova\.sql: .*does not exist", id="chamada"),
    ],
)
def test_um_arquivo_quebrado_e_nomeado_e_nada_muda(comando: str, mensagem: str, pasta: Pasta) -> None:
    antes = fotografar(pasta.dsn)
    pasta.escrever("core/agora.sql", funcao("core.agora", "SELECT now() + '1 day'", devolve="timestamptz"))
    pasta.escrever("core/nova.sql", "SELECT 1", comando)
    with pytest.raises(ErroFuncao, match=mensagem):
        pasta.instalar()
    assert fotografar(pasta.dsn) == antes


def test_uma_funcao_de_que_uma_tabela_depende_nao_some_calada(pasta: Pasta) -> None:
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 1"))
    pasta.instalar()
    pasta.bd.execute("ALTER TABLE core.relogio ADD COLUMN n int DEFAULT core.nova()")
    pasta.remover("core/nova.sql")
    with pytest.raises(ErroBanco, match=r"core\.nova\(\).*relogio"):
        pasta.instalar()


def test_a_visao_de_um_dba_que_segura_a_que_muda_e_dita_pelo_nome(pasta: Pasta) -> None:
    pasta.escrever("core/visoes/vista.sql", "CREATE OR REPLACE VIEW core.vista AS SELECT 1 AS a")
    pasta.instalar()
    pasta.bd.execute("CREATE VIEW public.do_dba AS SELECT * FROM core.vista")
    pasta.escrever("core/visoes/vista.sql", "CREATE OR REPLACE VIEW core.vista AS SELECT 'a' AS b")
    with pytest.raises(ErroBanco, match=r"view public\.do_dba depends on view core\.\w+_vista"):
        pasta.instalar()
    assert pasta.um("SELECT a FROM public.do_dba") == 1


# Espera numa trava, e só depois chama a outra; o que já foi chamado uma vez está guardado na sessão.
QUEM_CHAMA = funcao(
    "core.chama",
    "BEGIN IF p_espera THEN PERFORM FROM core.consumidores FOR UPDATE; END IF;"
    " LOCK TABLE core.relogio IN ACCESS SHARE MODE; RETURN core.chamada(); END",
    "p_espera boolean",
    linguagem="plpgsql",
)


@contextmanager
def chamando(pasta: Pasta) -> Iterator[Future[Any]]:
    """Uma sessão que, já com tudo na memória, começou core.chama e espera; segue ao sair do bloco."""
    with psycopg.connect(pasta.dsn) as outra, psycopg.connect(pasta.dsn) as sessao, ThreadPoolExecutor() as executor:
        sessao.execute("SELECT core.chama(false)")
        sessao.commit()
        outra.execute("SELECT FROM core.consumidores FOR UPDATE")
        chamada = executor.submit(lambda: sessao.execute("SELECT core.chama(true)").fetchone())
        ate(lambda: pasta.um(f"SELECT cardinality(pg_blocking_pids({sessao.info.backend_pid}))"), o_que="chama esperar")
        try:
            yield chamada
        finally:
            outra.rollback()


@pytest.fixture
def sem_trava(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sem a espera pelos despachantes: aqui, quem os segura é o teste."""
    monkeypatch.setattr("app.banco.catalogo.travar", lambda conexao: None)


def _instalar_enquanto_chama(pasta: Pasta) -> Any:
    """Instala com a chamada a meio, confere que a espera, e devolve o que a chamada devolveu."""
    with ThreadPoolExecutor() as executor:
        with chamando(pasta) as chamada:
            instalacao = executor.submit(pasta.instalar)
            with psycopg.connect(pasta.dsn, autocommit=True) as sessao:
                novo = "SELECT 1 WHERE to_regprocedure('core.nova()') IS NOT NULL"
                ate(lambda: sessao.execute(novo).fetchone(), o_que="as novas no lugar")
            assert not chamada.done()
            assert not instalacao.done()
        assert instalacao.result()
    return chamada.result()[0]


@pytest.mark.usefixtures("sem_trava")
def test_quem_ja_corria_ainda_chama_o_que_sai(pasta: Pasta) -> None:
    pasta.escrever("core/chama.sql", QUEM_CHAMA)
    pasta.escrever("core/chamada.sql", funcao("core.chamada", "SELECT 7"))
    pasta.instalar()
    pasta.remover("core/chamada.sql")
    pasta.escrever("core/chama.sql", funcao("core.chama", "SELECT core.nova()", "p_espera boolean"))
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 8"))
    assert _instalar_enquanto_chama(pasta) == 7
    assert pasta.um("SELECT to_regprocedure('core.chamada()') IS NULL")
    assert pasta.um("SELECT core.chama(false)") == 8


@pytest.mark.usefixtures("sem_trava")
def test_quem_ja_corria_ainda_chama_o_que_e_trocado(pasta: Pasta) -> None:
    """Quem chama já tem a função resolvida, e não procura outra vez pelo nome."""
    pasta.escrever("core/chama.sql", QUEM_CHAMA.replace("LOCK TABLE core.relogio IN ACCESS SHARE MODE; ", ""))
    pasta.escrever("core/chamada.sql", funcao("core.chamada", "SELECT 7"))
    pasta.instalar()
    pasta.escrever("core/chamada.sql", funcao("core.chamada", "SELECT 9::bigint", devolve="bigint"))
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 8"))
    assert _instalar_enquanto_chama(pasta) == 7
    assert pasta.um("SELECT core.chama(false)") == 9
    assert pasta.um("SELECT count(*) FROM pg_proc WHERE proname ~ 'afastada'") == 0


PROCEDIMENTO = (
    "CREATE OR REPLACE PROCEDURE core.chama() LANGUAGE plpgsql AS $$ BEGIN"
    " PERFORM pg_advisory_lock(1); COMMIT; PERFORM pg_advisory_lock(2); {}; END $$"
)


def test_um_procedimento_que_confirma_a_meio_ainda_chama_o_que_sai(
    pasta: Pasta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transação em que começou já terminou, mas o corpo é o mesmo."""
    pasta.escrever("core/chama.sql", PROCEDIMENTO.format("PERFORM core.chamada()"))
    pasta.escrever("core/chamada.sql", funcao("core.chamada", "SELECT 7"))
    pasta.instalar()
    pasta.escrever("core/chama.sql", PROCEDIMENTO.format("PERFORM 1"))
    pasta.remover("core/chamada.sql")

    olhar, olhadas = transacoes.em_curso, []

    def anotar(conexao: Conexao) -> set[tuple[int, str]]:
        olhadas.append(conexao)
        return olhar(conexao)

    monkeypatch.setattr(transacoes, "em_curso", anotar)
    with (
        psycopg.connect(pasta.dsn, autocommit=True) as outra,
        psycopg.connect(pasta.dsn, autocommit=True) as sessao,
        ThreadPoolExecutor() as executor,
    ):
        outra.execute("SELECT pg_advisory_lock(1), pg_advisory_lock(2)")
        chamada = executor.submit(sessao.execute, "CALL core.chama()")

        def esperar_a_trava(qual: int) -> None:
            consulta = "SELECT objid::int FROM pg_locks WHERE NOT granted AND pid = %s"
            ate(lambda: outra.execute(consulta, [sessao.info.backend_pid]).fetchone() == (qual,), o_que=f"trava {qual}")

        esperar_a_trava(1)
        instalacao = executor.submit(pasta.instalar)
        ate(lambda: olhadas, o_que="a instalação ver quem corre")
        outra.execute("SELECT pg_advisory_unlock(1)")
        esperar_a_trava(2)
        vistas = len(olhadas)
        ate(lambda: len(olhadas) > vistas + 2 or instalacao.done(), o_que="a instalação ver a transação acabar")
        outra.execute("SELECT pg_advisory_unlock(2)")
        chamada.result()
        assert instalacao.result()
    assert pasta.um("SELECT to_regprocedure('core.chamada()') IS NULL")


def test_o_que_sai_guarda_ate_la_os_direitos_que_tinha(pasta: Pasta) -> None:
    pasta.escrever(
        "core/nova.sql", funcao("core.nova", "SELECT 1"), "GRANT EXECUTE ON FUNCTION core.nova() TO formigueiro_app"
    )
    pasta.instalar()
    pasta.remover("core/nova.sql")
    (sobra,) = funcoes._trocar(pasta.bd, pasta.raiz, funcoes._em_ordem(pasta.raiz))
    assert sobra.alvo == "core.nova()"
    assert pasta.um("SELECT has_function_privilege('formigueiro_app', 'core.nova()', 'EXECUTE')")
    assert not pasta.um("SELECT has_function_privilege('formigueiro_leitura', 'core.nova()', 'EXECUTE')")


def test_morta_depois_da_troca_a_versao_anterior_tambem_se_reinstala(
    pasta: Pasta, monkeypatch: pytest.MonkeyPatch
) -> None:
    """O banco já não era dela, e não se há de dizer que era."""
    antes = fotografar(pasta.dsn)
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 1"))
    monkeypatch.setattr(funcoes, "_concluir", _morrer)
    with pytest.raises(KeyboardInterrupt):
        pasta.instalar()
    monkeypatch.undo()
    pasta.remover("core/nova.sql")
    assert pasta.instalar()
    assert fotografar(pasta.dsn) == antes


def _morrer(*_: object) -> None:
    raise KeyboardInterrupt


def test_uma_funcao_nova_que_chama_a_que_sai_e_nomeada_e_nada_muda(pasta: Pasta) -> None:
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 1"))
    pasta.instalar()
    antes = fotografar(pasta.dsn)
    pasta.remover("core/nova.sql")
    pasta.escrever("core/outra.sql", funcao("core.outra", "SELECT core.nova()"))
    with pytest.raises(ErroFuncao, match=r"core/outra\.sql: .*core\.nova\(\) does not exist"):
        pasta.instalar()
    assert fotografar(pasta.dsn) == antes


def test_instala_num_banco_que_se_replica_inteiro(pasta: Pasta) -> None:
    pasta.bd.execute("CREATE PUBLICATION tudo FOR ALL TABLES")
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 1"))
    assert pasta.instalar()
    assert not pasta.instalar()


def test_por_uma_transacao_muito_longa_nao_se_espera_para_sempre(
    pasta: Pasta, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transacoes, "CALADO_S", 0.1)
    monkeypatch.setattr(transacoes, "PRAZO_S", 0.2)
    pasta.escrever("core/nova.sql", funcao("core.nova", "SELECT 1"))
    pasta.instalar()
    pasta.remover("core/nova.sql")
    with psycopg.connect(pasta.dsn) as longa, capture_logs() as linhas:
        longa.execute("SELECT 1")
        pid = longa.info.backend_pid
        pasta.instalar()
    assert pasta.um("SELECT to_regprocedure('core.nova()') IS NULL")
    assert [linha["event"] for linha in linhas] == [
        f"transações que já corriam (pid {pid}): migrar espera que acabem, até 0.2 s",
        f"transações que já corriam (pid {pid}): migrar segue sem elas",
    ]
