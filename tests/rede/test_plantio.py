"""Dados pessoais plantados no relato e nos campos não chegam a nada público, num ciclo inteiro (E11, E29)."""

import asyncio
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from app.pecas.denylist import Denylist
from app.trabalhador.trabalhador import esvaziar
from tests.apoio.rede import CONTEUDOS, Rede

DEMANDA, ANA = UUID(int=1), UUID(int=11)
PLANTADOS = ("529.982.247-25", "111.444.777-35", "(11) 90123-4567", "(21) 90987-6543", "ana.lima@exemplo.com.br")
RELATO = (
    "Falei com a moradora, CPF 529.982.247-25, e com o filho, CPF 111.444.777-35. Telefones: (11) 90123-4567 e "
    "(21) 90987-6543; e-mail ana.lima@exemplo.com.br. Depois abri o protocolo 2027/0098."
)
LIVRES = [
    "contato_nome",
    "contato_orgao",
    "resultado",
    "orgao",
    "link_acompanhamento",
    "tipo_documento",
    "descricao",
    "orgao_envolvido",
    "descricao_entrave",
    "fonte_informacao",
    "descricao_prazo",
    "fonte_estimativa",
]
PLANO = {"intervalo_dias": 30, "tipo": RELATO, "prazo_tolerancia_dias": 5, "vida_util_dias": 300}

# O que cada evento mostra a quem não é da rede. texto_estruturado, conteudo_estruturado e resumo_final viajam como o
# conselheiro os escreveu, por contrato (E11): quem os publica é a D-7, depois da moderação.
PUBLICO = {
    "conselheiro.atualização_publicada": ("descricao_sanitizada", "caminho"),
    "demanda.resumo_ciclo_atualizado": ("resumo",),
    "demanda.recebida": ("texto_bruto", "dossie", "localizacao_bruta", "categoria_id", "subcategoria_id"),
    "demanda.manutenção_gerada": ("dossie", "localizacao", "tipo_manutencao", "categoria"),
}


def esvaziar_tudo(dsn: str) -> None:
    async def rodar() -> None:
        async with await AsyncConnection.connect(
            make_conninfo(dsn, user="formigueiro_app"), autocommit=True
        ) as conexao:
            await esvaziar(conexao, Denylist.de_texto("idiota"))

    asyncio.run(rodar())


def vazou(valor: object) -> list[str]:
    texto = str(valor)
    return [plantado for plantado in PLANTADOS if plantado in texto]


@pytest.fixture
def plantada(rede: Rede, dsn: str) -> Rede:
    """Uma demanda cujo relato inteiro está plantado, concluída com plano, e a manutenção que nasceu dela, também."""
    plantio: dict[str, Any] = dict.fromkeys(LIVRES, RELATO)
    rede.sortear(DEMANDA, ANA)
    for tipo, conteudo in CONTEUDOS.items():
        rede.atualizar(
            DEMANDA, ANA, tipo, plantio | conteudo | {campo: RELATO for campo in conteudo if campo in LIVRES}, RELATO
        )
    obra: dict[str, Any] = {
        "plano_manutencao": PLANO,
        "categoria": "3.9_pracas_parques",
        "subcategoria": RELATO,
        "localizacao": {"lat": -23.5, "lng": -46.6, "endereco": RELATO},
        "titulo": RELATO,
        "responsavel_tecnico": RELATO,
        "materiais_utilizados": [RELATO, "areia"],
    }
    rede.concluir(DEMANDA, ANA, RELATO, **obra)
    esvaziar_tudo(dsn)
    for mes in ("2027-01", "2027-02"):
        rede.relogio(f"{mes}-15 12:00+00")
        rede.bd.execute("CALL d8.executar_varredura()")
        rede.despachar()
        manutencao = UUID(rede.eventos("demanda.manutenção_gerada")[-1]["payload"]["demanda_id"])
        rede.sortear(manutencao, ANA)
        rede.concluir(manutencao, ANA, RELATO, observacoes=RELATO)
        esvaziar_tudo(dsn)
    return rede


def test_nada_plantado_aparece_em_publico(plantada: Rede) -> None:
    vistos = set()
    for evento in plantada.eventos():
        for campo in PUBLICO.get(evento["tipo"], ()):
            if campo in evento["payload"]:
                vistos.add((evento["tipo"], campo))
                assert vazou(evento["payload"][campo]) == [], (evento["tipo"], campo)
    assert ("demanda.recebida", "texto_bruto") in vistos
    assert ("demanda.recebida", "dossie") in vistos
    assert ("demanda.resumo_ciclo_atualizado", "resumo") in vistos
    dossie = plantada.eventos("demanda.manutenção_gerada")[-1]["payload"]["dossie"]
    assert "removido" in dossie["historico_manutencoes"][0]["observacoes"]
    assert plantada.um("SELECT count(*) FROM core.ocorrencias WHERE nivel = 'erro'") == 0


def test_nada_plantado_fica_nas_ocorrencias_nem_no_estado(plantada: Rede) -> None:
    for ocorrencia in plantada.ocorrencias():
        assert vazou(ocorrencia) == []
    assert vazou(plantada.um("SELECT core.estado()")) == []


def test_formigueiro_leitura_le_o_publico_e_nele_nada_plantado_nem_quem_fez(plantada: Rede, dsn: str) -> None:
    with psycopg.connect(make_conninfo(dsn, user="formigueiro_leitura"), autocommit=True) as leitor:
        visoes = [
            visao
            for (visao,) in leitor.execute(
                "SELECT c.oid::regclass::text FROM pg_class AS c"
                " WHERE c.relnamespace::regnamespace::text IN ('core', 'd6b', 'd8')"
                "   AND c.relkind IN ('r', 'v') AND has_table_privilege(c.oid, 'SELECT')"
            )
        ]
        lido = {visao: str(leitor.execute(f"SELECT to_jsonb(v) FROM {visao} AS v").fetchall()) for visao in visoes}
    assert lido.keys() == {
        "d6b.atualizacoes_publicas",
        "d6b.demandas_publicas",
        "d8.ciclos_publicos",
        "d8.contadores",
        "d8.projetos_publicos",
    }
    for visao, linhas in lido.items():
        assert linhas != "[]", visao
        assert vazou(linhas) == [], visao
        assert str(ANA) not in linhas, visao
    # Das obras, nenhum texto de quem as concluiu: nomes, documentos e placas a máscara não conhece.
    assert "moradora" in str(plantada.um("SELECT dossie_original FROM d8.projetos_monitorados"))
    assert "moradora" not in lido["d8.projetos_publicos"] + lido["d8.ciclos_publicos"]
    assert CONTEUDOS["protocolo_aberto"]["protocolo_numero"] in lido["d6b.demandas_publicas"]  # type: ignore[operator]


def test_o_suspeito_nao_e_publico(rede: Rede, dsn: str) -> None:
    rede.sortear(DEMANDA, ANA)
    rede.atualizar(DEMANDA, ANA, "contato_realizado", texto="Falei com aquele idiota da obra.")
    rede.atualizar(DEMANDA, ANA, "protocolo_aberto")
    esvaziar_tudo(dsn)
    assert rede.um("SELECT array_agg(conteudo_suspeito ORDER BY sequencia) FROM d6b.publicacoes") == [True, False]
    assert rede.um("SELECT array_agg(tipo ORDER BY sequencia) FROM d6b.atualizacoes_publicas") == ["protocolo_aberto"]
    # Nem por uma condição que falha mostrando o que leu.
    assert rede.um("SELECT reloptions FROM pg_class WHERE oid = 'd6b.atualizacoes_publicas'::regclass") == [
        "security_barrier=true"
    ]


def test_o_numero_do_protocolo_nao_se_perde(plantada: Rede) -> None:
    resumos = [evento["payload"]["resumo"] for evento in plantada.eventos("demanda.resumo_ciclo_atualizado")]
    assert any(CONTEUDOS["protocolo_aberto"]["protocolo_numero"] in resumo for resumo in resumos)
