"""O que o banco diz chega ao log em campos, e nada de privado chega com ele."""

import asyncio
import json
import logging
import time
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
import structlog
from psycopg.conninfo import make_conninfo
from structlog.testing import capture_logs

from app.ajustes import ErroAjuste, ler
from app.banco.recursos import RAIZ
from app.linha_de_comando.principal import principal
from app.logs.avisos import contexto, ouvir
from app.logs.configuracao import configurar_logs
from app.logs.privacidade import LIMITE, limpar
from app.pecas.denylist import Denylist
from app.trabalhador import publicador, trabalhador
from tests.apoio.falhas import recusar_publicacao
from tests.apoio.rede import Rede

IDENTIFICADORES = {"demanda_id", "conselheiro_id", "event_id", "correlacao_id"}
CPF = "529.982.247-25"


@pytest.fixture
def registro() -> Iterator[None]:
    """Deixa o logging do processo como estava."""
    raiz = logging.getLogger()
    antes, nivel = raiz.handlers, raiz.level
    yield
    raiz.handlers = antes
    raiz.setLevel(nivel)
    structlog.reset_defaults()


class Linhas:
    """O log deste processo, linha a linha, como saiu até agora."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self._texto = ""

    def __str__(self) -> str:
        self._texto += self._capsys.readouterr().err
        return self._texto

    def __iter__(self) -> Iterator[dict[str, Any]]:
        linhas = (json.loads(linha) for linha in str(self).splitlines())
        return (linha for linha in linhas if linha["logger"] != "asyncio")


@pytest.fixture
def linhas(capsys: pytest.CaptureFixture[str], registro: None) -> Linhas:
    configurar_logs(logging.DEBUG)
    return Linhas(capsys)


def _do_banco(linhas: Linhas, mensagem: str) -> dict[str, Any]:
    (linha,) = [linha for linha in linhas if linha["mensagem"] == mensagem]
    assert linha["origem"] == "banco"
    return linha


def _registrar(conexao: psycopg.Connection[Any], nivel: str, mensagem: str, **campos: object) -> None:
    conexao.execute("SELECT core.registrar(%s, %s, %s::jsonb)", [nivel, mensagem, json.dumps(campos, default=str)])


def test_uma_ocorrencia_vira_uma_linha_com_o_contexto_em_campos(bd: psycopg.Connection[Any], linhas: Linhas) -> None:
    ouvir(bd)
    bd.execute("SET client_min_messages = log")
    ids = {nome: str(uuid4()) for nome in (*IDENTIFICADORES, "acompanhamento_id", "projeto_id")}
    for nivel, esperado in (("info", "info"), ("aviso", "warning"), ("erro", "error")):
        _registrar(bd, nivel, f"Mensagem de {nivel}", colonia="D-6b", total=3, **ids)
        linha = _do_banco(linhas, f"Mensagem de {nivel}")
        assert linha["level"] == esperado
        assert linha["colonia"] == "D-6b"
        assert linha["total"] == 3
        assert {nome: linha[nome] for nome in ids} == ids


def test_texto_livre_do_contexto_nao_passa(bd: psycopg.Connection[Any], linhas: Linhas) -> None:
    ouvir(bd)
    _registrar(
        bd, "erro", "Falhou", motivo="segredo de alguém", texto_bruto="segredo", conteudo={"a": "segredo"},
        event="segredo", level="segredo", tipo="segredo com espaços", faltam=["campo", "segredo de alguém"],
        erros=[{"campo": "categoria", "mensagem": "segredo"}],
        erro=f'invalid input syntax for type uuid: "segredo" do CPF {CPF}',
    )  # fmt: skip
    linha = _do_banco(linhas, "Falhou")
    assert linha["faltam"] == ["campo"]
    assert linha["erros"] == ["categoria"]
    assert linha["erro"].startswith("invalid input syntax for type uuid")
    assert "segredo" not in str(linhas)
    assert CPF not in str(linhas)


@pytest.mark.parametrize("detalhe", [None, "", "texto", "[1, 2]", "{", '"a"', '{"a": ' * 5000])
def test_detalhe_que_nao_e_objeto_nao_da_campo_nenhum(detalhe: str | None) -> None:
    assert contexto(detalhe) == {}


def test_o_servidor_que_repete_comandos_no_log_nao_os_repete_no_nosso(dsn: str, linhas: Linhas) -> None:
    """Com log_statement ligado o servidor manda cada comando, com seus parâmetros, a quem escuta em LOG."""
    with psycopg.connect(dsn, autocommit=True) as conexao:
        ouvir(conexao)
        brutos: list[str] = []
        conexao.add_notice_handler(lambda aviso: brutos.append(str(aviso.message_primary) + str(aviso.message_detail)))
        conexao.execute("SET client_min_messages = log")
        conexao.execute("SET log_statement = 'all'")
        conexao.execute("SELECT %s::text", ["segredo do relato"])
        assert "segredo do relato" in str(brutos)
    assert "segredo" not in str(linhas)


def test_so_a_advertencia_do_proprio_servidor_passa(bd: psycopg.Connection[Any], linhas: Linhas) -> None:
    ouvir(bd)
    bd.execute("DROP TABLE IF EXISTS nao_ha_esta")  # um NOTICE
    bd.execute("ROLLBACK")  # uma advertência: não há transação
    (linha,) = linhas
    assert (linha["level"], linha["origem"], linha["sqlstate"]) == ("warning", "banco", "25P01")


def _trabalhar_uma_vez(dsn: str) -> None:
    """Um trabalhador de verdade, até esvaziar, pela conexão que ele abre."""

    async def rodar() -> None:
        parar = asyncio.Event()
        tarefa = asyncio.create_task(
            trabalhador.trabalhar(make_conninfo(dsn, user="formigueiro_app"), Denylist.de_texto("idiota"), parar)
        )
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as olho:
            async with asyncio.timeout(20):
                while True:
                    linha = await (await olho.execute(
                        "SELECT core.proximo_despacho() IS NULL AND d6b.proxima_publicacao() IS NULL"
                    )).fetchone()  # fmt: skip
                    if linha == (True,):
                        break
                    await asyncio.sleep(0.05)
        parar.set()
        await tarefa

    asyncio.run(rodar())


def test_o_trabalhador_leva_ao_log_o_que_os_handlers_dizem(
    bd: psycopg.Connection[Any], dsn: str, linhas: Linhas
) -> None:
    rede = Rede(bd)
    demanda, ana, bia = uuid4(), uuid4(), uuid4()
    rede.sortear(demanda, ana)
    rede.sortear(demanda, bia)  # reatribui: nível info, que só chega a quem escuta em LOG
    rede.concluir(demanda, bia)
    tardio = rede.sortear(demanda, ana)
    _trabalhar_uma_vez(dsn)
    linha = _do_banco(linhas, "Sorteio tardio: a demanda já foi concluída")
    assert linha["level"] == "error"
    assert {nome: UUID(linha[nome]) for nome in IDENTIFICADORES} == {
        "demanda_id": demanda,
        "conselheiro_id": ana,
        "event_id": tardio,
        "correlacao_id": tardio,
    }
    assert _do_banco(linhas, "Acompanhamento reatribuído")["level"] == "info"


def test_nada_de_privado_vai_ao_log_nem_quando_tudo_falha(
    bd: psycopg.Connection[Any], dsn: str, linhas: Linhas, monkeypatch: pytest.MonkeyPatch
) -> None:
    rede = Rede(bd)
    demanda, ana, outra = uuid4(), uuid4(), uuid4()
    segredo = f"segredo da dona Maria, CPF {CPF}, telefone (11) 98765-4321, maria@exemplo.org"
    recusar_publicacao(bd, "conselheiro.demanda_iniciada")
    rede.sortear(demanda, ana)
    rede.sortear(outra, ana)
    rede.atualizar(demanda, ana, texto=segredo)  # a saída que causa vai para a DLQ
    rede.atualizar(outra, ana, "prazo_registrado", {"data_estimada": segredo}, texto=segredo)  # descartada
    bd.execute(
        """
        ALTER TABLE d6b.atualizacoes ADD CONSTRAINT nada_de_protocolo CHECK (tipo <> 'protocolo_aberto')
        """
    )  # o erro do banco mostra a linha inteira em DETAIL
    rede.atualizar(outra, ana, "protocolo_aberto", texto=segredo)
    rede.despachar()
    bd.execute("UPDATE core.dlq SET proxima_tentativa = NULL")

    def falhar(*_: object) -> None:
        raise ValueError(segredo)

    monkeypatch.setattr(publicador, "compor_publicacao", falhar)

    async def publicar() -> None:
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as conexao:
            ouvir(conexao)
            await publicador.publicar_pendentes(conexao, Denylist.de_texto("x"), 0)

    asyncio.run(publicar())
    ouvir(bd)
    for (dlq,) in bd.execute("SELECT id FROM core.dlq WHERE estado = 'pendente'").fetchall():
        bd.execute("SELECT core.dlq_reprocessar(%s)", [dlq])
    mensagens = [linha["mensagem"] for linha in linhas]
    assert "texto não pôde ser publicado" in mensagens
    for pedaco in ("segredo", "Maria", CPF, "98765", "maria@"):
        assert pedaco not in str(linhas)


def test_uma_excecao_sai_com_o_rastro_e_sem_a_mensagem_que_cita_valores(linhas: Linhas) -> None:
    try:
        int("segredo do relato")
    except ValueError:
        structlog.get_logger("nosso").exception("falhou")
        logging.getLogger("alheio").exception("falhou também")
    nosso, alheio = linhas
    for linha in (nosso, alheio):
        assert linha["erro"] == "ValueError"
        assert "test_avisos.py" in linha["rastro"]
    assert 'ValueError("' not in str(linhas)
    assert "invalid literal" not in str(linhas)


@pytest.mark.usefixtures("registro")
def test_todo_comando_configura_o_log(
    dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATABASE_URL", dsn)
    monkeypatch.setenv("FORMIGUEIRO_LOG_NIVEL", "aviso")
    assert principal(["estado"]) == 0
    structlog.get_logger("depois").info("calada")
    structlog.get_logger("depois").warning("à vista", demanda_id="x")
    assert json.loads(capsys.readouterr().err)["mensagem"] == "à vista"


@pytest.mark.usefixtures("registro")
def test_descartar_da_dlq_diz_no_log_quem_e_nao_por_que(
    bd: psycopg.Connection[Any], dsn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rede = Rede(bd)
    recusar_publicacao(bd, "conselheiro.demanda_iniciada")
    rede.sortear(demanda := uuid4(), ana := uuid4())
    rede.atualizar(demanda, ana)
    rede.despachar()
    entrada = rede.um("SELECT id FROM core.dlq")
    monkeypatch.setenv("DATABASE_URL", dsn)
    assert principal(["dlq", "descartar", str(entrada), "--motivo", "pedido da dona Maria"]) == 0
    linha = json.loads(capsys.readouterr().err)
    assert (linha["mensagem"], linha["dlq_id"], linha["por"]) == ("Entrada da DLQ descartada", entrada, "postgres")
    assert "Maria" not in str(linha)


def test_os_avisos_de_uma_requisicao_levam_o_identificador_dela(bd: psycopg.Connection[Any]) -> None:
    ouvir(bd)
    with (
        structlog.contextvars.bound_contextvars(requisicao_id="r1"),
        capture_logs(processors=[structlog.contextvars.merge_contextvars]) as capturadas,
    ):
        _registrar(bd, "aviso", "Durante a requisição")
    assert capturadas[0]["requisicao_id"] == "r1"


def test_o_modulo_de_logs_e_o_unico_que_configura() -> None:
    quem = [
        str(arquivo.relative_to(RAIZ))
        for arquivo in (RAIZ / "app").rglob("*.py")
        if "structlog.configure(" in arquivo.read_text(encoding="utf-8") or "basicConfig" in arquivo.read_text()
    ]
    assert quem == ["app/logs/configuracao.py"]


@pytest.mark.parametrize("nivel", ["INFO", "10", " ", "alto"])
def test_nivel_de_log_malformado_impede_de_comecar(nivel: str) -> None:
    with pytest.raises(ErroAjuste, match="FORMIGUEIRO_LOG_NIVEL"):
        ler({"FORMIGUEIRO_LOG_NIVEL": nivel})


@pytest.mark.parametrize(
    "mensagem", ["(11) 98765-4321 " * 60_000, "invalid input: " + '"' + "x" * 2_000_000 + '"', "1" * 10**6]
)
def test_uma_mensagem_enorme_nao_detem_o_laco_de_eventos(mensagem: str) -> None:
    """Sanitizá-la inteira levaria segundos, e quem ouve o banco é o laço que serve o HTTP."""
    inicio = time.process_time()
    dita = limpar(mensagem)
    assert time.process_time() - inicio < 0.5
    assert len(dita) <= LIMITE
    assert "98765" not in dita


def test_a_mensagem_enorme_vai_ao_log_cortada_e_sem_o_valor_que_cita() -> None:
    assert limpar("x" * 1_000_000) == "x" * LIMITE
    assert limpar('invalid input syntax for type uuid: "' + "segredo " * 100_000 + '"').endswith(': "…"')
