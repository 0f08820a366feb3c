"""Nenhum texto, por mais longo, detém o laço de eventos: `servir` responde enquanto o trabalhador o compõe."""

import time
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from app.trabalhador.composicao import SEM_EXAME
from tests.apoio.rede import Rede
from tests.app.linha_de_comando.test_parada import Servico

ANA = UUID(int=11)
DEMANDAS = [UUID(int=n) for n in range(1, 7)]
LONGO = "Frase longa número 12345. " * 115_000
PUBLICADA = "conselheiro.atualização_publicada"


def guardar_como_antes(bd: psycopg.Connection[Any], texto: str) -> None:
    """Na fila, mas com o texto que a versão sem limite teria aceitado."""
    with bd.transaction():
        bd.execute("SET LOCAL session_replication_role = replica")
        bd.execute("UPDATE d6b.atualizacoes SET texto_estruturado = %s", [texto])


@pytest.mark.parametrize("texto", [LONGO, "(11) 98765-4321 " * 625], ids=["de antes do limite", "o maior que entra"])
def test_healthz_responde_enquanto_se_compoe_o_maior_texto(
    bd: psycopg.Connection[Any], dsn: str, tmp_path: Path, texto: str
) -> None:
    rede = Rede(bd)
    for demanda in DEMANDAS:
        rede.sortear(demanda, ANA)
        rede.atualizar(demanda, ANA)
    rede.despachar()
    guardar_como_antes(bd, texto)
    servico = Servico(dsn, tmp_path / "log")
    try:
        pior, fim = 0.0, time.monotonic() + 60
        while len(rede.linhas("SELECT FROM core.event_log WHERE tipo = %s", PUBLICADA)) < len(DEMANDAS):
            assert time.monotonic() < fim, servico.log.read_text()
            inicio = time.monotonic()
            assert servico.pedir("/healthz") == 200
            pior = max(pior, time.monotonic() - inicio)
    finally:
        servico.processo.terminate()
        servico.processo.wait(30)
    assert pior < 1
    longas = len(texto) > 10_000
    versoes = {evento["versao_schema"] for evento in rede.eventos(PUBLICADA)}
    assert versoes == ({"1.2.0"} if longas else {"1.0.0"})
    # O que não se examinou sai como suspeito e fica fora do resumo; e, grande demais, não detém a sua chave.
    termos = {tuple(evento["payload"].get("termos_suspeitos", ())) for evento in rede.eventos(PUBLICADA)}
    assert termos == ({(SEM_EXAME,)} if longas else {()})
    assert rede.um("SELECT count(*) FROM core.dlq") == 0
    grandes = [ocorrencia for ocorrencia in rede.ocorrencias() if "o limite é de" in ocorrencia["mensagem"]]
    assert len(grandes) == (len(DEMANDAS) if longas else 0)
    resumos = [evento["payload"]["resumo"] for evento in rede.eventos("demanda.resumo_ciclo_atualizado")]
    assert all(("Frase longa" not in resumo) for resumo in resumos)
