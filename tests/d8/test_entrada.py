"""O que entra na D-8: planos bons, maus e estranhos (D-8 3.1 e 3.8; E28, E29)."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from tests.d8.apoio import LOCALIZACAO, PLANO, Cru, Manutencao, com_cru, conclusao

CPF = "529.982.247-25"
SO_DA_1_0_0: dict[str, Any] = {
    "dias_ate_conclusao": 1,
    "total_atualizacoes": 1,
    "timestamp": "2026-01-10T12:00:00.000Z",
}


def publicar_cru(d8: Manutencao, payload: dict[str, object], versao: str = "1.1.0") -> UUID:
    return d8.publicar("demanda.concluída", payload, versao)


def campos_em_falta(d8: Manutencao, *eventos: UUID) -> list[list[str]]:
    """As faltas que a ocorrência de cada evento nomeia; confere que nenhum envenenou sua chave."""
    d8.despachar()
    assert d8.pendencias() == 0
    faltas = []
    for evento in eventos:
        (ocorrencia,) = [cada for cada in d8.ocorrencias() if cada["event_id"] == evento]
        assert (ocorrencia["nivel"], ocorrencia["colonia"]) == ("erro", "D-8")
        assert ocorrencia["mensagem"] == "Plano de manutenção recusado: não pode ser agendado."
        assert d8.resultado(evento) == "descartado"
        faltas.append([erro["campo"] for erro in ocorrencia["contexto"]["erros"]])
    return faltas


GRANDES_DEMAIS = [1_000_000_000, 36_501, Cru("1e400")]
DIAS_RUINS = [0, -1, "180", None, 1.5, Cru("-1e400"), Cru("1e-400"), True, [180], {}, *GRANDES_DEMAIS]


@pytest.mark.parametrize(
    ("campo", "ruins"),
    [
        ("intervalo_dias", DIAS_RUINS),
        ("vida_util_dias", DIAS_RUINS),
        ("prazo_tolerancia_dias", [-1, "30", None, 0.5, *GRANDES_DEMAIS]),
        ("profundidade", [-1, "0", 0.5, 1_000_000_000, Cru("1e400")]),
    ],
)
def test_dias_que_nao_sao_inteiros_dentro_dos_limites_sao_recusados(
    d8: Manutencao, campo: str, ruins: list[object]
) -> None:
    demandas = [uuid4() for _ in ruins]
    eventos = [
        publicar_cru(d8, conclusao(demanda, d8.agora, plano_manutencao=PLANO | {campo: ruim}))
        for demanda, ruim in zip(demandas, ruins, strict=True)
    ]
    assert campos_em_falta(d8, *eventos) == [[f"plano_manutencao.{campo}"]] * len(ruins)
    # O plano corrigido da mesma demanda entra.
    for demanda in demandas:
        d8.concluir(demanda)
    d8.despachar()
    assert len(d8.projetos()) == len(demandas)


def test_profundidade_ate_a_maxima_e_aceita_e_ausente_vale_0(d8: Manutencao) -> None:
    for profundidade in (None, 0, 1, 2):
        projeto = d8.monitorar(plano={"profundidade": profundidade})
        assert d8.projeto(projeto)["profundidade"] == (profundidade or 0)


def test_profundidade_maxima_e_parametro_que_so_pode_baixar(d8: Manutencao) -> None:
    d8.bd.execute("UPDATE core.parametros SET valor = '1' WHERE nome = 'profundidade_maxima'")
    d8.concluir(plano_manutencao=PLANO | {"profundidade": 2})
    d8.bd.execute("UPDATE core.parametros SET valor = '7' WHERE nome = 'profundidade_maxima'")
    d8.despachar()
    d8.concluir(plano_manutencao=PLANO | {"profundidade": 3})
    d8.despachar()
    assert len(d8.projetos()) == 1
    assert d8.pendencias() == 0
    assert [aviso["contexto"]["profundidade"] for aviso in d8.ocorrencias("aviso")] == [3]


def test_cada_falta_e_nomeada(d8: Manutencao) -> None:
    evento = publicar_cru(
        d8,
        conclusao(
            uuid4(),
            d8.agora,
            categoria="c" * 101,
            localizacao={"lat": 91, "lng": Cru("-1e400")},
            plano_manutencao={"intervalo_dias": 0, "prazo_tolerancia_dias": -1, "profundidade": "a"},
        ),
    )
    assert campos_em_falta(d8, evento) == [
        [
            "plano_manutencao.intervalo_dias",
            "plano_manutencao.prazo_tolerancia_dias",
            "plano_manutencao.vida_util_dias",
            "plano_manutencao.profundidade",
            "categoria",
            "localizacao.lat",
            "localizacao.lng",
        ]
    ]


def test_sem_categoria_ou_lugar_nao_ha_o_que_agendar(d8: Manutencao) -> None:
    casos: list[tuple[dict[str, object], list[str]]] = [
        ({"categoria": None}, ["categoria"]),
        ({"categoria": "  "}, ["categoria"]),
        ({"localizacao": None}, ["localizacao.lat", "localizacao.lng"]),
        ({"localizacao": {"lat": "-23", "lng": 0}}, ["localizacao.lat"]),
        ({"localizacao": {"lat": 0, "lng": 180.5}}, ["localizacao.lng"]),
    ]
    eventos = [publicar_cru(d8, conclusao(uuid4(), d8.agora, **campos)) for campos, _ in casos]
    assert campos_em_falta(d8, *eventos) == [faltas for _, faltas in casos]


def test_plano_que_nao_e_um_plano(d8: Manutencao) -> None:
    """A 1.0.0 não declara o campo, e por isso o deixa passar com qualquer forma."""
    planos: list[object] = ["semestral", 180, [], True, {}]
    eventos = [
        publicar_cru(d8, conclusao(uuid4(), d8.agora, plano_manutencao=plano) | SO_DA_1_0_0, "1.0.0")
        for plano in planos
    ]
    obrigatorios = ("intervalo_dias", "prazo_tolerancia_dias", "vida_util_dias")
    assert campos_em_falta(d8, *eventos) == [[f"plano_manutencao.{campo}" for campo in obrigatorios]] * len(planos)


def test_plano_incoerente_e_responsabilidade_do_tecnico(d8: Manutencao) -> None:
    """Tolerância maior que o intervalo, vida menor que ele, os máximos, sem tolerância, todo dia (4.8 e 8.2)."""
    projetos = [
        d8.monitorar(plano=plano)
        for plano in (
            {"prazo_tolerancia_dias": 400, "intervalo_dias": 90},
            {"vida_util_dias": 30, "intervalo_dias": 90},
            {"intervalo_dias": 36_500, "vida_util_dias": 36_500, "prazo_tolerancia_dias": 36_500},
            {"prazo_tolerancia_dias": 0},
            {"intervalo_dias": 1},
        )
    ]
    d8.avancar(36_500)
    d8.varrer()
    assert [len(d8.ciclos(projeto)) for projeto in projetos] == [1] * 5
    assert d8.ocorrencias() == []


def test_dias_inteiros_escritos_com_casas(d8: Manutencao) -> None:
    publicar_cru(d8, conclusao(uuid4(), d8.agora, plano_manutencao=PLANO | {"intervalo_dias": Cru("1.80e2")}))
    d8.despachar()
    (projeto,) = d8.projetos()
    assert projeto["proximo_ciclo"] == d8.agora + timedelta(days=180)
    assert d8.gerar(projeto["id"])["dossie_montado"]["ciclo_atual"]["intervalo_programado_dias"] == 180


def test_outra_conclusao_da_mesma_demanda_e_ignorada(d8: Manutencao) -> None:
    demanda = d8.concluir()
    evento = uuid4()
    d8.concluir(demanda, event_id=evento, plano_manutencao=PLANO | {"intervalo_dias": 7})
    d8.despachar()
    assert d8.projeto_da(demanda)["plano_manutencao"] == PLANO
    assert d8.resultado(evento) == "ignorado"
    assert d8.ocorrencias() == []


@pytest.mark.parametrize("motivo", ["encerramento_manual", "projeto_removido"])
def test_obra_encerrada_e_concluida_de_novo_com_plano_fica_registrada(d8: Manutencao, motivo: str) -> None:
    demanda = d8.concluir()
    d8.despachar()
    projeto = d8.projeto_da(demanda)["id"]
    d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, %s)", [projeto, motivo])
    antes = d8.projeto(projeto)
    evento = uuid4()
    d8.concluir(demanda, event_id=evento, plano_manutencao=PLANO | {"intervalo_dias": 7})
    d8.despachar()
    assert (d8.projeto(projeto), d8.resultado(evento)) == (antes, "ignorado")
    (aviso,) = d8.ocorrencias()
    assert (aviso["nivel"], aviso["event_id"]) == ("aviso", evento)
    assert aviso["mensagem"] == "demanda.concluída com plano para projeto já encerrado; não é reaberto."
    assert aviso["contexto"]["projeto_id"] == str(projeto)
    assert aviso["contexto"]["plano_manutencao"]["intervalo_dias"] == 7


def test_outro_plano_para_obra_ja_monitorada_se_conta_e_a_reentrega_do_mesmo_nao(d8: Manutencao) -> None:
    demanda = d8.concluir()
    d8.concluir(demanda)
    outro = uuid4()
    d8.concluir(demanda, event_id=outro, plano_manutencao=PLANO | {"tipo": "pintura"})
    d8.despachar()
    ditas = [cada for cada in d8.ocorrencias("info") if "vale o primeiro" in cada["mensagem"]]
    assert [cada["event_id"] for cada in ditas] == [outro]
    assert d8.ocorrencias() == []


PERDAS: list[tuple[dict[str, Any], list[str]]] = [
    ({"titulo": "t" * 201}, ["titulo"]),
    ({"responsavel_tecnico": "r" * 201}, ["responsavel_tecnico"]),
    ({"subcategoria": "s" * 101}, ["subcategoria"]),
    ({"localizacao": LOCALIZACAO | {"endereco": "e" * 201}}, ["localizacao.endereco"]),
    ({"materiais_utilizados": ["areia"] * 51}, ["materiais_utilizados"]),
    ({"materiais_utilizados": ["m" * 81, "areia"]}, ["materiais_utilizados"]),
    ({"resumo_final": '"' * 15_000}, ["resumo_final"]),
    ({"plano_manutencao": PLANO | {"tipo": 5}}, ["plano_manutencao.tipo"]),
    ({"plano_manutencao": PLANO | {"tipo": "p" * 101}}, ["plano_manutencao.tipo"]),
    # A máscara alonga o texto, e é o mascarado que se corta.
    ({"titulo": "t" * 185 + " (11) 98765-4321"}, ["titulo"]),
    ({"titulo": "  t\n" * 50, "materiais_utilizados": ["m" * 80] * 50, "resumo_final": "ã" * 10_000}, []),
    ({"titulo": None, "responsavel_tecnico": None, "materiais_utilizados": []}, []),
]


@pytest.mark.parametrize(("campos", "perdidos"), PERDAS)
def test_o_que_o_dossie_corta_ou_deixa_de_fora_fica_registrado(
    d8: Manutencao, campos: dict[str, Any], perdidos: list[str]
) -> None:
    demanda = d8.concluir(**campos)
    d8.despachar()
    avisos = d8.ocorrencias()
    assert [perda["campo"] for aviso in avisos for perda in aviso["contexto"]["erros"]] == perdidos
    for aviso in avisos:
        assert aviso["mensagem"] == "Campos da conclusão que o dossiê corta ou deixa de fora."
        assert (aviso["nivel"], aviso["demanda_id"]) == ("aviso", demanda)
        assert aviso["contexto"]["demanda_original_id"] == str(demanda)
        assert all(perda["mensagem"] for perda in aviso["contexto"]["erros"])


def test_sem_responsavel_tecnico_o_projeto_e_aceito(d8: Manutencao) -> None:
    projeto = d8.monitorar(responsavel_tecnico=None)
    ciclo = d8.gerar(projeto)
    assert ciclo["dossie_montado"]["projeto_original"]["responsavel_tecnico"] is None
    assert "Responsável técnico" not in d8.eventos("demanda.recebida")[0]["payload"]["texto_bruto"]


def test_sem_tipo_espera_se_manutencao_preventiva(d8: Manutencao) -> None:
    plano = {nome: valor for nome, valor in PLANO.items() if nome != "tipo"}
    demanda = d8.concluir(plano_manutencao=plano)
    outra = d8.concluir(plano_manutencao=PLANO | {"tipo": {"nome": "pintura"}})
    d8.despachar()
    for cada in (demanda, outra):
        ciclo = d8.gerar(d8.projeto_da(cada)["id"])
        assert ciclo["dossie_montado"]["ciclo_atual"]["tipo_intervencao"] == "manutenção preventiva"


def test_categoria_id_vale_sem_categoria(d8: Manutencao) -> None:
    projeto = d8.monitorar(categoria=None, categoria_id="3.4_iluminacao_publica")
    assert d8.projeto(projeto)["categoria"] == "3.4_iluminacao_publica"


def test_subcategoria_longa_e_campo_a_mais_no_lugar_nao_barram(d8: Manutencao) -> None:
    lugar = LOCALIZACAO | {"contato": "Zeladora Rita, (11) 98765-4321"}
    projeto = d8.projeto(d8.monitorar(subcategoria="s" * 300, localizacao=lugar))
    assert projeto["subcategoria"] == "s" * 100
    assert projeto["localizacao"] == LOCALIZACAO


def test_o_id_do_projeto_deriva_da_demanda(d8: Manutencao) -> None:
    demanda = uuid4()
    projeto = d8.monitorar(demanda)
    assert projeto == d8.um("SELECT core.uuid_derivado('d8.projeto', %s)", str(demanda))


def test_o_tempo_vem_dos_eventos_e_vai_em_milissegundos(d8: Manutencao) -> None:
    d8.relogio(d8.agora + timedelta(microseconds=123_456))
    projeto = d8.projeto(d8.monitorar(data_conclusao="2026-01-10T09:00:00.9876543-03:00"))
    assert projeto["criado_em"] == projeto["atualizado_em"] == d8.INICIO + timedelta(milliseconds=123)
    assert projeto["proximo_ciclo"] == d8.INICIO + timedelta(days=180, milliseconds=987)
    assert projeto["dossie_original"]["data_conclusao"] == "2026-01-10T12:00:00.987Z"


def test_nada_depende_do_timezone_da_sessao(d8: Manutencao) -> None:
    """Em Lisboa, a hora de verão começa nessa noite."""
    d8.concluir(data_conclusao="2026-03-28T23:30:00Z", plano_manutencao=PLANO | {"intervalo_dias": 1})
    d8.relogio(datetime.fromisoformat("2026-03-30T00:30:00+00:00"))
    d8.bd.execute("SET TimeZone = 'Europe/Lisbon'; SET DateStyle = 'SQL, DMY'; SET IntervalStyle = 'sql_standard'")
    d8.despachar()
    d8.varrer()
    d8.bd.execute("RESET DateStyle; RESET TimeZone")
    (ciclo,) = d8.ciclos()
    assert ciclo["dossie_montado"]["ciclo_atual"]["data_prevista"] == "2026-03-29T23:30:00.000Z"
    assert d8.projeto(ciclo["projeto_id"])["proximo_ciclo"] == d8.agora + timedelta(days=1)


def test_titulo_do_projeto(d8: Manutencao) -> None:
    casos: list[tuple[dict[str, Any], str]] = [
        ({"titulo": "Reforma da Praça da Sé"}, "Reforma da Praça da Sé"),
        ({"titulo": "  Reforma\n da  Praça "}, "Reforma da Praça"),
        ({"resumo_final": "Calçada da Av. Paulista refeita. Piso tátil novo."}, "Calçada da Av. Paulista refeita"),
        ({"resumo_final": "Poste trocado\nem dois dias"}, "Poste trocado"),
        ({"resumo_final": "Trocamos tudo! E pintamos."}, "Trocamos tudo!"),
        ({"resumo_final": "x" * 150}, "x" * 100),
        ({"resumo_final": " "}, "playground_quebrado — Praça da Sé, São Paulo"),
        ({"titulo": "", "resumo_final": "", "subcategoria": None}, "Praça da Sé, São Paulo"),
        ({"titulo": "Obra do José, CPF 529.982.247-25"}, "Obra do José, CPF [CPF removido]"),
    ]
    for campos, titulo in casos:
        assert d8.projeto(d8.monitorar(**campos))["dossie_original"]["titulo"] == titulo


def test_o_que_vai_a_publico_passa_pela_mascara(d8: Manutencao) -> None:
    projeto = d8.monitorar(
        resumo_final="Entregue.\nFalar com Rita no (11) 98765-4321 ou rita@exemplo.com.br, CPF 529.982.247-25.",
        responsavel_tecnico="Eng. Paulo, tel. 11 3555-0199",
        materiais_utilizados=["areia", "  ", "cimento de vendas@exemplo.com.br"],
        localizacao=LOCALIZACAO | {"endereco": "Rua A, 10 - zelador 98765-4321"},
        plano={"tipo": "ligar para\n(11) 98765-4321"},
    )
    ciclo = d8.gerar(projeto)
    original = ciclo["dossie_montado"]["projeto_original"]
    assert original["descricao"] == (
        "Entregue.\nFalar com Rita no [telefone removido] ou [e-mail removido], CPF [CPF removido]."
    )
    assert original["responsavel_tecnico"] == "Eng. Paulo, tel. [telefone removido]"
    assert original["materiais_utilizados"] == ["areia", "cimento de [e-mail removido]"]
    assert ciclo["dossie_montado"]["localizacao"]["endereco"] == "Rua A, 10 - zelador [telefone removido]"
    assert ciclo["dossie_montado"]["ciclo_atual"]["tipo_intervencao"] == "ligar para [telefone removido]"
    publico = str([evento["payload"] for evento in d8.eventos()])
    assert not any(pedaco in publico for pedaco in ("98765", "3555-0199", "@exemplo", "529.982"))


def test_o_intake_nao_tropeca_no_que_a_1_0_0_deixa_passar(d8: Manutencao) -> None:
    """Sem esquema para eles, os campos do plano podem ter qualquer tipo."""
    campos: dict[str, Any] = {
        "titulo": {"pt": "Praça"},
        "responsavel_tecnico": 7,
        "materiais_utilizados": ["areia", 3, {"nome": "cimento"}, None],
        "subcategoria": ["a"],
        "localizacao": {"lat": 1, "lng": 2, "endereco": ["Rua", 3]},
    }
    demanda = d8.concluir(versao="1.0.0", **campos, **SO_DA_1_0_0)
    d8.despachar()
    projeto = d8.projeto_da(demanda)
    assert projeto["subcategoria"] is None
    assert projeto["localizacao"] == {"lat": 1, "lng": 2}
    assert projeto["dossie_original"]["materiais_utilizados"] == ["areia"]
    d8.gerar(projeto["id"])
    (aviso,) = d8.ocorrencias()
    assert [perda["campo"] for perda in aviso["contexto"]["erros"]] == [
        "titulo", "subcategoria", "localizacao.endereco", "responsavel_tecnico", "materiais_utilizados",
    ]  # fmt: skip


def test_o_registro_do_projeto_e_contado(d8: Manutencao) -> None:
    projeto = d8.monitorar()
    (info,) = d8.ocorrencias("info")
    assert info["mensagem"] == "Projeto registrado para monitoramento de manutenção."
    assert info["contexto"]["projeto_id"] == str(projeto)
    assert info["contexto"]["proximo_ciclo"] == "2026-07-09T12:00:00.000Z"
    assert info["event_id"] == d8.projeto(projeto)["event_id_origem"]


def test_mascara_o_que_a_linha_unica_ou_a_limpeza_formaria(d8: Manutencao) -> None:
    """Quebras, espaços dobrados e caracteres de controle somem: o que eles separavam não pode aparecer inteiro."""
    projeto = d8.monitorar(
        titulo="Praça. Zelador (11)\n988887777",
        resumo_final="Entregue. CPF 529.982\x01.247-25",
        responsavel_tecnico="Paulo, 11  98765\t4321",
    )
    original = d8.projeto(projeto)["dossie_original"]
    assert original["titulo"] == "Praça. Zelador [telefone removido]"
    assert original["descricao"] == "Entregue. CPF [CPF removido]"
    assert original["responsavel_tecnico"] == "Paulo, [telefone removido]"


@pytest.mark.parametrize("niveis", [30, 40, 5000])
def test_plano_muito_aninhado_nao_envenena_a_chave_nem_detem_a_retencao(d8: Manutencao, niveis: int) -> None:
    """Dois mil colchetes cabem no conteúdo de uma atualização; além de 32 níveis a máscara não desce, e nada passa."""
    fundo = Cru("[" * niveis + f'"CPF {CPF}"' + "]" * niveis)
    demanda = uuid4()
    publicar_cru(d8, conclusao(demanda, d8.agora, plano_manutencao=Cru(com_cru(PLANO | {"nota": fundo}))))
    d8.despachar()
    assert d8.pendencias() == 0
    antes = d8.projeto_da(demanda)
    assert CPF not in str(antes["plano_manutencao"])
    ciclo = d8.gerar(antes["id"])
    d8.executar(ciclo["demanda_manutencao_id"], antes["id"])
    d8.bd.execute("CALL core.redigir(core.agora())")
    d8.bd.execute("SELECT d8.reconstruir()")
    assert d8.projeto_da(demanda)["plano_manutencao"] == antes["plano_manutencao"]
    assert d8.um("SELECT count(*) FROM core.event_log WHERE payload::text ~ %s", CPF) == 0


def test_um_plano_de_campos_a_mais_so_entra_ate_vinte_mil_bytes(d8: Manutencao) -> None:
    """E12: o plano fica guardado inteiro, com o que ninguém lê."""
    cabe = publicar_cru(d8, conclusao(uuid4(), d8.agora, plano_manutencao=PLANO | {"notas": "x" * 20_000}))
    nao_cabe = publicar_cru(d8, conclusao(uuid4(), d8.agora, plano_manutencao=PLANO | {"notas": "x" * 20_480}))
    assert campos_em_falta(d8, nao_cabe) == [["plano_manutencao"]]
    assert d8.resultado(cabe) == "processado"
