"""A varredura de prazos (3.12, E08, E10)."""

import threading
from datetime import datetime
from uuid import UUID

import psycopg
import pytest

from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao, vencer_tentativas
from tests.apoio.rede import Rede

DEMANDA, ANA, BIA = UUID(int=1), UUID(int=11), UUID(int=12)
PROXIMO = "conselheiro.prazo_próximo"


def com_prazo(rede: Rede, demanda: UUID, conselheiro: UUID, data: str) -> None:
    rede.sortear(demanda, conselheiro)
    rede.atualizar(demanda, conselheiro, "prazo_registrado", {"data_estimada": data, "descricao_prazo": "obra"})
    rede.despachar()


def varrer(rede: Rede, quando: str | None = None) -> dict[str, int]:
    if quando:
        return dict(rede.um("SELECT d6b.verificar_prazos_proximos(%s)", quando))
    return dict(rede.um("SELECT d6b.verificar_prazos_proximos()"))


def test_t07_prazo_a_dois_dias_e_alertado_uma_vez(rede: Rede) -> None:
    com_prazo(rede, DEMANDA, ANA, "2026-12-02")
    assert varrer(rede) == {"alertas_enviados": 1, "prazos_vencidos": 0, "falhas": 0}
    (alerta,) = rede.eventos(PROXIMO)
    prazo = rede.linhas("SELECT * FROM d6b.prazos")[0]
    assert alerta["payload"] == {
        "demanda_id": str(DEMANDA),
        "conselheiro_id": str(ANA),
        "unidade_civica_id": str(UUID(int=7)),
        "prazo_id": str(prazo["id"]),
        "data_estimada": "2026-12-02",
        "dias_restantes": 2,
        "descricao_prazo": "obra",
        "timestamp": "2026-11-30T12:00:00.000Z",
    }
    assert alerta["correlacao_id"] == DEMANDA
    assert prazo["alerta_enviado"]
    assert prazo["data_alerta"] == datetime.fromisoformat("2026-11-30T12:00:00Z")


def test_t23_prazo_alertado_nao_gera_outro_alerta(rede: Rede) -> None:
    com_prazo(rede, DEMANDA, ANA, "2026-12-02")
    varrer(rede)
    assert varrer(rede)["alertas_enviados"] == 0
    assert len(rede.eventos(PROXIMO)) == 1


@pytest.mark.parametrize(("data", "alertas"), [("2026-11-30", 1), ("2026-12-03", 1), ("2026-12-04", 0)])
def test_alerta_ate_tres_dias_antes(rede: Rede, data: str, alertas: int) -> None:
    com_prazo(rede, DEMANDA, ANA, data)
    assert varrer(rede)["alertas_enviados"] == alertas


def test_t31_tres_prazos_um_amanha_dois_na_semana_que_vem(rede: Rede) -> None:
    """Em três acompanhamentos, pois no mesmo ciclo um prazo substitui o outro (E08)."""
    for n, data in enumerate(["2026-12-01", "2026-12-07", "2026-12-08"]):
        com_prazo(rede, UUID(int=100 + n), UUID(int=200 + n), data)
    assert varrer(rede) == {"alertas_enviados": 1, "prazos_vencidos": 0, "falhas": 0}
    assert varrer(rede, "2026-12-04 12:00+00") == {"alertas_enviados": 1, "prazos_vencidos": 1, "falhas": 0}
    assert varrer(rede, "2026-12-05 12:00+00") == {"alertas_enviados": 1, "prazos_vencidos": 0, "falhas": 0}
    situacoes = rede.linhas("SELECT status, alerta_enviado FROM d6b.prazos ORDER BY data_estimada")
    assert [(s["status"], s["alerta_enviado"]) for s in situacoes] == [
        ("vencido", True),
        ("vigente", True),
        ("vigente", True),
    ]


def test_prazo_ja_passado_vence_sem_alerta(rede: Rede) -> None:
    com_prazo(rede, DEMANDA, ANA, "2026-12-02")
    assert varrer(rede, "2026-12-10 00:00+00") == {"alertas_enviados": 0, "prazos_vencidos": 1, "falhas": 0}
    assert rede.eventos(PROXIMO) == []


def test_segundo_prazo_depois_do_primeiro_alertado_tem_seu_alerta(rede: Rede) -> None:
    com_prazo(rede, DEMANDA, ANA, "2026-12-02")
    varrer(rede)
    rede.atualizar(DEMANDA, ANA, "prazo_registrado", {"data_estimada": "2026-12-03"})
    rede.despachar()
    varrer(rede)
    alertas = rede.eventos(PROXIMO)
    assert [a["payload"]["data_estimada"] for a in alertas] == ["2026-12-02", "2026-12-03"]
    assert alertas[1]["payload"]["descricao_prazo"] == ""


@pytest.mark.parametrize(
    ("conclusao", "status"), [("2026-12-02 10:00+00", "cumprido"), ("2026-12-03 10:00+00", "vencido")]
)
def test_conclusao_cumpre_o_prazo_que_nao_passou(rede: Rede, conclusao: str, status: str) -> None:
    com_prazo(rede, DEMANDA, ANA, "2026-12-02")
    rede.relogio(conclusao)
    rede.concluir(DEMANDA, ANA)
    rede.despachar()
    assert rede.um("SELECT status FROM d6b.prazos") == status


def test_prazo_vigente_de_ciclo_encerrado_vence(rede: Rede) -> None:
    com_prazo(rede, DEMANDA, ANA, "2026-12-02")
    rede.concluir(DEMANDA, ANA)
    rede.despachar()
    rede.bd.execute("UPDATE d6b.prazos SET status = 'vigente'")
    assert varrer(rede) == {"alertas_enviados": 0, "prazos_vencidos": 1, "falhas": 0}


def test_um_alerta_que_nao_sai_fica_na_dlq_e_nao_detem_os_outros(rede: Rede) -> None:
    com_prazo(rede, DEMANDA, ANA, "2026-12-02")
    com_prazo(rede, UUID(int=2), BIA, "2026-12-03")
    recusar_publicacao(rede.bd, PROXIMO, DEMANDA)
    assert varrer(rede) == {"alertas_enviados": 1, "prazos_vencidos": 0, "falhas": 1}
    aceitar_publicacao(rede.bd)
    assert varrer(rede)["alertas_enviados"] == 0
    vencer_tentativas(rede.bd)
    rede.despachar()
    assert {a["chave"] for a in rede.eventos(PROXIMO)} == {str(DEMANDA), str(UUID(int=2))}


def test_duas_sessoes_varrendo_tres_dias_dao_um_alerta_por_prazo(rede: Rede, dsn: str) -> None:
    for n in range(20):
        com_prazo(rede, UUID(int=100 + n), UUID(int=200 + n), "2026-12-02")
    horas = [f"2026-{dia} {hora:02}:00+00" for dia in ("11-30", "12-01", "12-02") for hora in (0, 6, 12, 18)]
    falhas: list[BaseException] = []

    def sessao() -> None:
        try:
            with psycopg.connect(dsn, autocommit=True) as conexao:
                for hora in horas:
                    conexao.execute("SELECT d6b.verificar_prazos_proximos(%s)", [hora])
        except BaseException as erro:
            falhas.append(erro)

    sessoes = [threading.Thread(target=sessao) for _ in range(2)]
    for uma in sessoes:
        uma.start()
    for uma in sessoes:
        uma.join()
    assert falhas == []
    assert len(rede.eventos(PROXIMO)) == 20


def test_inativos_sao_relatados_depois_de_sete_dias(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.sortear(UUID(int=2), BIA)
    rede.atualizar(UUID(int=2), BIA)
    rede.despachar()
    assert rede.um("SELECT d6b.verificar_acompanhamentos_inativos('2026-12-07 12:00+00')") == 0
    assert rede.um("SELECT d6b.verificar_acompanhamentos_inativos('2026-12-07 12:01+00')") == 1
    (aviso,) = rede.ocorrencias()
    assert (aviso["nivel"], aviso["demanda_id"]) == ("aviso", DEMANDA)
    assert aviso["mensagem"] == "Acompanhamento sem início após 7 dias do sorteio"


@pytest.mark.parametrize("funcao", ["verificar_prazos_proximos", "verificar_acompanhamentos_inativos"])
@pytest.mark.parametrize("hora", ["infinity", "-infinity", None])
def test_hora_que_nao_e_um_instante_e_recusada(rede: Rede, funcao: str, hora: str | None) -> None:
    com_prazo(rede, DEMANDA, ANA, "2026-12-02")
    with pytest.raises(psycopg.Error, match="campo agora") as recusa:
        rede.bd.execute(f"SELECT d6b.{funcao}(%s::timestamptz)", [hora])
    assert recusa.value.sqlstate == "FM422"
    assert rede.um("SELECT status FROM d6b.prazos") == "vigente"


def test_alerta_nao_leva_dado_pessoal_da_descricao(rede: Rede) -> None:
    rede.sortear(DEMANDA, ANA)
    conteudo: dict[str, object] = {"data_estimada": "2026-12-02", "descricao_prazo": "ligar p/ (19) 99999-1234"}
    rede.atualizar(DEMANDA, ANA, "prazo_registrado", conteudo)
    rede.despachar()
    varrer(rede)
    assert rede.eventos(PROXIMO)[0]["payload"]["descricao_prazo"] == "ligar p/ [telefone removido]"


FUSOS = [
    # Na noite de São Paulo já é 1º de dezembro em UTC; na manhã de Tóquio e de Kiritimati, ainda é 30 de novembro.
    ("America/Sao_Paulo", "2026-12-01 00:30+00", "2026-12-01 03:00+00"),
    ("Etc/GMT+12", "2026-12-01 11:30+00", "2026-12-01 12:00+00"),
    ("Asia/Tokyo", "2026-11-30 20:00+00", "2026-12-01 00:00+00"),
    ("Pacific/Kiritimati", "2026-11-30 10:30+00", "2026-12-01 00:00+00"),
]


def no_fuso(rede: Rede, fuso: str, quando: str) -> None:
    rede.bd.execute("UPDATE core.parametros SET valor = to_jsonb(%s::text) WHERE nome = 'fuso_horario'", [fuso])
    rede.relogio(quando)


@pytest.mark.parametrize(("fuso", "agora", "acabou"), FUSOS)
def test_prazo_para_um_dia_que_ainda_corre_em_algum_lado_e_aceito_alertado_e_so_depois_vence(
    rede: Rede, fuso: str, agora: str, acabou: str
) -> None:
    """E10."""
    no_fuso(rede, fuso, agora)
    com_prazo(rede, DEMANDA, ANA, "2026-11-30")
    assert rede.um("""SELECT d6b.validar_atualizacao('prazo_registrado', '{"data_estimada": "2026-11-30"}')""")[
        "valido"
    ]
    assert varrer(rede) == {"alertas_enviados": 1, "prazos_vencidos": 0, "falhas": 0}
    assert [alerta["payload"]["dias_restantes"] for alerta in rede.eventos(PROXIMO)] == [0]
    rede.relogio(acabou)
    assert varrer(rede) == {"alertas_enviados": 0, "prazos_vencidos": 1, "falhas": 0}
    assert not rede.um("""SELECT d6b.validar_atualizacao('prazo_registrado', '{"data_estimada": "2026-11-30"}')""")[
        "valido"
    ]


@pytest.mark.parametrize(("fuso", "agora", "acabou"), FUSOS)
@pytest.mark.parametrize("tarde", [False, True])
def test_concluir_cumpre_o_prazo_enquanto_seu_dia_corre(
    rede: Rede, fuso: str, agora: str, acabou: str, tarde: bool
) -> None:
    no_fuso(rede, fuso, agora)
    com_prazo(rede, DEMANDA, ANA, "2026-11-30")
    if tarde:
        rede.relogio(acabou)
    rede.concluir(DEMANDA, ANA)
    rede.despachar()
    assert rede.um("SELECT status FROM d6b.prazos") == ("vencido" if tarde else "cumprido")


def test_dias_restantes_contam_dias_utc(rede: Rede) -> None:
    no_fuso(rede, "America/Sao_Paulo", "2026-12-01 00:30+00")
    com_prazo(rede, DEMANDA, ANA, "2026-12-03")
    varrer(rede)
    assert rede.eventos(PROXIMO)[0]["payload"]["dias_restantes"] == 2


@pytest.mark.parametrize(
    ("publicado", "status"),
    [("concluir", "cumprido"), ("sortear", "substituido"), ("atualizar", "substituido")],
)
def test_a_varredura_que_roda_antes_da_leitura_nao_muda_o_destino_do_prazo(
    rede: Rede, publicado: str, status: str
) -> None:
    """N51: o evento é de antes do fim do prazo, e só foi lido depois."""
    com_prazo(rede, DEMANDA, ANA, "2026-12-02")
    rede.relogio("2026-12-02 10:00+00")
    if publicado == "concluir":
        rede.concluir(DEMANDA, ANA)
    elif publicado == "sortear":
        rede.sortear(DEMANDA, BIA)
    else:
        rede.atualizar(DEMANDA, ANA, "prazo_registrado", {"data_estimada": "2026-12-20"})
    rede.relogio("2026-12-04 12:00+00")
    assert varrer(rede)["prazos_vencidos"] == 1
    rede.despachar()
    assert rede.um("SELECT status FROM d6b.prazos WHERE data_estimada = '2026-12-02'") == status


def test_o_prazo_que_ja_tinha_passado_na_hora_do_evento_fica_vencido(rede: Rede) -> None:
    com_prazo(rede, DEMANDA, ANA, "2026-12-02")
    rede.relogio("2026-12-04 12:00+00")
    varrer(rede)
    rede.sortear(DEMANDA, BIA)
    rede.despachar()
    assert rede.um("SELECT status FROM d6b.prazos") == "vencido"
