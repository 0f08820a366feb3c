"""Métricas em formato Prometheus: as do processo e do HTTP, contadas aqui, e as do banco, lidas a cada coleta."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import ClassVar

import psycopg
from msgspec import Struct
from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.http.banco import Banco
from app.http.catalogo import DO_BANCO, Metrica

METODOS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
LIMITE_DA_COLETA_MS = 2000
DA_COLETA = (
    ("formigueiro_banco_disponivel", "1 se o servidor do banco respondeu a esta coleta."),
    ("formigueiro_coleta_completa", "1 se esta coleta traz as métricas do banco."),
)
# O servidor respondeu, mas não com as métricas: não está migrado, ou passou do tempo.
_RESPONDEU = (psycopg.ProgrammingError, psycopg.errors.QueryCanceled)


class Serie(Struct, frozen=True):
    """Um valor de core.metricas()."""

    nome: str
    rotulos: dict[str, str]
    valor: float


class Coleta(Struct, frozen=True):
    """O que o banco respondeu a uma coleta: `disponivel`, se respondeu; `completa`, se com as métricas."""

    disponivel: bool
    completa: bool
    series: Sequence[Serie] = ()


class Coletor:
    """Lê as métricas do banco por uma conexão só dele: uma coleta não espera pelas rotas, nem elas por uma coleta.

    As coletas que chegam enquanto outra está em curso recebem o que ela trouxer.
    """

    def __init__(self, dsn: str) -> None:
        # O prazo daqui passa do limite de lá, para que quem responda a uma coleta lenta seja o servidor.
        self._banco = Banco(dsn, "metricas", maximo=1, prazo_s=LIMITE_DA_COLETA_MS / 1000 + 1)
        self._em_curso: asyncio.Task[Coleta] | None = None

    def aberto(self) -> AbstractAsyncContextManager[None]:
        return self._banco.aberto()

    async def coletar(self) -> Coleta:
        """O que o banco diz agora; sem ele, a coleta segue com as métricas do processo."""
        if self._em_curso is None or self._em_curso.done():
            self._em_curso = asyncio.create_task(_ler(self._banco))
        # Quem desiste da sua coleta não tira a dos outros.
        return await asyncio.shield(self._em_curso)


async def _ler(banco: Banco) -> Coleta:
    try:
        linhas = await banco.linhas("SELECT nome, rotulos, valor FROM core.metricas()", LIMITE_DA_COLETA_MS)
    except _RESPONDEU:
        return Coleta(disponivel=True, completa=False)
    except (psycopg.Error, TimeoutError):
        return Coleta(disponivel=False, completa=False)
    return Coleta(True, True, [Serie(*linha) for linha in linhas])


class Metricas:
    """O registro de métricas de um app; dois apps no mesmo processo não se misturam."""

    ROTULOS: ClassVar = {
        "formigueiro_http_requisicoes": ("metodo", "rota", "status"),
        "formigueiro_http_duracao_segundos": ("metodo", "rota"),
    }

    def __init__(self) -> None:
        self.registro = CollectorRegistry()
        ProcessCollector(registry=self.registro)
        self._requisicoes = Counter(
            "formigueiro_http_requisicoes",
            "Requisições respondidas, por método, rota e status.",
            self.ROTULOS["formigueiro_http_requisicoes"],
            registry=self.registro,
        )
        self._duracao = Histogram(
            "formigueiro_http_duracao_segundos",
            "Tempo até o fim da resposta, por método e rota.",
            self.ROTULOS["formigueiro_http_duracao_segundos"],
            registry=self.registro,
            buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
        )

    def contar(self, metodo: str, rota: str, status: int, duracao_s: float) -> None:
        """Conta uma requisição. `rota` é o molde, nunca o endereço: o número de séries não cresce com o uso."""
        metodo = metodo if metodo in METODOS else "outro"
        self._requisicoes.labels(metodo, rota, str(status)).inc()
        self._duracao.labels(metodo, rota).observe(duracao_s)

    def texto(self, coleta: Coleta) -> bytes:
        """Tudo, no formato de texto."""
        do_banco = CollectorRegistry()
        do_banco.register(_DoBanco(coleta))
        return generate_latest(self.registro) + generate_latest(do_banco)


class _DoBanco(Collector):
    def __init__(self, coleta: Coleta) -> None:
        self._coleta = coleta

    def collect(self) -> Iterator[Metric]:
        coleta = self._coleta
        for (nome, ajuda), valor in zip(DA_COLETA, (coleta.disponivel, coleta.completa), strict=True):
            yield GaugeMetricFamily(nome, ajuda, value=float(valor))
        if not coleta.completa:
            return
        series = _por_nome(coleta.series)
        for metrica in DO_BANCO:
            yield _familia(metrica, series.pop(metrica.nome, []))
        # Um banco já migrado por uma versão mais nova pode contar o que este código não conhece: vai sem ajuda.
        for nome, valores in series.items():
            yield _familia(Metrica(nome, "Sem descrição nesta versão.", tuple(valores[0].rotulos)), valores)


def _por_nome(series: Sequence[Serie]) -> dict[str, list[Serie]]:
    nomes: dict[str, list[Serie]] = {}
    for serie in series:
        nomes.setdefault(serie.nome, []).append(serie)
    return nomes


def _familia(metrica: Metrica, series: Sequence[Serie]) -> Metric:
    # O formato põe _total no nome do contador por conta própria.
    familia = (
        CounterMetricFamily(metrica.nome.removesuffix("_total"), metrica.ajuda, labels=metrica.rotulos)
        if metrica.tipo == "counter"
        else GaugeMetricFamily(metrica.nome, metrica.ajuda, labels=metrica.rotulos)
    )
    for serie in series:
        familia.add_metric(_valores(metrica, serie.rotulos), serie.valor)
    return familia


def _valores(metrica: Metrica, rotulos: Mapping[str, str]) -> list[str]:
    return [rotulos.get(rotulo, "") for rotulo in metrica.rotulos]
