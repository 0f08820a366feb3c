"""Os esquemas de sql/eventos: concordam com a biblioteca jsonschema e não são mais estritos que a especificação."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unicodedata import normalize

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.registro.comparacao import comparar
from tests.core.registro.geradores import mutacoes, payloads

Banco = psycopg.Connection[Any]


def _ler(pasta: Path) -> Iterator[tuple[str, str, Any]]:
    for arquivo in sorted(pasta.glob("*/*.json")):
        yield normalize("NFC", arquivo.parent.name), arquivo.stem, json.loads(arquivo.read_text(encoding="utf-8"))


EVENTOS = {(tipo, versao): esquema for tipo, versao, esquema in _ler(Path(__file__).parents[3] / "sql" / "eventos")}
DEMANDA, CONSELHEIRO, UNIDADE, OUTRO = (f"{n}50e8400-e29b-41d4-a716-446655440000" for n in "1234")
MOMENTO = "2026-11-30T12:34:56.780Z"
PAR = {"conselheiro_id": CONSELHEIRO, "demanda_id": DEMANDA, "unidade_civica_id": UNIDADE}
ATUALIZACAO = {**PAR, "tipo": "contato_realizado", "texto_bruto": "a", "texto_estruturado": "b", "timestamp": MOMENTO}
LOCALIZACAO = {"lat": -23.5, "lng": -46.6, "endereco": "Praça da Sé"}
DOSSIE = {
    "projeto_original": {
        "titulo": "Reforma da praça", "descricao": "Playground novo.", "responsavel_tecnico": None,
        "data_conclusao": MOMENTO, "materiais_utilizados": ["areia"],
    },
    "historico_manutencoes": [{
        "ciclo": 1, "data_prevista": MOMENTO, "data_real": MOMENTO, "status": "concluida", "conselheiro": None,
        "observacoes": None,
    }],
    "ciclo_atual": {
        "numero": 2, "tipo_intervencao": "inspecao", "intervalo_programado_dias": 180, "prazo_tolerancia_dias": 30,
        "data_prevista": MOMENTO, "data_geracao": MOMENTO,
    },
    "metricas_atraso": None,
    "localizacao": LOCALIZACAO,
}  # fmt: skip
PUBLICADA = {
    **PAR, "atualizacao_id": OUTRO, "tipo": "contato_realizado", "texto_estruturado": "b", "descricao_sanitizada": "c",
    "conteudo_estruturado": {}, "origem_estruturacao": "conselheiro", "numero_sequencial": 1, "timestamp": MOMENTO,
}  # fmt: skip

# O payload mínimo de cada evento: tudo o que está nele é obrigatório, e nada além.
MINIMOS: dict[tuple[str, str], dict[str, Any]] = {
    ("conselheiro.sorteado", "1.0.0"): PAR,
    ("conselheiro.atualização_registrada", "1.0.0"): ATUALIZACAO,
    ("conselheiro.atualização_registrada", "1.1.0"): ATUALIZACAO,
    ("conselheiro.atualização_transcrita", "1.0.0"): {"atualizacao_event_id": OUTRO, "sucesso": False},
    ("demanda.conclusao_confirmada", "1.0.0"): {
        "demanda_id": DEMANDA, "conclusao_id": "c-1", "data_conclusao": MOMENTO, "total_conclusoes": 3,
        "ratificacao_necessaria": True,
    },
    ("demanda.recebida", "1.1.0"): {"demanda_id": DEMANDA},
    ("demanda.recebida", "2.0.0"): {"demanda_id": DEMANDA},
    ("conselheiro.demanda_iniciada", "1.0.0"): {
        **PAR, "tipo_primeira_acao": "contato_realizado", "timestamp_inicio": MOMENTO
    },
    ("conselheiro.atualização_publicada", "1.0.0"): PUBLICADA,
    ("conselheiro.atualização_publicada", "1.1.0"): PUBLICADA,
    ("conselheiro.atualização_publicada", "1.2.0"): PUBLICADA,
    ("conselheiro.prazo_próximo", "1.0.0"): {
        **PAR, "prazo_id": OUTRO, "data_estimada": "2026-12-01", "dias_restantes": 1, "descricao_prazo": "",
        "timestamp": MOMENTO,
    },
    ("demanda.concluída", "1.0.0"): {
        **PAR, "data_conclusao": MOMENTO, "dias_ate_conclusao": 3, "total_atualizacoes": 4, "resumo_final": "Feito.",
        "timestamp": MOMENTO,
    },
    ("demanda.concluída", "1.1.0"): {**PAR, "data_conclusao": MOMENTO, "resumo_final": "Feito."},
    ("conselheiro.ciclo_concluído", "1.0.0"): {
        **PAR, "motivo_encerramento": "demanda_concluida", "total_atualizacoes": 4, "data_inicio": None,
        "data_fim": MOMENTO, "dias_duracao": 3, "timestamp": MOMENTO,
    },
    ("demanda.resumo_ciclo_atualizado", "1.0.0"): {
        "demanda_id": DEMANDA, "resumo": "Resumo.", "total_atualizacoes": 1, "data_inicio": None, "data_fim": None,
        "versao_metodo": "resumo_v1", "gerado_em": MOMENTO, "fontes": [{"atualizacao_id": OUTRO}],
    },
    ("manutenção.executada", "1.0.0"): {"demanda_id": DEMANDA, "projeto_original_id": OUTRO},
    ("demanda.manutenção_gerada", "1.0.0"): {
        "demanda_id": DEMANDA, "projeto_original_id": OUTRO, "categoria": "3.9_pracas_parques",
        "localizacao": LOCALIZACAO, "tipo_manutencao": "inspecao", "intervalo_programado": 180, "prazo_tolerancia": 30,
        "ciclo_numero": 2, "data_prevista": MOMENTO, "data_geracao": MOMENTO, "dias_atraso": 0, "dossie": DOSSIE,
    },
    ("manutenção.ciclo_encerrado", "1.0.0"): {
        "projeto_id": OUTRO, "demanda_original_id": DEMANDA, "categoria": "3.9_pracas_parques", "uc_id": UNIDADE,
        "motivo": "vida_util_esgotada", "total_ciclos": 2, "data_inicio_monitoramento": MOMENTO,
        "data_encerramento": MOMENTO,
    },
}  # fmt: skip
DA_D8 = {
    "demanda_id": DEMANDA, "origem": "manutenção_programada", "projeto_original_id": OUTRO, "texto_bruto": "Manutenção",
    "tipo_midia": "texto", "localizacao_bruta": LOCALIZACAO, "canal": "sistema", "categoria_id": "3.9_pracas_parques",
    "timestamp_criacao": MOMENTO, "dossie": DOSSIE,
    "metadata": {"profundidade": 0, "intervalo_dias": 180, "ciclo_numero": 2},
}  # fmt: skip


def test_ha_um_esquema_por_tipo_e_versao_da_especificacao_e_todos_estao_carregados(bd: Banco) -> None:
    assert set(EVENTOS) == set(MINIMOS)
    assert {(t, v): e for t, v, e in bd.execute("SELECT tipo, versao, esquema FROM core.esquemas")} == EVENTOS


@pytest.mark.parametrize("evento", EVENTOS, ids=" ".join)
def test_evento_concorda_com_jsonschema_em_payloads_gerados_e_mutados(bd: Banco, evento: tuple[str, str]) -> None:
    esquema = EVENTOS[evento]
    gerados = payloads(esquema)
    contagem = [0, 0]

    @settings(max_examples=20, deadline=None, suppress_health_check=[*HealthCheck], database=None)
    @given(lote=st.lists(gerados | mutacoes(gerados), min_size=8, max_size=8))
    def comparar_lote(lote: list[Any]) -> None:
        for posicao, quantos in enumerate(comparar(bd, *evento, esquema, lote)):
            contagem[posicao] += quantos

    comparar_lote()
    assert min(contagem) >= 5, f"a comparação só vale com válidos e inválidos; houve {contagem}"


def test_a_comparacao_apanha_um_validador_errado(bd: Banco) -> None:
    evento = ("conselheiro.sorteado", "1.0.0")
    casos = [PAR, {**PAR, "total_elegiveis": 1.5}]
    comparar(bd, *evento, EVENTOS[evento], casos)
    for sufixo, tipo, corpo in [("", "boolean", "true"), ("_faltas", "text[]", "'{}'::text[]")]:
        with bd.transaction(force_rollback=True):
            bd.execute(
                f"CREATE OR REPLACE FUNCTION registro.conselheiro_sorteado_1_0_0{sufixo}(p_payload jsonb)"
                f" RETURNS {tipo} LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN {corpo}; END $$"
            )
            with pytest.raises(AssertionError, match="total_elegiveis"):
                comparar(bd, *evento, EVENTOS[evento], casos)


@pytest.mark.parametrize("evento", MINIMOS, ids=" ".join)
def test_so_o_payload_minimo_e_obrigatorio(bd: Banco, evento: tuple[str, str]) -> None:
    minimo = MINIMOS[evento]
    assert _faltas(bd, evento, minimo) == []
    for campo in minimo:
        sem_ele = {nome: valor for nome, valor in minimo.items() if nome != campo}
        assert f"campo {campo}: obrigatório" in _faltas(bd, evento, sem_ele)


@pytest.mark.parametrize("evento", MINIMOS, ids=" ".join)
def test_campo_a_mais_passa_e_o_que_nao_e_obrigatorio_pode_ser_nulo(bd: Banco, evento: tuple[str, str]) -> None:
    opcionais = set(EVENTOS[evento]["properties"]) - set(MINIMOS[evento])
    assert _faltas(bd, evento, {**MINIMOS[evento], **dict.fromkeys(opcionais), "campo_novo": {"a": [1]}}) == []


@pytest.mark.parametrize("versao", ["1.0.0", "1.1.0"])
@pytest.mark.parametrize(
    "julgado_pelo_handler",
    [
        {"tipo": "inexistente"},
        {"tipo": "prazo_registrado", "conteudo_estruturado": {}},
        {"tipo": "protocolo_aberto"},
        {"origem_estruturacao": "ia_assistida"},
        {"conteudo_estruturado": [], "sugestao_ia": 5, "tipo": None},
    ],
    ids=["T14", "T15", "T16", "T17", "nada disso tem forma"],
)
def test_o_que_o_handler_julga_chega_ao_handler(bd: Banco, versao: str, julgado_pelo_handler: dict[str, Any]) -> None:
    assert _faltas(bd, ("conselheiro.atualização_registrada", versao), ATUALIZACAO | julgado_pelo_handler) == []


@pytest.mark.parametrize(
    ("versao", "textos", "aceita"),
    [
        ("1.0.0", {"texto_bruto": ""}, False),
        ("1.0.0", {"texto_bruto": "", "audio_object_key": "relatos/1.ogg"}, False),
        ("1.0.0", {"texto_estruturado": "😀" * 10_000}, True),
        ("1.0.0", {"texto_estruturado": "é" * 10_001}, False),
        ("1.1.0", {"texto_bruto": ""}, False),
        ("1.1.0", {"texto_estruturado": "", "audio_object_key": None}, False),
        ("1.1.0", {"texto_estruturado": "", "audio_object_key": ""}, False),
        ("1.1.0", {"texto_bruto": "", "texto_estruturado": "", "audio_object_key": "relatos/1.ogg"}, True),
        ("1.1.0", {"texto_bruto": "a" * 10_001, "audio_object_key": "relatos/1.ogg"}, False),
    ],
)
def test_limites_dos_textos_da_atualizacao(bd: Banco, versao: str, textos: dict[str, Any], aceita: bool) -> None:
    evento = ("conselheiro.atualização_registrada", versao)
    assert (_faltas(bd, evento, ATUALIZACAO | textos) == []) is aceita


def test_o_que_a_d8_gera_vem_completo(bd: Banco) -> None:
    evento = ("demanda.recebida", "2.0.0")
    assert _faltas(bd, evento, DA_D8) == []
    assert _faltas(bd, evento, DA_D8 | {"texto_bruto": "x" * 5001}) == [
        "campo texto_bruto: deve ter no máximo 5000 caractere(s)"
    ]
    for campo in set(DA_D8) - {"demanda_id", "canal"}:
        assert f"campo {campo}: obrigatório" in _faltas(bd, evento, {n: v for n, v in DA_D8.items() if n != campo})


def test_o_plano_de_manutencao_chega_a_d8_seja_qual_for(bd: Banco) -> None:
    concluida = MINIMOS["demanda.concluída", "1.1.0"]
    for plano in [{}, {"intervalo_dias": "x"}, {"intervalo_dias": 1.5, "profundidade": 9}, None]:
        assert _faltas(bd, ("demanda.concluída", "1.1.0"), concluida | {
            "plano_manutencao": plano, "categoria": "c" * 101, "localizacao": {"lat": 200}
        }) == []  # fmt: skip


def test_nomeia_todas_as_faltas_com_o_caminho_de_cada_uma(bd: Banco) -> None:
    dossie = {
        **DOSSIE,
        "metricas_atraso": [],
        "historico_manutencoes": [*DOSSIE["historico_manutencoes"], {"ciclo": 1.5, "data_real": "ontem"}],  # type: ignore[misc]
    }
    assert sorted(_faltas(bd, ("demanda.recebida", "2.0.0"), DA_D8 | {"demanda_id": "x", "dossie": dossie})) == [
        "campo demanda_id: UUID inválido",
        "campo dossie.historico_manutencoes[1].ciclo: deve ser número inteiro",
        "campo dossie.historico_manutencoes[1].conselheiro: obrigatório",
        "campo dossie.historico_manutencoes[1].data_prevista: obrigatório",
        "campo dossie.historico_manutencoes[1].data_real: data-hora inválida (ISO-8601 com fuso)",
        "campo dossie.historico_manutencoes[1].observacoes: obrigatório",
        "campo dossie.historico_manutencoes[1].status: obrigatório",
        "campo dossie.metricas_atraso: deve ser objeto ou nulo",
    ]
    assert _faltas(bd, ("demanda.recebida", "1.1.0"), []) == ["payload: deve ser objeto"]


def _faltas(bd: Banco, evento: tuple[str, str], payload: Any) -> list[str]:
    linha = bd.execute(
        "SELECT registro.faltas(%(t)s, %(v)s, %(p)s), registro.valido(%(t)s, %(v)s, %(p)s)",
        {"t": evento[0], "v": evento[1], "p": psycopg.types.json.Jsonb(payload)},
    ).fetchone()
    assert linha is not None
    faltas, valido = linha
    assert valido is (faltas == [])
    return list(faltas)
