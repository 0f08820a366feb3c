"""Cada peça de Python com o pior texto que se achou: 10.000 caracteres, e uma denylist de 5.000 termos.

Para cada peça, todos os textos de tests/app/pecas/adversos.py; de cada um, a mediana de três vezes, em CPU do
processo, que não conta a espera por outros programas. Meta: menos de 50 ms cada uma.

    python -m bench.pecas
"""

import statistics
import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import cache
from uuid import UUID

from app.pecas.caminho import extrair_caminho
from app.pecas.denylist import Denylist
from app.pecas.descricao import descrever
from app.pecas.resumo import AtualizacaoDoCiclo, Ciclo, Desfecho, compor
from app.pecas.sanitizador import sanitizar
from app.pecas.sugestao import ParametrosIa, sugerir
from bench.apoio import tabela
from tests.app.pecas.adversos import adversos

TAMANHO = 10_000
CAMPO = 5_000  # conteudo_estruturado inteiro cabe em 5.120 bytes
META_MS = 50.0
INICIO = datetime(2027, 1, 4, 12, tzinfo=UTC)


def sugestao(tipo: str) -> Callable[[str], object]:
    parametros = ParametrosIa(ia_habilitada=True, ia_score_fallback=0.5)
    return lambda texto: sugerir(texto, tipo, UUID(int=1), date(2027, 3, 12), parametros)


@cache
def ciclo(texto: str) -> Ciclo:
    """Um ciclo cheio: 500 atualizações com descrições no teto, e o texto adverso no desfecho."""
    atualizacoes = [
        AtualizacaoDoCiclo(UUID(int=n), n, "contato_realizado", INICIO + timedelta(hours=n), texto[:2_000], False)
        for n in range(1, 501)
    ]
    desfecho = Desfecho(UUID(int=501), 501, INICIO + timedelta(days=30), texto, False)
    return Ciclo(INICIO, None, "America/Sao_Paulo", atualizacoes, desfecho)


def pecas() -> dict[str, Callable[[str], object]]:
    conteudo = {"contato_nome": "Ana Lima", "canal": "telefone"}
    return {
        "sanitizador": sanitizar,
        "denylist": Denylist([f"termo{n} ruim" for n in range(5_000)]).verificar,
        "descrição, texto adverso": lambda texto: descrever("contato_realizado", conteudo, texto),
        "descrição, texto e campo adversos": lambda texto: descrever(
            "contato_realizado", conteudo | {"resultado": texto[:CAMPO]}, texto
        ),
        "caminho": lambda texto: extrair_caminho("contato_realizado", conteudo | {"resultado": texto[:CAMPO]}),
        "sugestão, protocolo_aberto": sugestao("protocolo_aberto"),
        "sugestão, prazo_registrado": sugestao("prazo_registrado"),
        "sugestão, status_atualizado": sugestao("status_atualizado"),
        "resumo_v1, 500 atualizações": lambda texto: compor(ciclo(texto)),
    }


def custo_ms(peca: Callable[[str], object], texto: str, vezes: int = 3) -> float:
    tempos = []
    for _ in range(vezes):
        inicio = time.process_time()
        peca(texto)
        tempos.append((time.process_time() - inicio) * 1e3)
    return statistics.median(tempos)


def principal() -> None:
    textos = adversos(TAMANHO)
    linhas = []
    for nome, peca in pecas().items():
        custos = sorted(((custo_ms(peca, texto), caso) for caso, texto in textos.items()), reverse=True)
        (pior, caso), (segundo, outro) = custos[:2]
        mediana = statistics.median(custo for custo, _ in custos)
        linhas.append([nome, f"{mediana:.1f}", f"{pior:.1f}", caso, f"{segundo:.1f}", outro])
    print(f"Peças de Python, {TAMANHO} caracteres, em ms de CPU ({len(textos)} textos)")
    tabela(["", "mediana", "pior", "texto", "segundo", "texto"], linhas)
    passam = [linha[0] for linha in linhas if float(linha[2]) >= META_MS]
    print(f"meta: menos de {META_MS:.0f} ms; acima dela: {', '.join(passam) or 'nenhuma'}")


if __name__ == "__main__":
    principal()
