"""core.publicar: idempotência, recusas e permissões."""

from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tests.apoio.rede import Rede

SORTEIO: dict[str, object] = {
    "conselheiro_id": str(UUID(int=11)),
    "demanda_id": str(UUID(int=1)),
    "unidade_civica_id": str(UUID(int=7)),
}


def test_o_mesmo_evento_de_novo_devolve_o_primeiro_numero(rede: Rede) -> None:
    evento = uuid4()
    consulta = "SELECT core.publicar('conselheiro.sorteado', %s, 'D-6a', p_event_id => %s)"
    primeiro = rede.um(consulta, Jsonb(SORTEIO), evento)
    assert rede.um(consulta, Jsonb(dict(reversed(SORTEIO.items()))), evento) == primeiro
    assert rede.um("SELECT count(*) FROM core.event_log") == 1


def test_o_mesmo_event_id_com_outro_conteudo_e_recusado(rede: Rede) -> None:
    evento = rede.publicar("conselheiro.sorteado", SORTEIO, "D-6a")
    with pytest.raises(psycopg.Error, match=f"{evento} já foi publicado com outro conteúdo") as recusa:
        rede.publicar("conselheiro.sorteado", SORTEIO | {"total_elegiveis": 9}, "D-6a", event_id=evento)
    assert recusa.value.sqlstate == "FM409"


def test_a_chave_e_a_demanda_ou_o_proprio_evento(rede: Rede) -> None:
    evento = rede.publicar("conselheiro.sorteado", SORTEIO, "D-6a")
    (linha,) = rede.eventos()
    assert linha["chave"] == SORTEIO["demanda_id"]
    assert linha["correlacao_id"] == evento


@pytest.mark.parametrize(
    ("tipo", "versao", "payload", "mensagem"),
    [
        ("conselheiro.sumido", "1.0.0", SORTEIO, "não conhece o tipo conselheiro.sumido na versão 1.0.0"),
        ("conselheiro.sorteado", "9.9.9", SORTEIO, "não conhece o tipo conselheiro.sorteado na versão 9.9.9"),
        (
            "conselheiro.sorteado",
            "1.0.0",
            {"conselheiro_id": "x"},
            "demanda_id: obrigatório.*unidade_civica_id: obrigatório.*conselheiro_id: UUID",
        ),
    ],
)
def test_o_que_o_registro_recusa_nao_deixa_nada(
    rede: Rede, tipo: str, versao: str, payload: dict[str, object], mensagem: str
) -> None:
    with pytest.raises(psycopg.Error, match=mensagem) as recusa:
        rede.publicar(tipo, payload, "D-6a", versao)
    assert recusa.value.sqlstate == "FM422"
    assert rede.eventos() == []


def test_campo_obrigatorio_nulo_e_nomeado(rede: Rede) -> None:
    with pytest.raises(psycopg.Error, match="payload") as recusa:
        rede.bd.execute("SELECT core.publicar('conselheiro.sorteado', NULL, 'D-6a')")
    assert recusa.value.sqlstate == "FM422"


@pytest.mark.parametrize(
    "comando", ["UPDATE core.event_log SET origem = 'x'", "DELETE FROM core.event_log", "TRUNCATE core.event_log"]
)
def test_o_log_e_so_de_acrescimo(rede: Rede, comando: str) -> None:
    rede.publicar("conselheiro.sorteado", SORTEIO, "D-6a")
    with pytest.raises(psycopg.Error, match="só de acréscimo") as recusa:
        rede.bd.execute(comando)
    assert recusa.value.sqlstate == "FM409"


def test_produtor_so_publica_pela_colonia_que_e_sua_e_o_que_ela_produz(rede: Rede, dsn: str) -> None:
    rede.bd.execute("INSERT INTO core.produtores VALUES ('formigueiro_produtor', 'D-6a')")
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_produtor"), autocommit=True) as produtor:
        daqui = Rede(produtor)
        daqui.publicar("conselheiro.sorteado", SORTEIO, "D-6a")
        with pytest.raises(psycopg.Error, match="não publica pela colônia D-12") as alheia:
            daqui.publicar("conselheiro.sorteado", SORTEIO, "D-12")
        with pytest.raises(psycopg.Error, match=r"não é produtora de demanda\.conclusao_confirmada") as outro_tipo:
            daqui.publicar("demanda.conclusao_confirmada", {}, "D-6a")
        assert alheia.value.sqlstate == outro_tipo.value.sqlstate == "FM403"
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            produtor.execute("SELECT * FROM core.event_log")
    assert len(rede.eventos()) == 1


def test_relogio_so_se_define_em_simulacao(rede: Rede) -> None:
    rede.relogio("2027-01-02 03:04:05.678+00")
    assert rede.agora() == "2027-01-02T03:04:05.678Z"
    rede.bd.execute("SELECT core.definir_relogio(NULL)")
    rede.bd.execute("UPDATE core.relogio SET simulacao = false")
    with pytest.raises(psycopg.Error, match="banco de simulação") as recusa:
        rede.relogio("2027-01-01")
    assert recusa.value.sqlstate == "FM403"


def test_iso_nao_depende_do_fuso_da_sessao(rede: Rede) -> None:
    rede.bd.execute("SET TimeZone = 'Asia/Kathmandu'")
    assert rede.um("SELECT core.iso('2026-11-30 12:34:56.789+00')") == "2026-11-30T12:34:56.789Z"


LIMITE = 1024 * 1024
# {"extra": "…", ...}: o que o jsonb escreve em volta do campo a mais.
SOBRA = len('"extra": "", ')


def _com_bytes(rede: Rede, bytes_: int, recheio: str = "x") -> dict[str, object]:
    """Um sorteio com um campo a mais, que o Registro deixa passar, e que ocupa `bytes_` como o jsonb o escreve."""
    base = int(rede.um("SELECT octet_length(%s::jsonb::text)", Jsonb(SORTEIO)))
    sobra = bytes_ - base - SOBRA
    return SORTEIO | {"extra": recheio * (sobra // len(recheio.encode())) + "x" * (sobra % len(recheio.encode()))}


@pytest.mark.parametrize("recheio", ["x", "ã"])
def test_payload_de_mais_bytes_que_o_limite_e_recusado_com_o_tamanho_e_o_limite(rede: Rede, recheio: str) -> None:
    rede.publicar("conselheiro.sorteado", _com_bytes(rede, LIMITE, recheio), "D-6a")
    with pytest.raises(psycopg.Error, match=f"com {LIMITE + 1} bytes, e o limite é de {LIMITE}") as recusa:
        rede.publicar("conselheiro.sorteado", _com_bytes(rede, LIMITE + 1, recheio), "D-6a")
    assert recusa.value.sqlstate == "FM422"
    assert len(rede.eventos()) == 1


def test_o_limite_mede_o_que_se_escreve_e_nao_o_que_se_guarda(rede: Rede) -> None:
    """Um número de vinte bytes no jsonb se escreve em 131 mil, e um caractere de controle em seis."""
    for extra in ("[" + ",".join(["1e131071"] * 9) + "]", '"' + r"\u0001" * 180_000 + '"'):
        with pytest.raises(psycopg.Error, match="bytes, e o limite é de") as recusa:
            rede.bd.execute(
                "SELECT core.publicar('conselheiro.sorteado', jsonb_set(%s, '{extra}', %s::jsonb), 'D-6a')",
                [Jsonb(SORTEIO), extra],
            )
        assert recusa.value.sqlstate == "FM422"


def test_no_lote_o_limite_e_de_cada_evento_e_diz_qual_passa(rede: Rede) -> None:
    lote = [{"tipo": "conselheiro.sorteado", "origem": "D-6a", "payload": _com_bytes(rede, n)} for n in (LIMITE, 300)]
    assert len(rede.linhas("SELECT core.publicar_lote(%s)", Jsonb(lote))) == 2
    lote[1]["payload"] = _com_bytes(rede, LIMITE + 7)
    with pytest.raises(psycopg.Error, match=f"Elemento 2 do lote: .* com {LIMITE + 7} bytes") as recusa:
        rede.bd.execute("SELECT core.publicar_lote(%s)", [Jsonb(lote)])
    assert recusa.value.sqlstate == "FM422"
    assert len(rede.eventos()) == 2


@pytest.mark.parametrize(
    ("parametro", "cabe"), [("300000", 300_000), ("1", 262_144), ('"x"', LIMITE), ("null", LIMITE), ("1.5", LIMITE)]
)
def test_o_limite_e_um_parametro_e_o_malformado_vale_o_padrao(rede: Rede, parametro: str, cabe: int) -> None:
    rede.bd.execute("UPDATE core.parametros SET valor = %s WHERE nome = 'limite_payload'", [parametro])
    rede.publicar("conselheiro.sorteado", _com_bytes(rede, cabe), "D-6a")
    with pytest.raises(psycopg.Error, match=f"o limite é de {cabe}"):
        rede.publicar("conselheiro.sorteado", _com_bytes(rede, cabe + 1), "D-6a")


@pytest.mark.parametrize("porta", ["_publicar", "_publicar_lote"])
def test_a_saida_de_uma_colonia_que_passa_do_limite_sai_e_deixa_ocorrencia(rede: Rede, porta: str) -> None:
    """Recusada, deteria sua chave para sempre: o que ela conta já entrou, e ninguém o pode encolher."""
    argumentos = {
        "_publicar": "'conselheiro.sorteado', %s, 'D-6b', '1.0.0', gen_random_uuid(), NULL",
        "_publicar_lote": "ARRAY['conselheiro.sorteado'], ARRAY[%s::jsonb], ARRAY['D-8'], ARRAY['1.0.0'],"
        " ARRAY[gen_random_uuid()], ARRAY[NULL::uuid], false",
    }[porta]
    with rede.bd.transaction():
        rede.bd.execute("SET LOCAL ROLE d8_dono")
        rede.bd.execute(f"SELECT core.{porta}({argumentos})", [Jsonb(_com_bytes(rede, LIMITE + 1))])
    assert len(rede.eventos()) == 1
    (ocorrencia,) = rede.ocorrencias()
    assert (ocorrencia["nivel"], ocorrencia["contexto"]["bytes"]) == ("aviso", LIMITE + 1)
