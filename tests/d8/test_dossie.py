"""O dossiê, o texto e o peso: byte a byte, e dentro dos limites (D-8 3.7, 4.1, 4.2, 4.4 e 6.2; E24, E29, E30)."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from tests.d8.apoio import CONSELHEIRO, LOCALIZACAO, Cru, Manutencao

# Projeto de 2025 com dois ciclos no histórico, o segundo sem desfecho, gerado com 40 dias de atraso.
DOSSIE = (
    '{"ciclo_atual": {"numero": 3, "data_geracao": "2027-02-18T09:30:00.500Z", '
    '"data_prevista": "2027-01-09T09:00:00.000Z", '
    '"tipo_intervencao": "inspecao", "prazo_tolerancia_dias": 30, "intervalo_programado_dias": 180}, '
    '"localizacao": {"lat": -23.5505, "lng": -46.6333, "endereco": "Praça da Sé, São Paulo"}, '
    '"metricas_atraso": {"dias_atraso": 40, "dentro_tolerancia": false, "peso_adicional_sugerido": 0.2375}, '
    '"projeto_original": {"titulo": "Reforma da Praça da Sé — Playground", '
    '"descricao": "Brinquedos trocados.\\nPiso novo, \\"antichoque\\".", "data_conclusao": "2025-01-15T10:00:00.000Z", '
    '"responsavel_tecnico": "Secretaria Municipal de Obras", '
    '"materiais_utilizados": ["madeira tratada", "areia", "tinta atóxica"]}, '
    '"historico_manutencoes": [{"ciclo": 1, "status": "concluida", "data_real": "2026-01-20T14:00:00.000Z", '
    '"conselheiro": "00000000-0000-0000-0000-0000000000bb", "observacoes": "Balanço trocado.", '
    '"data_prevista": "2026-01-10T10:00:00.000Z", "status_execucao": "parcial"}, '
    '{"ciclo": 2, "status": "em_andamento", "data_real": "2026-07-13T09:00:00.000Z", "conselheiro": null, '
    '"observacoes": null, "data_prevista": "2026-07-13T09:00:00.000Z", "status_execucao": null}]}'
)
TEXTO = """\
Manutenção programada — Ciclo #3
Projeto: Reforma da Praça da Sé — Playground
Concluído em: 2025-01-15T10:00:00.000Z
Responsável técnico: Secretaria Municipal de Obras
Materiais: madeira tratada, areia, tinta atóxica
Última manutenção: 2026-07-13T09:00:00.000Z (em_andamento)
Intervenção esperada: inspecao
ATENÇÃO: Manutenção atrasada em 40 dias.
Prazo de tolerância (30 dias) excedido."""


def test_dossie_e_texto_de_um_caso_fixo_byte_a_byte(d8: Manutencao) -> None:
    projeto = d8.monitorar(
        titulo="Reforma da Praça da Sé — Playground",
        resumo_final='Brinquedos trocados.\nPiso novo, "antichoque".',
        materiais_utilizados=["madeira tratada", "areia", "tinta atóxica"],
        data_conclusao="2025-01-15T10:00:00Z",
    )
    anotar(d8, projeto, 1, "2026-01-10T10:00:00Z", "2026-01-12T10:00:00Z", "concluida", "2026-01-20T14:00:00Z",
           CONSELHEIRO, "parcial", "Balanço trocado.")  # fmt: skip
    anotar(d8, projeto, 2, "2026-07-13T09:00:00Z", "2026-07-13T09:00:00Z", "em_andamento")
    d8.bd.execute(
        "UPDATE d8.projetos_monitorados SET ciclo_atual = 2, proximo_ciclo = '2027-01-09T09:00:00Z' WHERE id = %s",
        [projeto],
    )
    d8.varrer(datetime.fromisoformat("2027-02-18T09:30:00.5004+00:00"))

    assert d8.um("SELECT dossie_montado::text FROM d8.historico_manutencoes WHERE ciclo_numero = 3") == DOSSIE
    recebida, gerada = d8.linhas(
        "SELECT payload, payload -> 'dossie' #>> '{}' AS dossie, tipo FROM core.event_log WHERE origem = 'D-8'"
        " ORDER BY sequence_number"
    )
    assert recebida["dossie"] == gerada["dossie"] == DOSSIE
    assert recebida["payload"]["texto_bruto"] == TEXTO
    assert d8.um("SELECT d8.gerar_texto_demanda(3, %s)", Jsonb(recebida["payload"]["dossie"])) == TEXTO

    ciclo = d8.ciclo(projeto)
    assert ciclo["peso_atraso"] == Decimal("0.2375")
    demanda = str(ciclo["demanda_manutencao_id"])
    assert {nome: valor for nome, valor in recebida["payload"].items() if nome not in ("dossie", "texto_bruto")} == {
        "demanda_id": demanda,
        "origem": "manutenção_programada",
        "projeto_original_id": str(projeto),
        "tipo_midia": "texto",
        "localizacao_bruta": LOCALIZACAO,
        "canal": "sistema",
        "categoria_id": "3.9_pracas_parques",
        "subcategoria_id": "playground_quebrado",
        "timestamp_criacao": "2027-02-18T09:30:00.500Z",
        "metadata": {"profundidade": 0, "intervalo_dias": 180, "ciclo_numero": 3},
    }
    assert {nome: valor for nome, valor in gerada["payload"].items() if nome != "dossie"} == {
        "demanda_id": demanda,
        "projeto_original_id": str(projeto),
        "categoria": "3.9_pracas_parques",
        "localizacao": LOCALIZACAO,
        "tipo_manutencao": "inspecao",
        "intervalo_programado": 180,
        "prazo_tolerancia": 30,
        "ciclo_numero": 3,
        "data_prevista": "2027-01-09T09:00:00.000Z",
        "data_geracao": "2027-02-18T09:30:00.500Z",
        "dias_atraso": 40,
    }


def anotar(
    d8: Manutencao,
    projeto: UUID,
    ciclo: int,
    prevista: str,
    geracao: str,
    status: str,
    conclusao: str | None = None,
    conselheiro: UUID | None = None,
    status_execucao: str | None = None,
    observacoes: str | None = None,
) -> None:
    """Põe um ciclo no histórico, sem passar por eventos."""
    d8.bd.execute(
        """
        INSERT INTO d8.historico_manutencoes (
            projeto_id, demanda_manutencao_id, ciclo_numero, data_prevista, data_geracao, data_tolerancia, status,
            data_conclusao, conselheiro_id, status_execucao, observacoes, event_id_geracao, event_id_ultima_alteracao)
        VALUES (%s, gen_random_uuid(), %s, %s, %s, %s, %s, %s, %s, %s, %s, gen_random_uuid(), gen_random_uuid())
        """,
        [projeto, ciclo, prevista, geracao, prevista, status, conclusao, conselheiro, status_execucao, observacoes],
    )


def test_no_prazo_nao_ha_metricas_de_atraso_nem_linha_de_atencao(d8: Manutencao) -> None:
    """Com menos de um dia inteiro, está no prazo (E30)."""
    projeto = d8.monitorar()
    d8.relogio(d8.projeto(projeto)["proximo_ciclo"] + timedelta(hours=23, minutes=59))
    d8.varrer()
    ciclo = d8.ciclo(projeto)
    assert ciclo["dossie_montado"]["metricas_atraso"] is None
    assert ciclo["peso_atraso"] == 0
    recebida, gerada = d8.eventos()
    assert gerada["payload"]["dias_atraso"] == 0
    assert recebida["payload"]["texto_bruto"].splitlines()[-1] == "Intervenção esperada: inspecao"


PESOS = {
    -5: "0.0000", 0: "0.0000", 1: "0.0050", 15: "0.0750", 30: "0.1500", 31: "0.1753",
    60: "0.2753", 90: "0.3000", 91: "0.4000", 365: "0.4000",
}  # fmt: skip


def test_tabela_do_peso_por_atraso(d8: Manutencao) -> None:
    calculados = {dias: str(d8.um("SELECT d8.calcular_peso_atraso(%s)", dias)) for dias in PESOS}
    assert calculados == PESOS


def test_o_peso_segue_os_parametros(d8: Manutencao) -> None:
    for nome, valor in (("fase1_max", "0.2"), ("fase2_max", "0.5"), ("teto", "0.9")):
        d8.bd.execute("UPDATE core.parametros SET valor = %s WHERE nome = %s", [valor, f"peso_atraso_{nome}"])
    pesos = [str(d8.um("SELECT d8.calcular_peso_atraso(%s)", dias)) for dias in (30, 90, 91)]
    assert pesos == ["0.2000", "0.5000", "0.9000"]
    projeto = d8.monitorar(data_conclusao=(d8.agora - timedelta(days=300)).isoformat())
    d8.varrer()
    assert d8.ciclo(projeto)["peso_atraso"] == Decimal("0.9")


def test_o_historico_vai_ate_os_ultimos_100_ciclos_em_ordem(d8: Manutencao) -> None:
    projeto = com_longo_historico(d8, 120, "Tudo certo.")
    dossie = d8.gerar(projeto)["dossie_montado"]
    assert [ciclo["ciclo"] for ciclo in dossie["historico_manutencoes"]] == list(range(21, 121))
    assert dossie["ciclo_atual"]["numero"] == 121


def com_longo_historico(d8: Manutencao, ciclos: int, observacoes: str, **campos: Any) -> UUID:
    projeto = d8.monitorar(**campos)
    d8.bd.execute(
        """
        INSERT INTO d8.historico_manutencoes (
            projeto_id, demanda_manutencao_id, ciclo_numero, data_prevista, data_geracao, data_tolerancia, status,
            data_conclusao, conselheiro_id, observacoes, event_id_geracao, event_id_ultima_alteracao)
        SELECT %s, gen_random_uuid(), n, q, q, q, 'concluida', q, gen_random_uuid(), %s, gen_random_uuid(),
               gen_random_uuid()
          FROM generate_series(1, %s) AS n
         CROSS JOIN LATERAL (SELECT timestamptz '2020-01-01 00:00:00+00' + n * interval '24 hours') AS d (q)
        """,
        [projeto, observacoes, ciclos],
    )
    d8.bd.execute("UPDATE d8.projetos_monitorados SET ciclo_atual = %s WHERE id = %s", [ciclos, projeto])
    return projeto


@pytest.mark.parametrize(
    ("observacoes", "campos"),
    [
        ("ç" * 5000, {}),
        ('"\\' * 2000, {"resumo_final": '"' * 10_000}),
        ("🌳" * 5000, {"resumo_final": "🌳" * 10_000, "titulo": "🌳" * 300, "responsavel_tecnico": "🌳" * 300,
                      "materiais_utilizados": ["🌳" * 200] * 200, "localizacao": LOCALIZACAO | {"endereco": "🌳" * 999},
                      "plano": {"tipo": "🌳" * 200}}),
        ("\x01" * 5000, {"resumo_final": "\x01" * 10_000, "titulo": "\x02" * 50 + "ok"}),
        ("ç" * 900, {"resumo_final": "ç" * 10_000,
                     "localizacao": {"lat": Cru("-23." + "5" * 16_000), "lng": Cru("-46." + "6" * 16_000)}}),
    ],
    ids=["acentos", "aspas", "árvores", "controle", "casas"],
)  # fmt: skip
def test_o_dossie_fica_abaixo_de_50_kb(d8: Manutencao, observacoes: str, campos: dict[str, Any]) -> None:
    projeto = com_longo_historico(d8, 100, observacoes, **campos)
    d8.gerar(projeto)
    tamanho, texto = d8.bd.execute(
        "SELECT octet_length(payload -> 'dossie' #>> '{}'), payload ->> 'texto_bruto' FROM core.event_log"
        " WHERE tipo = 'demanda.recebida'"
    ).fetchone() or (0, "")
    assert 20_000 < tamanho < 50_000
    assert len(texto) <= 5000
    # O que se corta é o mais velho.
    historico = d8.ciclo(projeto)["dossie_montado"]["historico_manutencoes"]
    assert [ciclo["ciclo"] for ciclo in historico] == list(range(101 - len(historico), 101))


def test_o_texto_se_corta_no_fim_de_uma_linha(d8: Manutencao) -> None:
    d8.gerar(d8.monitorar())
    dossie = d8.ciclos()[0]["dossie_montado"]
    inteiro = d8.um("SELECT d8.gerar_texto_demanda(1, %s)", Jsonb(dossie))
    linhas = inteiro.split("\n")
    tres_linhas = len("\n".join(linhas[:3]))
    for limite in (len(inteiro), len(inteiro) - 1, tres_linhas, tres_linhas - 1, len(linhas[0])):
        d8.bd.execute("UPDATE core.parametros SET valor = %s WHERE nome = 'limite_texto_demanda'", [str(limite)])
        cortado = d8.um("SELECT d8.gerar_texto_demanda(1, %s)", Jsonb(dossie))
        cabem = max(n for n in range(1, len(linhas) + 1) if len("\n".join(linhas[:n])) <= limite)
        assert cortado == "\n".join(linhas[:cabem])


def test_o_texto_de_5000_caracteres_e_o_maximo(d8: Manutencao) -> None:
    dossie: dict[str, object] = {
        "projeto_original": {"titulo": "T", "data_conclusao": "D", "materiais_utilizados": ["x" * 6000]},
        "historico_manutencoes": [],
        "ciclo_atual": {"tipo_intervencao": "i"},
        "metricas_atraso": None,
    }
    assert d8.um("SELECT d8.gerar_texto_demanda(1, %s)", Jsonb(dossie)) == (
        "Manutenção programada — Ciclo #1\nProjeto: T\nConcluído em: D"
    )


def test_varredura_e_montar_dossie_dao_os_mesmos_bytes(d8: Manutencao) -> None:
    """Uma regra, dois caminhos: o do lote e o de um projeto só."""
    for n in range(12):
        conclusao = d8.agora - timedelta(days=170 + 15 * n)
        com_longo_historico(d8, n * n, f"Obs {n} ç" * n, data_conclusao=conclusao.isoformat())
    agora = d8.agora + timedelta(days=20)
    d8.bd.execute(
        "CREATE TABLE public.antes AS"
        " SELECT p, d8.montar_dossie(p, p.ciclo_atual + 1, p.proximo_ciclo, %s) AS dossie"
        "   FROM d8.projetos_monitorados AS p",
        [agora],
    )
    d8.varrer(agora)
    diferentes = d8.um(
        """
        SELECT count(*)
          FROM d8.historico_manutencoes AS h
          JOIN public.antes AS a ON (a.p).id = h.projeto_id AND (a.p).ciclo_atual + 1 = h.ciclo_numero
          JOIN core.event_log AS e ON e.event_id = h.event_id_geracao
         WHERE h.dossie_montado::text <> a.dossie::text
            OR e.payload ->> 'texto_bruto' <> d8.gerar_texto_demanda(h.ciclo_numero, a.dossie)
            OR h.peso_atraso <> d8.calcular_peso_atraso(d8.dias_de_atraso(h.data_prevista, h.data_geracao))
        """
    )
    assert diferentes == 0
    assert d8.um("SELECT count(*) FROM d8.historico_manutencoes WHERE data_geracao = %s", agora) == 12


def test_o_registro_descreve_cada_campo_que_a_d8_publica(d8: Manutencao) -> None:
    """Quem consome lê o contrato, e não os payloads."""
    projeto = d8.monitorar(plano={"intervalo_dias": 1})
    demanda = d8.gerar(projeto)["demanda_manutencao_id"]
    d8.executar(demanda, projeto, observacoes="Tudo certo.")
    d8.despachar()
    d8.avancar(3)
    d8.varrer()
    d8.bd.execute("SELECT d8.encerrar_monitoramento(%s, 'encerramento_manual')", [projeto])
    for evento in d8.eventos():
        esquema = d8.um(
            "SELECT esquema FROM core.esquemas WHERE (tipo, versao) = (%s, %s)", evento["tipo"], evento["versao_schema"]
        )
        assert list(nao_descritos(evento["payload"], esquema, evento["tipo"])) == []


def nao_descritos(valor: object, esquema: dict[str, Any], onde: str) -> Iterator[str]:
    """Os campos de um payload que o esquema não nomeia, onde ele nomeia algum."""
    if isinstance(valor, dict) and "properties" in esquema:
        for nome, dentro in valor.items():
            if nome not in esquema["properties"]:
                yield f"{onde}.{nome}"
            else:
                yield from nao_descritos(dentro, esquema["properties"][nome], f"{onde}.{nome}")
    elif isinstance(valor, list):
        for dentro in valor:
            yield from nao_descritos(dentro, esquema.get("items", {}), onde)
