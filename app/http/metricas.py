"""Métricas em formato Prometheus: as do HTTP, contadas aqui, e as do barramento, lidas do banco a cada coleta."""

from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.http.prontidao import Retrato

METODOS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class Metricas:
    """O registro de métricas de um app; dois apps no mesmo processo não se misturam."""

    def __init__(self) -> None:
        self.registro = CollectorRegistry()
        self._requisicoes = Counter(
            "formigueiro_http_requisicoes",
            "Requisições respondidas, por método, rota e status.",
            ["metodo", "rota", "status"],
            registry=self.registro,
        )
        self._duracao = Histogram(
            "formigueiro_http_duracao_segundos",
            "Tempo até o fim da resposta, por método e rota.",
            ["metodo", "rota"],
            registry=self.registro,
            buckets=(0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
        )

    def contar(self, metodo: str, rota: str, status: int, duracao_s: float) -> None:
        """Conta uma requisição. `rota` é o molde, nunca o endereço: o número de séries não cresce com o uso."""
        metodo = metodo if metodo in METODOS else "outro"
        self._requisicoes.labels(metodo, rota, str(status)).inc()
        self._duracao.labels(metodo, rota).observe(duracao_s)

    def texto(self, retrato: Retrato | None) -> bytes:
        """Tudo, no formato de texto; sem retrato, o banco está fora de alcance, e só há as do HTTP."""
        do_banco = CollectorRegistry()
        do_banco.register(_DoBanco(retrato))
        return generate_latest(self.registro) + generate_latest(do_banco)


class _DoBanco(Collector):
    def __init__(self, retrato: Retrato | None) -> None:
        self._retrato = retrato

    def collect(self) -> Iterator[Metric]:
        r = self._retrato
        yield _medida("banco_alcancavel", "Se o banco respondeu a esta coleta.", [], [((), float(r is not None))])
        if r is None:
            return
        colonias = [((c.colonia,), c) for c in r.colonias]
        yield _medida(
            "barramento_atraso_eventos",
            "Números de sequência publicados que a colônia ainda não leu.",
            ["colonia"],
            [(rotulo, c.atraso_eventos) for rotulo, c in colonias],
        )
        yield _medida(
            "barramento_atraso_segundos",
            "Idade do primeiro evento que a colônia ainda não leu.",
            ["colonia"],
            [(rotulo, c.atraso_segundos) for rotulo, c in colonias],
        )
        yield _medida(
            "barramento_horizonte_retido_segundos",
            "Há quanto tempo uma transação alheia segura a leitura da colônia.",
            ["colonia"],
            [(rotulo, c.horizonte_retido_segundos) for rotulo, c in colonias],
        )
        yield _medida(
            "dlq_abertas",
            "Entradas da DLQ em aberto, por estado.",
            ["colonia", "estado"],
            [((c.colonia, "pendente"), c.dlq_pendente) for c in r.colonias]
            + [((c.colonia, "em_espera"), c.dlq_em_espera) for c in r.colonias],
        )
        yield _medida(
            "publicacoes_pendentes",
            "Textos à espera do trabalhador.",
            ["colonia"],
            [((f.colonia,), f.pendentes) for f in r.filas],
        )
        yield _medida(
            "publicacoes_atraso_segundos",
            "Idade do texto que espera há mais tempo.",
            ["colonia"],
            [((f.colonia,), f.segundos) for f in r.filas],
        )


def _medida(
    nome: str, ajuda: str, rotulos: Sequence[str], valores: Sequence[tuple[tuple[str, ...], float]]
) -> GaugeMetricFamily:
    familia = GaugeMetricFamily(f"formigueiro_{nome}", ajuda, labels=rotulos)
    for rotulo, valor in valores:
        familia.add_metric(rotulo, valor)
    return familia
