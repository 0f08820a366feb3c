"""Os identificadores que as colônias derivam não se tomam de fora, e os números do log não se tomam de todo (N68)."""

from collections.abc import Iterator
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tests.apoio.rede import Rede

DEMANDA, ANA = UUID(int=1), UUID(int=11)
SORTEIO: dict[str, object] = {
    "demanda_id": str(DEMANDA),
    "conselheiro_id": str(ANA),
    "unidade_civica_id": str(UUID(int=7)),
}


@pytest.fixture
def produtor(rede: Rede, dsn: str) -> Iterator[Rede]:
    rede.bd.execute("INSERT INTO core.produtores VALUES ('formigueiro_produtor', 'D-6a')")
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_produtor"), autocommit=True) as conexao:
        yield Rede(conexao)


def _derivado(rede: Rede, *semente: str) -> UUID:
    return UUID(str(rede.um("SELECT core.uuid_derivado(VARIADIC %s::text[])", list(semente))))


def test_o_produtor_nao_publica_com_um_id_que_a_colonia_derivara(rede: Rede, produtor: Rede) -> None:
    derivado = _derivado(rede, "demanda.resumo_ciclo_atualizado", "x")
    for quem in (produtor, rede):
        with pytest.raises(psycopg.Error, match="O campo event_id não pode ser um UUID de versão 8") as recusa:
            quem.publicar("conselheiro.sorteado", SORTEIO, "D-6a", event_id=derivado)
        assert recusa.value.sqlstate == "FM422"
    assert rede.eventos() == []


def test_nem_no_meio_de_um_lote_nem_escrito_de_outro_modo(rede: Rede, produtor: Rede) -> None:
    derivado = _derivado(rede, "x")
    evento = {"tipo": "conselheiro.sorteado", "payload": SORTEIO, "origem": "D-6a"}
    for texto in (str(derivado), str(derivado).upper()):
        lote = [evento | {"event_id": str(uuid4())}, evento, evento | {"event_id": texto}]
        with pytest.raises(psycopg.Error, match="Elemento 3 do lote: o campo event_id não pode ser") as recusa:
            produtor.bd.execute("SELECT core.publicar_lote(%s)", [Jsonb(lote)])
        assert recusa.value.sqlstate == "FM422"
    assert rede.eventos() == []


def test_a_correlacao_com_uma_saida_da_colonia_e_a_demanda_derivada_servem(rede: Rede, produtor: Rede) -> None:
    """A correlação não é única, e uma demanda com o id de um projeto não se confunde com ele."""
    derivado = _derivado(rede, "d8.projeto", str(DEMANDA))
    produtor.publicar("conselheiro.sorteado", SORTEIO, "D-6a", correlacao_id=derivado)
    produtor.publicar("conselheiro.sorteado", SORTEIO | {"demanda_id": str(derivado)}, "D-6a")
    rede.despachar()
    assert [a["demanda_id"] for d in (DEMANDA, derivado) for a in rede.acompanhamentos(d)] == [DEMANDA, derivado]


def test_um_id_tomado_antes_de_haver_a_recusa_se_descarta_e_a_fila_anda(rede: Rede) -> None:
    """Num log que vem de uma versão anterior: a saída que não cabe mais vai à DLQ, e só ela se perde."""
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    rede.bd.execute(
        """
        INSERT INTO core.event_log (event_id, tipo, origem, versao_schema, correlacao_id, chave, payload, publicado_em,
                                    impressao)
        SELECT core.uuid_derivado('conselheiro.atualização_publicada', u.id::text), 'conselheiro.sorteado', 'D-6a',
               '1.0.0', gen_random_uuid(), 'x', '{}', now(), 'x'
          FROM d6b.atualizacoes AS u
        """
    )
    _publicar_textos(rede)
    assert rede.um("SELECT sqlstate FROM core.dlq WHERE estado = 'pendente'") == "FM409"
    assert rede.tipos(DEMANDA) == ["conselheiro.demanda_iniciada"]
    rede.bd.execute("SELECT core.dlq_descartar(id, 'id tomado') FROM core.dlq WHERE estado = 'pendente'")
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    _publicar_textos(rede)
    assert rede.tipos(DEMANDA)[1:] == [
        "demanda.resumo_ciclo_atualizado",
        "conselheiro.atualização_publicada",
        "demanda.resumo_ciclo_atualizado",
    ]


def _publicar_textos(rede: Rede) -> None:
    for atualizacao, reserva in rede.bd.execute(
        "SELECT r ->> 'atualizacao_id', r ->> 'reserva' FROM d6b.reservar_publicacoes(10) AS r"
    ).fetchall():
        rede.bd.execute("SELECT d6b.publicar_atualizacao(%s, %s, '{}', 'd', NULL, 'r', '{}')", [atualizacao, reserva])


@pytest.mark.parametrize(
    "comando",
    [
        "SELECT nextval('core.event_log_sequence_number_seq')",
        "SELECT setval('core.event_log_sequence_number_seq', 1)",
        "INSERT INTO core.event_log (sequence_number) OVERRIDING SYSTEM VALUE VALUES (99)",
        "SELECT core._publicar('conselheiro.sorteado', '{}', 'D-6a', '1.0.0', gen_random_uuid(), NULL)",
    ],
)
@pytest.mark.parametrize("papel", ["formigueiro_produtor", "formigueiro_app", "formigueiro_dba", "formigueiro_leitura"])
def test_ninguem_de_fora_toma_um_numero_do_log(dsn: str, papel: str, comando: str) -> None:
    with (
        psycopg.connect(make_conninfo(dsn, user=papel), autocommit=True) as conexao,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        conexao.execute(comando)
