"""Um evento que falha é isolado, a ordem de sua chave é mantida e o resto flui (regra 4)."""

from uuid import UUID

import psycopg
import pytest

from tests.apoio.falhas import vencer_tentativas
from tests.apoio.rede import Rede

DEMANDA, OUTRA, ANA, BIA = UUID(int=1), UUID(int=2), UUID(int=11), UUID(int=12)
SORTEADO = "conselheiro.sorteado"


def envenenar(rede: Rede, demanda: UUID) -> None:
    """O handler do sorteio passa a falhar para essa demanda."""
    rede.bd.execute(
        """
        CREATE FUNCTION d6b.veneno() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'veneno' USING ERRCODE = 'P0099';
        END $$
        """
    )
    rede.bd.execute(
        f"CREATE TRIGGER veneno BEFORE INSERT ON d6b.acompanhamentos FOR EACH ROW"
        f" WHEN (NEW.demanda_id = '{demanda}') EXECUTE FUNCTION d6b.veneno()"
    )


def curar(rede: Rede) -> None:
    rede.bd.execute("DROP TRIGGER veneno ON d6b.acompanhamentos")


def abertas(rede: Rede) -> list[tuple[str, str]]:
    return [
        (linha["tipo"], linha["estado"])
        for linha in rede.linhas("SELECT * FROM core.dlq WHERE estado IN ('pendente', 'em_espera') ORDER BY id")
    ]


@pytest.fixture
def envenenada(rede: Rede) -> Rede:
    """DEMANDA falha no sorteio; uma atualização dela vem atrás; OUTRA está no meio."""
    envenenar(rede, DEMANDA)
    rede.sortear(DEMANDA, ANA)
    rede.sortear(OUTRA, BIA)
    rede.atualizar(DEMANDA, ANA)
    rede.despachar()
    return rede


def test_o_que_falha_vai_para_a_dlq_e_o_resto_flui(envenenada: Rede) -> None:
    assert envenenada.acompanhamento(OUTRA)["status"] == "aguardando_inicio"
    primeira = envenenada.linhas("SELECT * FROM core.dlq ORDER BY id")[0]
    assert (primeira["sqlstate"], primeira["ultimo_erro"], primeira["estado"]) == ("P0099", "veneno", "pendente")
    assert abertas(envenenada) == [(SORTEADO, "pendente"), ("conselheiro.atualização_registrada", "em_espera")]


def test_a_marca_dagua_fica_abaixo_do_que_esta_em_aberto(envenenada: Rede) -> None:
    assert envenenada.cursor(SORTEADO) == 0
    assert envenenada.cursor("conselheiro.atualização_registrada") == 2
    assert envenenada.cursor("demanda.recebida") == 3


def test_a_chave_segue_em_ordem_quando_a_causa_se_resolve(envenenada: Rede) -> None:
    curar(envenenada)
    vencer_tentativas(envenenada.bd)
    envenenada.despachar()
    assert abertas(envenenada) == []
    assert envenenada.acompanhamento(DEMANDA)["total_atualizacoes"] == 1
    assert envenenada.cursor(SORTEADO) >= 3


def test_tentativas_recuam_em_dobro(envenenada: Rede) -> None:
    recuos = []
    for _ in range(4):
        vencer_tentativas(envenenada.bd)
        envenenada.despachar()
        linha = envenenada.linhas(
            "SELECT tentativas, extract(epoch FROM proxima_tentativa - atualizado_em) AS recuo"
            "  FROM core.dlq ORDER BY id"
        )[0]
        recuos.append((linha["tentativas"], round(float(linha["recuo"]))))
    assert recuos == [(1, 1), (2, 2), (3, 4), (4, 8)]
    assert envenenada.um("SELECT core._recuo_da_tentativa(60)").total_seconds() == 3600


def test_descartar_exige_motivo_e_solta_a_chave(envenenada: Rede) -> None:
    entrada = envenenada.um("SELECT min(id) FROM core.dlq")
    with pytest.raises(psycopg.Error, match="motivo") as sem_motivo:
        envenenada.bd.execute("SELECT core.dlq_descartar(%s, ' ')", [entrada])
    assert sem_motivo.value.sqlstate == "FM422"
    envenenada.bd.execute("SELECT core.dlq_descartar(%s, 'demanda de teste')", [entrada])
    envenenada.despachar()
    assert abertas(envenenada) == []
    # Sem o sorteio, a atualização é tratada e descartada por falta de acompanhamento.
    assert envenenada.ocorrencias()[-1]["mensagem"].startswith("Sem acompanhamento ativo")
    with pytest.raises(psycopg.Error, match="já está descartada") as repetido:
        envenenada.bd.execute("SELECT core.dlq_descartar(%s, 'de novo')", [entrada])
    assert repetido.value.sqlstate == "FM409"


def test_reprocessar_diz_se_falhou_e_recusa_o_que_espera(envenenada: Rede) -> None:
    primeira, segunda = (linha["id"] for linha in envenenada.linhas("SELECT id FROM core.dlq ORDER BY id"))
    assert envenenada.um("SELECT core.dlq_reprocessar(%s)", primeira) == "falhou: veneno"
    with pytest.raises(psycopg.Error, match="em_espera") as espera:
        envenenada.bd.execute("SELECT core.dlq_reprocessar(%s)", [segunda])
    assert espera.value.sqlstate == "FM409"
    with pytest.raises(psycopg.Error, match="não existe") as inexistente:
        envenenada.bd.execute("SELECT core.dlq_reprocessar(999)")
    assert inexistente.value.sqlstate == "FM404"
    curar(envenenada)
    assert envenenada.um("SELECT core.dlq_reprocessar(%s)", primeira) == "processado"
    assert abertas(envenenada) == [("conselheiro.atualização_registrada", "pendente")]


def test_recuar_um_cursor_nao_duplica_o_que_esta_na_dlq(envenenada: Rede) -> None:
    envenenada.bd.execute("SELECT core.reposicionar('D-6b', %s, 0)", [SORTEADO])
    envenenada.bd.execute("SELECT core.reposicionar('D-6b', 'conselheiro.atualização_registrada', 0)")
    envenenada.despachar()
    assert len(abertas(envenenada)) == 2


@pytest.mark.parametrize(
    ("argumentos", "sqlstate"),
    [
        (("D-99", SORTEADO, 0), "FM404"),
        (("D-6b", "x.y", 0), "FM404"),
        (("D-6b", SORTEADO, -1), "FM422"),
        (("D-6b", SORTEADO, 10**18), "FM422"),
    ],
)
def test_reposicionar_recusa_o_que_nao_existe(rede: Rede, argumentos: tuple[object, ...], sqlstate: str) -> None:
    with pytest.raises(psycopg.Error) as recusa:
        rede.bd.execute("SELECT core.reposicionar(%s, %s, %s)", argumentos)
    assert recusa.value.sqlstate == sqlstate


def test_recuo_le_de_novo_so_o_tipo_recuado_e_em_ordem(rede: Rede) -> None:
    """Um replay tipo a tipo perderia a atualização que veio entre dois sorteios (regra 2)."""
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA)
    rede.sortear(DEMANDA, BIA)
    for tipo in (SORTEADO, "conselheiro.atualização_registrada"):
        rede.bd.execute("SELECT core.reposicionar('D-6b', %s, 0)", [tipo])
    rede.despachar()
    totais = {a["conselheiro_id"]: a["total_atualizacoes"] for a in rede.acompanhamentos(DEMANDA)}
    assert totais == {ANA: 1, BIA: 0}
    rede.bd.execute("SELECT core.reposicionar('D-6b', %s, 0)", [SORTEADO])
    assert [rede.um("SELECT d6b.processar_pendentes()") for _ in range(2)] == [2, 0]
    assert rede.cursor(SORTEADO) >= 3
    assert rede.um("SELECT posicao FROM core.consumidores WHERE colonia = 'D-6b'") >= 3
