"""A retenção: o que é pessoal sai dos eventos antigos e de suas cópias, e nada mais muda."""

from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tests.apoio.falhas import aceitar_publicacao, recusar_publicacao, vencer_tentativas
from tests.apoio.rede import Rede
from tests.apoio.textos import publicar_textos

DEMANDA, AUDIO, FALHA, ANA, BIA = UUID(int=1), UUID(int=2), UUID(int=3), UUID(int=11), UUID(int=12)
MARCA = "zxq-pessoal"  # em todo texto plantado: não pode sobrar em tabela nenhuma
REGISTRADA, PUBLICADA = "conselheiro.atualização_registrada", "conselheiro.atualização_publicada"
DEPOIS = "2026-06-01 00:00:00+00"
CPFS = ("529.982.247-25", "111.444.777-35")
PASSOS = ["core._redigir_eventos", "core._redigir_da_dlq", "core._redigir_saidas", "d6b.redigir_ciclos"]
TABELAS = """
    SELECT c.oid::regclass::text
      FROM pg_class AS c
     WHERE c.relnamespace::regnamespace::text IN ('core', 'd6b', 'd8')
       AND c.relkind = 'r'
       AND c.oid <> ALL ('{core.relogio,core.agendamentos}'::regclass[])
     ORDER BY 1
"""


def redigir(rede: Rede, antes_de: str = DEPOIS, lote: int = 500) -> None:
    rede.bd.execute("SELECT core.definir_relogio(greatest(core.agora(), %s))", [antes_de])
    rede.bd.execute("CALL core.redigir(%s, %s)", [antes_de, lote])


def vestigios(rede: Rede) -> list[str]:
    """As tabelas em que ainda há um texto plantado."""
    tabelas = [linha["oid"] for linha in rede.linhas(TABELAS)]
    return [tabela for tabela in tabelas if rede.um(f"SELECT bool_or(t::text ~ '{MARCA}') FROM {tabela} AS t")]


def retrato(rede: Rede) -> dict[str, Any]:
    """Cada tabela inteira."""
    tabelas = [linha["oid"] for linha in rede.linhas(TABELAS)]
    return {t: rede.um(f"SELECT string_agg(t::text, '|' ORDER BY t::text) FROM {t} AS t") for t in tabelas}


def relatar(rede: Rede, demanda: UUID, conselheiro: UUID, **mais: Any) -> UUID:
    return rede.atualizar(
        demanda, conselheiro,
        conteudo={"canal": "telefone", "contato_nome": f"Zé {MARCA}", "contato_orgao": "Sanasa"},
        texto=f"Liguei para o Zé {MARCA}.", sugestao_ia={"texto": MARCA}, **mais,
    )  # fmt: skip


def viver(rede: Rede, sem_textos: bool = False) -> None:
    """Um ciclo digitado, com prazo e conclusão; um em áudio, reatribuído; uma demanda de cidadão. Março de 2026."""
    rede.relogio("2026-03-01 12:00:00+00")
    recebida: dict[str, object] = {"demanda_id": str(DEMANDA), "texto_bruto": MARCA, "origem": "cidadao"}
    rede.publicar("demanda.recebida", recebida, "D-1a", "2.0.0")
    rede.sortear(DEMANDA, ANA)
    relatar(rede, DEMANDA, ANA)
    prazo: dict[str, object] = {"data_estimada": "2026-03-04", "descricao_prazo": f"obra do {MARCA}"}
    rede.atualizar(DEMANDA, ANA, "prazo_registrado", prazo, texto=MARCA)
    rede.sortear(AUDIO, BIA)
    relato = rede.atualizar(AUDIO, BIA, texto="", audio_object_key=f"audios/{MARCA}.ogg")
    mudo = rede.atualizar(AUDIO, BIA, texto="", audio_object_key=f"audios/{MARCA}-2.ogg")
    rede.despachar()
    rede.bd.execute("SELECT d6b.verificar_prazos_proximos()")
    for evento, resto in (
        (relato, {"sucesso": True, "texto_transcrito": MARCA}),
        (mudo, {"sucesso": False, "motivo_falha": MARCA}),
    ):
        rede.publicar("conselheiro.atualização_transcrita", {"atualizacao_event_id": str(evento), **resto}, "D-1b")
    rede.concluir(DEMANDA, ANA, f"Resolvido com o {MARCA}.")
    rede.sortear(AUDIO, ANA)
    rede.despachar()
    if not sem_textos:
        publicar_textos(rede.bd, f"Contato com {MARCA}.", (MARCA,))
        rede.despachar()


def test_nada_de_pessoal_sobra_do_que_se_encerrou(rede: Rede) -> None:
    viver(rede)
    assert {"core.event_log", "d6b.acompanhamentos", "d6b.atualizacoes", "d6b.prazos", "d6b.publicacoes"} <= set(
        vestigios(rede)
    )
    redigir(rede)
    assert vestigios(rede) == []
    assert rede.um("SELECT resumo FROM d6b.demandas_publicas WHERE demanda_id = %s", DEMANDA) is None
    (publicada, *_) = rede.eventos(PUBLICADA, DEMANDA)
    assert publicada["payload"]["conteudo_suspeito"] is True
    assert publicada["payload"]["caminho"] == {"orgao": "Sanasa"}
    assert {"texto_estruturado", "descricao_sanitizada", "termos_suspeitos"}.isdisjoint(publicada["payload"])
    ciclo = rede.acompanhamento(DEMANDA)
    assert (ciclo["status"], ciclo["total_atualizacoes"]) == ("concluido", 3)
    assert not ciclo["saidas_conclusao_pendentes"]
    assert [saida["publicada"] for saida in ciclo["saidas_conclusao"]] == [True, True, True]


def test_so_os_campos_do_registro_saem_e_fica_dito_quais(rede: Rede) -> None:
    viver(rede)
    antes = {evento["sequence_number"]: evento for evento in rede.eventos()}
    redigir(rede)
    campos = {
        linha["sequence_number"]: linha for linha in rede.linhas("SELECT * FROM core.redacoes ORDER BY sequence_number")
    }
    for evento in rede.eventos():
        velho = antes[evento["sequence_number"]]
        saiu = set(velho["payload"]) - set(evento["payload"])
        pessoais = set(
            rede.um(
                "SELECT campos_pessoais FROM core.esquemas WHERE tipo = %s AND versao = %s",
                evento["tipo"], evento["versao_schema"],
            )
        )  # fmt: skip
        assert saiu == pessoais & set(velho["payload"])
        assert evento == velho | {"payload": {c: v for c, v in velho["payload"].items() if c not in saiu}}
        assert saiu == set(campos[evento["sequence_number"]]["campos"] if saiu else ())
    assert {linha["por"] for linha in campos.values()} == {"postgres"}
    assert [o["mensagem"] for o in rede.ocorrencias()][-1] == "Dados pessoais antigos redigidos."
    assert any(
        item["o_que"].startswith(f"redação de {REGISTRADA}: conteudo_estruturado")
        for item in rede.linhas("SELECT * FROM core.linha_do_tempo(%s)", DEMANDA)
    )


def test_de_novo_nao_muda_nada_e_em_lotes_da_no_mesmo(rede: Rede) -> None:
    viver(rede)
    redigir(rede, lote=1)
    assert vestigios(rede) == []
    antes = retrato(rede)
    redigir(rede)
    assert retrato(rede) == antes


def test_o_que_e_mais_novo_que_a_data_fica(rede: Rede) -> None:
    viver(rede)
    rede.relogio("2026-05-01 12:00:00+00")
    novo = relatar(rede, AUDIO, ANA)
    rede.despachar()
    redigir(rede, "2026-05-01 12:00:00+00")
    sobra = rede.linhas("SELECT event_id FROM core.event_log AS e WHERE e::text LIKE %s", f"%{MARCA}%")
    assert [linha["event_id"] for linha in sobra] == [novo]
    assert vestigios(rede) == ["core.event_log", "d6b.atualizacoes"]


def test_o_que_nao_acabou_nao_se_perde_e_sai_inteiro(rede: Rede) -> None:
    """Texto na fila, ciclo ativo, evento por ler: os textos da D-6b ficam até saírem por onde devem."""
    viver(rede, sem_textos=True)
    relatar(rede, AUDIO, ANA)  # ainda por ler
    redigir(rede)
    assert rede.um("SELECT count(*) FROM d6b.acompanhamentos WHERE redigido_em IS NOT NULL") == 0
    assert MARCA in rede.eventos(REGISTRADA)[-1]["payload"]["texto_bruto"]
    rede.despachar()
    assert publicar_textos(rede.bd) == 5
    textos = [evento["payload"]["texto_estruturado"] for evento in rede.eventos(PUBLICADA)]
    assert len(textos) == 4
    assert all(MARCA in texto for texto in textos)


def test_o_que_espera_na_dlq_espera_com_o_texto_e_depois_se_redige(rede: Rede) -> None:
    rede.relogio("2026-03-01 12:00:00+00")
    rede.bd.execute(
        """
        CREATE FUNCTION d6b.veneno() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'veneno'; END $$;
        CREATE TRIGGER veneno BEFORE INSERT ON d6b.acompanhamentos FOR EACH ROW EXECUTE FUNCTION d6b.veneno()
        """
    )
    rede.sortear(FALHA, ANA)
    evento = relatar(rede, FALHA, ANA)
    rede.despachar()
    redigir(rede)
    assert vestigios(rede) == ["core.event_log"]
    rede.bd.execute("DROP TRIGGER veneno ON d6b.acompanhamentos")
    vencer_tentativas(rede.bd)
    rede.despachar()
    texto = rede.um("SELECT texto_bruto FROM d6b.atualizacoes WHERE event_id_publicacao = %s", evento)
    assert texto == f"Liguei para o Zé {MARCA}."
    redigir(rede)
    assert vestigios(rede) == ["d6b.atualizacoes"]


def test_uma_saida_da_dlq_se_redige_depois_de_resolvida(rede: Rede) -> None:
    rede.relogio("2026-03-01 12:00:00+00")
    recusar_publicacao(rede.bd, "demanda.concluída")
    rede.sortear(DEMANDA, ANA)
    rede.concluir(DEMANDA, ANA, MARCA)
    rede.despachar()
    # A DLQ é datada pelo relógio do servidor: só um futuro distante a alcança.
    redigir(rede, "2999-01-01 00:00:00+00")
    assert rede.um("SELECT count(*) FROM core.dlq WHERE saida::text LIKE %s", f"%{MARCA}%") == 2
    aceitar_publicacao(rede.bd)
    vencer_tentativas(rede.bd)
    rede.despachar()
    assert rede.eventos("demanda.concluída")[0]["payload"]["resumo_final"] == MARCA
    rede.bd.execute("SELECT d6b.republicar_saidas_conclusao_pendentes()")
    publicar_textos(rede.bd)
    redigir(rede, "3000-01-01 00:00:00+00")
    assert vestigios(rede) == []


def test_o_que_a_d8_guarda_fica_so_mascarado_no_log_e_em_cada_copia(rede: Rede) -> None:
    """Uma conclusão com plano, que passou pela DLQ, e a execução de uma manutenção dela, com CPF em cada texto."""
    rede.relogio("2026-01-01 12:00:00+00")
    cpf, outro = CPFS
    recusar_publicacao(rede.bd, "demanda.concluída")
    rede.sortear(DEMANDA, ANA)
    rede.concluir(
        DEMANDA, ANA, f"Morador CPF {cpf} confirmou.", categoria=f"c {cpf}", subcategoria=cpf, titulo=f"Obra de {cpf}",
        localizacao={"lat": -23.5, "lng": -46.6, "endereco": f"Casa de {cpf}", "nota": cpf},
        responsavel_tecnico=cpf, materiais_utilizados=["areia", cpf],
        plano_manutencao={"intervalo_dias": 30, "tipo": cpf, "prazo_tolerancia_dias": 5, "vida_util_dias": 3000,
                          "notas": [{"de": cpf}]},
    )  # fmt: skip
    rede.despachar()
    aceitar_publicacao(rede.bd)
    vencer_tentativas(rede.bd)
    rede.despachar()
    rede.relogio("2026-02-10 12:00:00+00")
    rede.bd.execute("CALL d8.executar_varredura()")
    manutencao = UUID(rede.eventos("demanda.manutenção_gerada")[0]["payload"]["demanda_id"])
    rede.sortear(manutencao, ANA)
    observacoes, proximo = f"Moradora Ana, CPF {outro}, reclamou", {"intervalo_dias": 60, "tipo": outro}
    rede.concluir(manutencao, ANA, "feito", observacoes=observacoes, plano_proximo_ciclo=proximo)
    rede.despachar()
    rede.bd.execute("SELECT d6b.republicar_saidas_conclusao_pendentes()")
    publicar_textos(rede.bd)
    rede.despachar()
    d8 = """
        SELECT (SELECT json_agg(p)::text FROM d8.projetos_monitorados AS p)
               || (SELECT json_agg(h)::text FROM d8.historico_manutencoes AS h)
    """
    antes = rede.um(d8)
    assert rede.um("SELECT count(*) FROM core.dlq WHERE saida::text ~ %s", cpf) > 0

    redigir(rede, "2999-01-01 00:00:00+00")
    for tabela in (linha["oid"] for linha in rede.linhas(TABELAS)):
        assert not rede.um(f"SELECT bool_or(t::text ~ '{'|'.join(CPFS)}') FROM {tabela} AS t"), tabela
    (concluida, simples), (executada,) = rede.eventos("demanda.concluída"), rede.eventos("manutenção.executada")
    assert concluida["payload"]["resumo_final"] == "Morador CPF [CPF removido] confirmou."
    assert executada["payload"]["observacoes"] == "Moradora Ana, CPF [CPF removido], reclamou"
    assert "resumo_final" not in simples["payload"]  # sem plano: a D-8 nada guarda dela
    ciclo = rede.acompanhamento(DEMANDA)
    assert ciclo["saidas_conclusao"][0]["payload"] == concluida["payload"]
    mascarados = {linha["sequence_number"]: linha["mascarados"] for linha in rede.linhas("SELECT * FROM core.redacoes")}
    assert mascarados[executada["sequence_number"]] == ["observacoes", "plano_manutencao"]
    assert mascarados[concluida["sequence_number"]] == sorted(
        ["categoria", "localizacao", "materiais_utilizados", "plano_manutencao", "responsavel_tecnico", "resumo_final",
         "subcategoria", "titulo"]
    )  # fmt: skip
    assert any(
        item["o_que"] == "redação de manutenção.executada: mascarados observacoes, plano_manutencao"
        for item in rede.linhas("SELECT * FROM core.linha_do_tempo(%s)", manutencao)
    )
    assert rede.um(d8) == antes
    rede.bd.execute("SELECT d8.reconstruir()")
    assert rede.um(d8) == antes
    assert any(o["mensagem"] == "Saídas encerradas da DLQ redigidas." for o in rede.ocorrencias())


@pytest.mark.parametrize(
    ("registro", "payload"),
    [
        ((), {"observacoes": "CPF [CPF removido]"}),
        (("conselheiro_id",), {"observacoes": "CPF [CPF removido]"}),
        (("observacoes",), {"observacoes": "outra coisa"}),
        (("observacoes",), {"observacoes": "CPF [CPF removido]", "status_execucao": "parcial"}),
        (("observacoes",), {"observacoes": None}),
    ],
)
def test_a_guarda_so_deixa_passar_a_mascara_e_so_a_registrada(
    rede: Rede, registro: tuple[str, ...], payload: dict[str, object]
) -> None:
    executada: dict[str, object] = {
        "demanda_id": str(DEMANDA), "projeto_original_id": str(AUDIO), "conselheiro_id": str(ANA),
        "data_conclusao": "2026-03-01T00:00:00Z", "status_execucao": "concluida", "observacoes": f"CPF {CPFS[0]}",
    }  # fmt: skip
    rede.publicar("manutenção.executada", executada, "D-6b")
    mudar = "UPDATE core.event_log SET payload = payload || %s"
    if registro:
        rede.bd.execute(
            "INSERT INTO core.redacoes (sequence_number, campos, mascarados, antes_de) VALUES (1, '{}', %s, now())",
            [list(registro)],
        )
    with pytest.raises(psycopg.Error, match="só de acréscimo"):
        rede.bd.execute(mudar, [Jsonb(payload)])
    if registro == ("observacoes",):
        rede.bd.execute(mudar, [Jsonb({"observacoes": "CPF [CPF removido]"})])


def test_republicar_o_evento_redigido_devolve_o_primeiro_numero(rede: Rede) -> None:
    rede.relogio("2026-03-01 12:00:00+00")
    rede.sortear(DEMANDA, ANA)
    evento = relatar(rede, DEMANDA, ANA)
    rede.despachar()
    (original,) = rede.eventos(REGISTRADA)
    redigir(rede)
    (redigido,) = rede.eventos(REGISTRADA)
    assert "texto_bruto" not in redigido["payload"]
    publicar = "SELECT core.publicar(%s, %s, 'D-1a', '1.1.0', %s)"
    numero = rede.um(publicar, REGISTRADA, Jsonb(original["payload"]), evento)
    assert numero == original["sequence_number"]
    lote = Jsonb([{"tipo": REGISTRADA, "payload": original["payload"], "origem": "D-1a", "versao_schema": "1.1.0",
                   "event_id": str(evento)}])  # fmt: skip
    assert rede.um("SELECT core.publicar_lote(%s)", lote) == numero
    with pytest.raises(psycopg.Error) as outro:
        rede.bd.execute(publicar, [REGISTRADA, Jsonb(original["payload"] | {"texto_bruto": "outro"}), evento])
    assert outro.value.sqlstate == "FM409"
    assert "texto_bruto" not in rede.eventos(REGISTRADA)[0]["payload"]


def test_reler_e_reprocessar_o_que_foi_redigido_nao_muda_o_estado(rede: Rede) -> None:
    viver(rede)
    relatar(rede, DEMANDA, BIA)  # ninguém o acompanha mais: descartado
    rede.despachar()
    redigir(rede)
    antes = retrato(rede)
    for tipo in rede.um("SELECT d6b.tipos_consumidos()"):
        rede.bd.execute("SELECT core.reposicionar('D-6b', %s, 0)", [tipo])
    rede.despachar()
    depois = retrato(rede)
    mutaveis = {"core.consumidores", "d6b.consumer_offset"}
    assert {t: v for t, v in depois.items() if t not in mutaveis} == {
        t: v for t, v in antes.items() if t not in mutaveis
    }
    descartado = rede.eventos(REGISTRADA)[-1]["event_id"]
    assert rede.um("SELECT core.reprocessar(%s, 'D-6b')", descartado) == "descartado: Payload incompleto"


@pytest.mark.parametrize(
    "comando",
    [
        "UPDATE core.event_log SET payload = payload - 'texto_bruto'",
        "UPDATE core.event_log SET payload = payload || '{\"texto_bruto\": \"\"}'",
        "UPDATE core.event_log SET payload = payload - 'demanda_id'",
        "UPDATE core.event_log SET payload = payload - '{texto_bruto,texto_estruturado,demanda_id}'::text[]",
        "UPDATE core.event_log SET payload = payload - 'texto_bruto', origem = 'D-1b'",
        "UPDATE core.redacoes SET campos = '{texto_bruto,demanda_id}'",
        "DELETE FROM core.redacoes",
    ],
)
def test_a_unica_passagem_pela_guarda_e_a_registrada(rede: Rede, comando: str) -> None:
    """Nem o superusuário; e uma linha em core.redacoes que nomeie o que não é pessoal não basta."""
    rede.sortear(DEMANDA, ANA)
    relatar(rede, DEMANDA, ANA)
    registrar = "INSERT INTO core.redacoes (sequence_number, campos, antes_de) VALUES (2, %s, now())"
    rede.bd.execute(registrar, [["demanda_id", "texto_estruturado"]])
    antes = rede.eventos()
    with pytest.raises(psycopg.Error, match="só de acréscimo") as recusa:
        rede.bd.execute(comando)
    assert recusa.value.sqlstate == "FM409"
    assert rede.eventos() == antes


def test_um_texto_da_d6b_so_muda_por_ela(rede: Rede) -> None:
    viver(rede)
    for comando in ("SET texto_bruto = ''", "SET texto_estruturado = 'outro'"):
        with pytest.raises(psycopg.Error, match="só de acréscimo"):
            rede.bd.execute(f"UPDATE d6b.atualizacoes {comando}")


def test_um_campo_que_passa_a_ser_pessoal_sai_tambem_do_que_ja_foi_visto(rede: Rede) -> None:
    rede.relogio("2026-03-01 12:00:00+00")
    rede.sortear(DEMANDA, ANA)
    rede.despachar()
    redigir(rede)
    assert rede.um("SELECT count(*) FROM core.redacoes") == 0
    rede.bd.execute("UPDATE core.esquemas SET campos_pessoais = '{seed_publico}' WHERE tipo = 'conselheiro.sorteado'")
    redigir(rede)
    assert "seed_publico" not in rede.eventos()[0]["payload"]


def test_a_agenda_nao_redige_nada_sem_o_parametro(rede: Rede, dsn: str) -> None:
    viver(rede)
    rede.relogio("2026-06-01 12:00:00+00")
    antes = retrato(rede)
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_app"), autocommit=True) as app:
        app.execute("CALL core.reter()")
        assert retrato(rede) == antes
        with pytest.raises(psycopg.Error, match="dias_guarda") as recusa:
            app.execute("CALL core.redigir(%s)", [DEPOIS])
        assert recusa.value.sqlstate == "FM403"
        rede.bd.execute("UPDATE core.parametros SET valor = '60' WHERE nome = 'dias_guarda_dados_pessoais'")
        app.execute("CALL core.reter()")
    assert vestigios(rede) == []
    assert rede.um("SELECT DISTINCT por FROM core.redacoes") == "formigueiro_app"


def test_o_dba_redige_e_o_produtor_nao(rede: Rede, dsn: str) -> None:
    viver(rede)
    rede.relogio(DEPOIS)
    with (
        psycopg.connect(make_conninfo(dsn, user="formigueiro_produtor"), autocommit=True) as produtor,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        produtor.execute("CALL core.redigir(%s)", [DEPOIS])
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_dba"), autocommit=True) as dba:
        dba.execute("CALL core.redigir(%s)", [DEPOIS])
    assert vestigios(rede) == []


def test_quem_publica_nao_espera_a_redacao(rede: Rede, dsn: str) -> None:
    viver(rede)
    rede.relogio(DEPOIS)
    with psycopg.connect(dsn) as redatora:
        redatora.execute("SELECT core._redigir_eventos(%s, 500)", [DEPOIS])
        rede.bd.execute("SET lock_timeout = '5s'")
        assert rede.sortear(uuid4(), BIA)  # a redação ainda não confirmou


@pytest.mark.parametrize(
    ("antes_de", "lote"), [(None, 1), ("infinity", 1), ("9999-01-01", 1), ("2026-01-01", 0), ("2026-01-01", None)]
)
def test_recusa_o_que_nao_e_data_nem_lote(rede: Rede, antes_de: str | None, lote: int | None) -> None:
    with pytest.raises(psycopg.Error) as recusa:
        rede.bd.execute("CALL core.redigir(%s, %s)", [antes_de, lote])
    assert recusa.value.sqlstate == "FM422"


@pytest.mark.parametrize("passo", PASSOS)
def test_cada_passo_se_guarda_sozinho(rede: Rede, dsn: str, passo: str) -> None:
    viver(rede)
    rede.relogio(DEPOIS)
    antes = retrato(rede)
    recusas = []
    for papel, antes_de, lote in [
        ("formigueiro_dba", None, 1),
        ("formigueiro_dba", "infinity", 100),
        ("formigueiro_dba", "2026-06-01 00:00:01+00", 1),
        ("formigueiro_dba", DEPOIS, 0),
        ("formigueiro_dba", DEPOIS, None),
        ("formigueiro_app", DEPOIS, 1),
    ]:
        with (
            psycopg.connect(make_conninfo(dsn, user=papel), autocommit=True) as sessao,
            pytest.raises(psycopg.Error) as recusa,
        ):
            sessao.execute(f"SELECT {passo}(%s, %s)", [antes_de, lote])
        recusas.append(recusa.value.sqlstate)
    assert recusas == ["FM422"] * 5 + ["FM403"]
    assert retrato(rede) == antes


def test_o_ciclo_redigido_diz_por_quem(rede: Rede, dsn: str) -> None:
    viver(rede)
    rede.relogio(DEPOIS)
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_dba"), autocommit=True) as dba:
        dba.execute("SELECT d6b.redigir_ciclos(%s, 100)", [DEPOIS])
    assert rede.acompanhamento(DEMANDA)["redigido_por"] == "formigueiro_dba"
    historia = rede.linhas("SELECT * FROM core.linha_do_tempo(%s)", DEMANDA)
    assert ("textos do ciclo removidos pela retenção", "formigueiro_dba") in [(i["o_que"], i["quem"]) for i in historia]


def test_uma_transcricao_que_nao_vem_segura_o_ciclo_so_pelo_prazo_do_fecho(rede: Rede) -> None:
    rede.relogio("2026-03-01 12:00:00+00")
    rede.sortear(AUDIO, ANA)
    perdida = rede.atualizar(AUDIO, ANA, texto="", audio_object_key=f"audios/{MARCA}.ogg")
    rede.concluir(AUDIO, ANA, MARCA)
    rede.despachar()
    publicar_textos(rede.bd)
    rede.despachar()
    redigir(rede, "2026-03-03 11:59:59+00")  # um segundo antes das 48 horas
    assert rede.acompanhamento(AUDIO)["redigido_em"] is None
    redigir(rede, "2026-03-03 12:00:00+00")
    assert vestigios(rede) == []
    # Se ainda assim chega, o texto não entra no que já foi redigido.
    tardia: dict[str, object] = {"atualizacao_event_id": str(perdida), "sucesso": True, "texto_transcrito": MARCA}
    rede.publicar("conselheiro.atualização_transcrita", tardia, "D-1b")
    rede.despachar()
    assert vestigios(rede) == ["core.event_log"]
    assert rede.ocorrencias()[-1]["mensagem"] == "A atualização não aguarda transcrição"


@pytest.mark.parametrize("valor", ['"abc"', "-1", "0", "99999999", "1.5", "true", "[60]"])
def test_um_prazo_de_guarda_que_nao_serve_e_recusado_pelo_nome(rede: Rede, dsn: str, valor: str) -> None:
    viver(rede)
    rede.relogio(DEPOIS)
    antes = retrato(rede)
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_app"), autocommit=True) as app:
        rede.bd.execute("UPDATE core.parametros SET valor = %s WHERE nome = 'dias_guarda_dados_pessoais'", [valor])
        for comando in ("CALL core.reter()", f"CALL core.redigir('{DEPOIS}')"):
            with pytest.raises(psycopg.Error, match="parâmetro dias_guarda_dados_pessoais") as recusa:
                app.execute(comando)
            assert recusa.value.sqlstate == "FM422"
    assert retrato(rede) | {"core.parametros": ""} == antes | {"core.parametros": ""}


def test_ocorrencias_e_tentativas_velhas_saem_por_limpar(rede: Rede) -> None:
    rede.bd.execute(
        """
        INSERT INTO core.ocorrencias (nivel, mensagem, criado_em)
        VALUES ('info', 'velha', now() - interval '11 days'), ('info', 'nova', now() - interval '9 days');
        INSERT INTO core.dlq_tentativas (dlq_id, numero, resultado, quando)
        VALUES (1, 1, 'velha', now() - interval '11 days'), (1, 2, 'nova', now() - interval '9 days');
        UPDATE core.parametros SET valor = '10' WHERE nome = 'dias_guarda_ocorrencias'
        """
    )
    assert rede.um("SELECT core.limpar()") == 1
    assert [o["mensagem"] for o in rede.ocorrencias()] == ["nova"]
    assert rede.um("SELECT string_agg(resultado, ',') FROM core.dlq_tentativas") == "nova"
