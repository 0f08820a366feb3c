"""A publicação dos textos, com o trabalhador de verdade como formigueiro_app (3.4, 3.7.1; E02, E04, E05)."""

import asyncio
import threading
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from app.pecas.denylist import Denylist
from app.trabalhador import composicao, publicador
from app.trabalhador.trabalhador import esvaziar
from tests.apoio.espera import ate
from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao, vencer_tentativas
from tests.apoio.rede import CONTEUDOS, Rede

DEMANDA, OUTRA, ANA, BIA = UUID(int=1), UUID(int=2), UUID(int=11), UUID(int=12)
PUBLICADA, RESUMO = "conselheiro.atualização_publicada", "demanda.resumo_ciclo_atualizado"
DENYLIST = Denylist.de_texto("idiota")


class Trabalho:
    """O que `trabalhar --uma-vez` faria."""

    def __init__(self, rede: Rede, dsn: str) -> None:
        self.rede = rede
        self.dsn = make_conninfo(dsn, user="formigueiro_app")

    def esvaziar(self) -> None:
        async def rodar() -> None:
            async with await AsyncConnection.connect(self.dsn, autocommit=True) as conexao:
                await esvaziar(conexao, DENYLIST)

        asyncio.run(rodar())

    def payloads(self, tipo: str) -> list[dict[str, Any]]:
        return [evento["payload"] for evento in self.rede.eventos(tipo)]


@pytest.fixture
def trabalho(rede: Rede, dsn: str) -> Trabalho:
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    return Trabalho(rede, dsn)


def test_t02_primeira_atualizacao_e_publicada_com_descricao_e_resumo(trabalho: Trabalho) -> None:
    evento = trabalho.rede.atualizar(DEMANDA, ANA, texto="Liguei para (11) 98765-4321 e marcaram a vistoria.")
    trabalho.esvaziar()
    (publicada,) = trabalho.rede.eventos(PUBLICADA)
    (linha,) = trabalho.rede.linhas("SELECT * FROM d6b.atualizacoes")
    assert publicada["versao_schema"] == "1.0.0"
    assert publicada["correlacao_id"] == evento
    payload = publicada["payload"]
    assert payload["atualizacao_id"] == str(linha["id"])
    assert payload["texto_estruturado"] == "Liguei para (11) 98765-4321 e marcaram a vistoria."
    assert payload["numero_sequencial"] == 1
    assert payload["caminho"] == {"canal": "telefone", "contato_orgao": "Sabesp", "resultado": "vistoria marcada"}
    assert "98765" not in payload["descricao_sanitizada"]
    assert "conteudo_suspeito" not in payload
    (resumo,) = trabalho.payloads(RESUMO)
    assert resumo["versao_metodo"] == "resumo_v1"
    assert resumo["total_atualizacoes"] == 1
    assert resumo["fontes"] == [{"atualizacao_id": str(linha["id"])}]
    assert (resumo["data_inicio"], resumo["data_fim"]) == ("2026-11-30T12:00:00.000Z", None)
    assert "98765" not in resumo["resumo"]
    assert trabalho.rede.acompanhamento(DEMANDA)["texto_resumo_ciclo"] == resumo["resumo"]
    assert trabalho.rede.um("SELECT count(*) FROM d6b.publicacoes_pendentes") == 0


def test_texto_com_termo_da_denylist_sai_na_1_2_0_e_fora_do_resumo(trabalho: Trabalho) -> None:
    trabalho.rede.atualizar(DEMANDA, ANA, texto="O atendente foi um IDIOTA comigo.", conteudo={"canal": "telefone"})
    trabalho.esvaziar()
    (publicada,) = trabalho.rede.eventos(PUBLICADA)
    assert publicada["versao_schema"] == "1.2.0"
    assert publicada["payload"]["conteudo_suspeito"] is True
    assert publicada["payload"]["termos_suspeitos"] == ["idiota"]
    (resumo,) = trabalho.payloads(RESUMO)
    assert "IDIOTA" not in resumo["resumo"]
    assert resumo["fontes"] == []


def test_termo_da_denylist_no_conteudo_tambem_e_suspeito(trabalho: Trabalho) -> None:
    """A descrição e o caminho, que são públicos, saem do conteúdo."""
    conteudo: dict[str, object] = {"orgao_envolvido": "Enel", "descricao_entrave": "o idiota não veio"}
    trabalho.rede.atualizar(DEMANDA, ANA, "entrave_registrado", conteudo, texto="Sem novidade.")
    trabalho.esvaziar()
    (publicada,) = trabalho.rede.eventos(PUBLICADA)
    assert (publicada["versao_schema"], publicada["payload"]["termos_suspeitos"]) == ("1.2.0", ["idiota"])
    assert "idiota" not in trabalho.payloads(RESUMO)[0]["resumo"]


def test_texto_transcrito_limpo_sai_na_1_1_0_com_a_marca_automatica(trabalho: Trabalho) -> None:
    audio = trabalho.rede.atualizar(DEMANDA, ANA, texto="", audio_object_key="cidadaos/11/a.ogg")
    trabalho.rede.publicar(
        "conselheiro.atualização_transcrita",
        {
            "atualizacao_event_id": str(audio),
            "sucesso": True,
            "texto_transcrito": "A equipe esteve na rua.",
            "confianca": 0.9,
            "modelo_transcricao": "whisper-pt",
        },
        "D-1b",
    )
    trabalho.esvaziar()
    (publicada,) = trabalho.rede.eventos(PUBLICADA)
    assert publicada["versao_schema"] == "1.1.0"
    payload = publicada["payload"]
    assert (payload["origem_texto"], payload["modelo_transcricao"], payload["confianca_transcricao"]) == (
        "automatico",
        "whisper-pt",
        0.9,
    )
    assert "audio_object_key" not in str(payload)
    assert "transcricao_status" not in str(payload)


def test_t29_fecho_conta_a_conclusao_e_entra_no_snapshot(trabalho: Trabalho) -> None:
    trabalho.rede.atualizar(DEMANDA, ANA)
    trabalho.rede.atualizar(DEMANDA, ANA, "protocolo_aberto")
    trabalho.rede.concluir(DEMANDA, ANA, "A tampa foi trocada.")
    trabalho.esvaziar()
    assert len(trabalho.payloads(PUBLICADA)) == 2
    resumos = trabalho.payloads(RESUMO)
    fecho = resumos[-1]
    assert fecho["total_atualizacoes"] == 3
    assert fecho["data_fim"] == "2026-11-30T12:00:00.000Z"
    assert "A tampa foi trocada." in fecho["resumo"]
    acompanhamento = trabalho.rede.acompanhamento(DEMANDA)
    assert acompanhamento["saidas_conclusao"][-1]["tipo"] == RESUMO
    assert not acompanhamento["saidas_conclusao_pendentes"]
    assert len({evento["event_id"] for evento in trabalho.rede.eventos(RESUMO)}) == len(resumos) == 3


def test_resumo_de_um_novo_ciclo_nao_se_confunde_com_o_anterior(trabalho: Trabalho) -> None:
    """E05: com demanda + total, o resumo do segundo conselheiro seria engolido."""
    trabalho.rede.atualizar(DEMANDA, ANA)
    trabalho.esvaziar()
    trabalho.rede.sortear(DEMANDA, BIA)
    trabalho.rede.atualizar(DEMANDA, BIA)
    trabalho.esvaziar()
    assert [resumo["total_atualizacoes"] for resumo in trabalho.payloads(RESUMO)] == [1, 1]


def test_com_o_python_fora_o_banco_segue_e_os_textos_saem_em_ordem_depois(trabalho: Trabalho) -> None:
    trabalho.rede.atualizar(DEMANDA, ANA)
    trabalho.rede.atualizar(DEMANDA, ANA, "entrave_registrado")
    trabalho.rede.concluir(DEMANDA, ANA)
    trabalho.rede.despachar()
    assert trabalho.rede.acompanhamento(DEMANDA)["status"] == "concluido"
    assert trabalho.payloads(PUBLICADA) == []
    trabalho.esvaziar()
    assert [payload["numero_sequencial"] for payload in trabalho.payloads(PUBLICADA)] == [1, 2]
    assert [(r["total_atualizacoes"], r["data_fim"] is None) for r in trabalho.payloads(RESUMO)] == [
        (2, False),
        (3, False),
        (3, False),
    ]


def test_t21_publicacao_que_falha_fica_na_dlq_e_o_cursor_nao_passa(trabalho: Trabalho) -> None:
    evento = trabalho.rede.atualizar(DEMANDA, ANA)
    trabalho.rede.despachar()
    recusar_publicacao(trabalho.rede.bd, PUBLICADA)
    trabalho.esvaziar()
    (dlq, atras) = trabalho.rede.linhas("SELECT * FROM core.dlq ORDER BY id")
    assert (dlq["saida"]["tipo"], dlq["estado"], dlq["event_id"]) == (PUBLICADA, "pendente", evento)
    assert (atras["saida"]["tipo"], atras["estado"]) == (RESUMO, "em_espera")
    assert trabalho.rede.ocorrencias(evento)[0]["nivel"] == "erro"
    sequencia = trabalho.rede.um("SELECT sequence_number FROM core.event_log WHERE event_id = %s", evento)
    assert trabalho.rede.cursor("conselheiro.atualização_registrada") == sequencia - 1
    aceitar_publicacao(trabalho.rede.bd)
    vencer_tentativas(trabalho.rede.bd)
    trabalho.esvaziar()
    assert len(trabalho.payloads(PUBLICADA)) == len(trabalho.payloads(RESUMO)) == 1
    assert trabalho.rede.cursor("conselheiro.atualização_registrada") >= sequencia


def test_texto_com_que_uma_peca_falha_volta_a_fila_e_nao_detem_os_outros(
    trabalho: Trabalho, monkeypatch: pytest.MonkeyPatch
) -> None:
    trabalho.rede.sortear(OUTRA, BIA)
    trabalho.rede.atualizar(DEMANDA, ANA, texto="texto que quebra a peça")
    trabalho.rede.atualizar(DEMANDA, ANA, texto="texto seguinte")
    trabalho.rede.atualizar(OUTRA, BIA, texto="outro acompanhamento")
    original = composicao.compor_publicacao

    def quebrar(reservada: Any, denylist: Denylist) -> Any:
        if "quebra" in reservada.texto:
            raise ValueError("peça quebrada")
        return original(reservada, denylist)

    monkeypatch.setattr(publicador, "compor_publicacao", quebrar)
    trabalho.esvaziar()
    assert {payload["demanda_id"] for payload in trabalho.payloads(PUBLICADA)} == {str(OUTRA)}
    espera = trabalho.rede.linhas("SELECT * FROM d6b.publicacoes_em_espera()")[0]
    assert (espera["espera"], espera["com_erro"]) == (2, 1)
    assert espera["ultimo_erro"] == "ValueError: peça quebrada"
    monkeypatch.undo()
    trabalho.rede.bd.execute("UPDATE d6b.publicacoes_pendentes SET proxima_tentativa = clock_timestamp()")
    trabalho.esvaziar()
    da_demanda = [p["numero_sequencial"] for p in trabalho.payloads(PUBLICADA) if p["demanda_id"] == str(DEMANDA)]
    assert da_demanda == [1, 2]


def test_composicao_que_nao_acaba_no_prazo_volta_a_fila_e_nao_detem_os_outros(
    trabalho: Trabalho, monkeypatch: pytest.MonkeyPatch
) -> None:
    trabalho.rede.sortear(OUTRA, BIA)
    trabalho.rede.atualizar(DEMANDA, ANA, texto="texto que não acaba")
    trabalho.rede.atualizar(OUTRA, BIA)
    original, acabou = composicao.compor_publicacao, threading.Event()

    def demorar(reservada: Any, denylist: Denylist) -> Any:
        if "não acaba" in reservada.texto:
            acabou.wait(30)
        return original(reservada, denylist)

    monkeypatch.setattr(publicador, "compor_publicacao", demorar)
    monkeypatch.setattr(publicador, "PRAZO_DA_COMPOSICAO_S", 1.0)
    try:
        asyncio.run(_largar_aos(acabou, trabalho))
    finally:
        acabou.set()
    assert {payload["demanda_id"] for payload in trabalho.payloads(PUBLICADA)} == {str(OUTRA)}
    espera = trabalho.rede.linhas("SELECT espera, com_erro, ultimo_erro FROM d6b.publicacoes_em_espera()")[0]
    assert (espera["espera"], espera["com_erro"]) == (1, 1)
    assert espera["ultimo_erro"].startswith("TimeoutError")


async def _largar_aos(acabou: threading.Event, trabalho: Trabalho) -> None:
    """Esvazia a fila e solta quem ficou compondo, por quem o asyncio esperaria ao sair."""
    async with await AsyncConnection.connect(trabalho.dsn, autocommit=True) as conexao:
        await esvaziar(conexao, DENYLIST)
    acabou.set()


def test_reserva_vencida_nao_publica_duas_vezes(trabalho: Trabalho) -> None:
    trabalho.rede.atualizar(DEMANDA, ANA)
    trabalho.rede.despachar()
    perdida = trabalho.rede.um("SELECT d6b.reservar_publicacoes(1)")
    trabalho.rede.bd.execute("UPDATE d6b.publicacoes_pendentes SET reservada_ate = '-infinity'")
    trabalho.esvaziar()
    publicou = trabalho.rede.um(
        "SELECT d6b.publicar_atualizacao(%s, %s, '{}', 'descrição', NULL, 'resumo', '{}')",
        perdida["atualizacao_id"],
        perdida["reserva"],
    )
    assert publicou is False
    assert len(trabalho.payloads(PUBLICADA)) == 1


def reservar(dsn: str) -> tuple[psycopg.Connection[Any], dict[str, Any]]:
    """Outro trabalhador, que reserva um texto e nada mais."""
    outro = psycopg.connect(dsn, autocommit=True)
    linha = outro.execute("SELECT d6b.reservar_publicacoes(1)").fetchone()
    assert linha is not None
    return outro, linha[0]


def test_a_reserva_de_quem_morreu_acaba_com_a_sessao_dele(trabalho: Trabalho) -> None:
    trabalho.rede.atualizar(DEMANDA, ANA)
    trabalho.rede.despachar()
    morto, _ = reservar(trabalho.dsn)
    pid = morto.info.backend_pid
    assert trabalho.rede.um("SELECT d6b.proxima_publicacao() > clock_timestamp() + interval '30 seconds'")
    morto.close()
    ate(lambda: not trabalho.rede.um("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", pid))
    assert trabalho.rede.um("SELECT d6b.proxima_publicacao() <= clock_timestamp()")
    trabalho.esvaziar()
    assert len(trabalho.payloads(PUBLICADA)) == 1


def test_a_reserva_de_quem_vive_e_demora_nao_e_tomada(trabalho: Trabalho) -> None:
    trabalho.rede.atualizar(DEMANDA, ANA)
    trabalho.rede.despachar()
    lento, tomada = reservar(trabalho.dsn)
    with lento:
        trabalho.esvaziar()
        assert trabalho.payloads(PUBLICADA) == []
        publicou = lento.execute(
            "SELECT d6b.publicar_atualizacao(%s, %s, '{}', 'descrição', NULL, 'resumo', '{}')",
            [tomada["atualizacao_id"], tomada["reserva"]],
        ).fetchone()
    assert publicou == (True,)
    assert len(trabalho.payloads(PUBLICADA)) == 1


def test_a_reserva_feita_numa_sessao_do_pool_vale_ate_o_prazo_e_so_ate_ele(trabalho: Trabalho) -> None:
    """Atrás de um pool a sessão sobrevive ao trabalhador: é como se ele vivesse."""
    trabalho.rede.atualizar(DEMANDA, ANA)
    trabalho.rede.despachar()
    pool, _ = reservar(trabalho.dsn)
    with pool:
        trabalho.esvaziar()
        assert trabalho.payloads(PUBLICADA) == []
        trabalho.rede.bd.execute("UPDATE d6b.publicacoes_pendentes SET reservada_ate = clock_timestamp()")
        trabalho.esvaziar()
    assert len(trabalho.payloads(PUBLICADA)) == 1


def test_de_uma_reserva_tomada_por_outro_so_o_outro_publica(trabalho: Trabalho) -> None:
    """A sessão caiu, outro tomou o texto, e quem o tinha ainda tenta publicá-lo, por outra conexão."""
    trabalho.rede.atualizar(DEMANDA, ANA)
    trabalho.rede.despachar()
    caido, perdida = reservar(trabalho.dsn)
    pid = caido.info.backend_pid
    caido.close()
    ate(lambda: not trabalho.rede.um("SELECT count(*) FROM pg_stat_activity WHERE pid = %s", pid))
    herdeiro, tomada = reservar(trabalho.dsn)
    publicar = "SELECT d6b.publicar_atualizacao(%s, %s, '{}', 'descrição', NULL, 'resumo', '{}')"
    with herdeiro:
        for reserva, esperado in ((perdida["reserva"], False), (tomada["reserva"], True), (perdida["reserva"], False)):
            assert trabalho.rede.um(publicar, tomada["atualizacao_id"], reserva) is esperado
    assert len(trabalho.payloads(PUBLICADA)) == 1


def test_dois_trabalhadores_ao_mesmo_tempo_nao_repetem_nem_invertem(trabalho: Trabalho) -> None:
    for _ in range(12):
        trabalho.rede.atualizar(DEMANDA, ANA)
    trabalho.rede.despachar()

    async def rodar() -> None:
        async def um() -> None:
            async with await AsyncConnection.connect(trabalho.dsn, autocommit=True) as conexao:
                while await publicador.publicar_pendentes(conexao, DENYLIST, 0):
                    pass

        while trabalho.rede.um("SELECT count(*) FROM d6b.publicacoes_pendentes"):
            await asyncio.gather(*(um() for _ in range(4)))

    asyncio.run(rodar())
    assert [payload["numero_sequencial"] for payload in trabalho.payloads(PUBLICADA)] == list(range(1, 13))


def test_t32_sugestao_de_ia_e_preservada_e_o_texto_e_o_editado(trabalho: Trabalho) -> None:
    sugestao = {"titulo_sugerido": "t", "texto_sugerido": "s", "campos_estruturados": {}, "score_confianca": 0.5}
    trabalho.rede.atualizar(
        DEMANDA,
        ANA,
        texto="original",
        texto_estruturado="editado pelo conselheiro",
        origem_estruturacao="ia_assistida",
        sugestao_ia=sugestao,
    )
    trabalho.esvaziar()
    (linha,) = trabalho.rede.linhas("SELECT * FROM d6b.atualizacoes")
    assert (linha["sugestao_ia"], linha["texto_bruto"]) == (sugestao, "original")
    (payload,) = trabalho.payloads(PUBLICADA)
    assert (payload["texto_estruturado"], payload["origem_estruturacao"]) == (
        "editado pelo conselheiro",
        "ia_assistida",
    )


@pytest.mark.parametrize("estranho", ["[" * 2300 + "]" * 2300, "9" * 4900, "1e400"], ids=["fundo", "longo", "imenso"])
def test_o_que_o_python_nao_leria_e_publicado_e_examinado_como_o_resto(trabalho: Trabalho, estranho: str) -> None:
    """O jsonb aceita aninhamentos e números que um leitor de JSON recusa."""
    payload: dict[str, object] = {
        "conselheiro_id": str(ANA),
        "demanda_id": str(DEMANDA),
        "unidade_civica_id": str(UUID(int=7)),
        "tipo": "contato_realizado",
        "texto_bruto": "Liguei.",
        "texto_estruturado": "Liguei.",
        "conteudo_estruturado": CONTEUDOS["contato_realizado"],
        "timestamp": trabalho.rede.agora(),
    }
    trabalho.rede.bd.execute(
        """
        SELECT core.publicar('conselheiro.atualização_registrada',
                             jsonb_set(%s, '{conteudo_estruturado,extra}', %s), 'D-1a', '1.1.0')
        """,
        [Jsonb(payload), f'[{estranho}, ["um idiota"]]'],
    )
    trabalho.esvaziar()
    publicadas = trabalho.rede.um(
        "SELECT jsonb_agg(payload - 'conteudo_estruturado') FROM core.event_log WHERE tipo = %s", PUBLICADA
    )
    assert [publicada["termos_suspeitos"] for publicada in publicadas] == [["idiota"]]


def test_um_texto_que_nao_se_le_volta_a_fila_e_nao_detem_os_outros(trabalho: Trabalho) -> None:
    trabalho.rede.sortear(OUTRA, BIA)
    trabalho.rede.atualizar(DEMANDA, ANA, texto="ilegível")
    trabalho.rede.atualizar(OUTRA, BIA)
    trabalho.rede.despachar()
    trabalho.rede.bd.execute(
        """
        ALTER FUNCTION d6b.reservar_publicacoes(int) RENAME TO reservadas;
        CREATE FUNCTION d6b.reservar_publicacoes(p_limite int) RETURNS SETOF jsonb LANGUAGE sql AS $$
            SELECT r || CASE WHEN r ->> 'texto' = 'ilegível' THEN '{"sequencia": "x"}' ELSE '{}' END::jsonb
              FROM d6b.reservadas(p_limite) AS r
        $$
        """
    )
    trabalho.esvaziar()
    assert [payload["demanda_id"] for payload in trabalho.payloads(PUBLICADA)] == [str(OUTRA)]
    espera = trabalho.rede.linhas("SELECT espera, com_erro, ultimo_erro FROM d6b.publicacoes_em_espera()")[0]
    assert (espera["espera"], espera["com_erro"]) == (1, 1)
    assert espera["ultimo_erro"].startswith("ValidationError: ")


def test_quem_espera_atras_de_um_texto_adiado_nao_impede_o_trabalhador_de_dormir(trabalho: Trabalho) -> None:
    for _ in range(3):
        trabalho.rede.atualizar(DEMANDA, ANA)
    trabalho.rede.despachar()
    assert trabalho.rede.um("SELECT d6b.proxima_publicacao() <= clock_timestamp()")
    adiada = trabalho.rede.um("SELECT d6b.reservar_publicacoes()")
    trabalho.rede.bd.execute(
        "SELECT d6b.adiar_publicacao(%s, %s, 'quebrou')", [adiada["atualizacao_id"], adiada["reserva"]]
    )
    trabalho.rede.bd.execute(
        "UPDATE d6b.publicacoes_pendentes SET proxima_tentativa = clock_timestamp() + interval '1 hour'"
        " WHERE ultimo_erro IS NOT NULL"
    )
    assert trabalho.rede.um("SELECT d6b.proxima_publicacao() > clock_timestamp() + interval '59 minutes'")
