"""As regras de alerta e o painel só falam de métricas que uma coleta de verdade traz, com os rótulos que ela traz."""

import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
import yaml
from litestar.testing import TestClient
from prometheus_client.parser import text_string_to_metric_families
from psycopg.conninfo import make_conninfo

from app.ajustes import Ajustes
from app.http.aplicacao import criar_app
from app.http.catalogo import DO_BANCO
from app.http.seguranca import ChaveJwt
from ops.conferir_observabilidade import PROMETHEUS, consultas_do_painel

DO_PROMETHEUS = {"up": {"job", "instance"}, "ALERTS": {"alertname", "alertstate"}}
DA_COLETA = {"job", "instance"}  # o Prometheus os põe em toda série

_SELETOR = re.compile(r"\b(?P<nome>[a-zA-Z_:][\w:]*)(?P<filtro>\{[^}]*\})?(?!\w*\()")
_AGRUPAMENTO = re.compile(r"\b(?:by|on|without|ignoring)\s*\((?P<rotulos>[^)]*)\)")
_PALAVRAS = {"and", "or", "unless", "by", "on", "without", "ignoring", "bool", "offset", "inf", "nan"}


def _regras() -> list[dict[str, Any]]:
    texto = (PROMETHEUS / "regras.yml").read_text(encoding="utf-8")
    return [regra for grupo in yaml.safe_load(texto)["groups"] for regra in grupo["rules"]]


def metricas(expressao: str) -> Iterator[tuple[str, set[str]]]:
    """(métrica, rótulos que a consulta filtra) de cada seletor de uma expressão PromQL."""
    sem_grupos = _AGRUPAMENTO.sub(" ", expressao)
    sem_janelas = re.sub(r"\[[^\]]*\]", "", sem_grupos)
    for seletor in _SELETOR.finditer(re.sub(r"\b\d[\w.]*", "", sem_janelas)):
        depois = sem_janelas.partition(seletor[0])[2].lstrip()
        if seletor["nome"] not in _PALAVRAS and not depois.startswith("("):
            filtro = re.sub(r'"[^"]*"', '""', seletor["filtro"] or "")
            yield seletor["nome"], set(re.findall(r"(\w+)\s*[=!]", filtro))


CONSULTAS = [(regra["alert"], regra["expr"]) for regra in _regras()] + list(consultas_do_painel())


@pytest.mark.parametrize(
    ("expressao", "esperadas"),
    [
        ('max by (a, b) (x_total{c="d(e)", f!~"g"}) > 3', [("x_total", {"c", "f"})]),
        ("sum(rate(a[5m])) / sum(rate(b[5m])) > 0.05", [("a", set()), ("b", set())]),
        ("a == 1 and b == 0", [("a", set()), ("b", set())]),
        ("histogram_quantile(0.95, sum by (r, le) (rate(h_bucket[5m])))", [("h_bucket", set())]),
        ('count(up{job="x"} == 1) or vector(0)', [("up", {"job"})]),
    ],
)
def test_como_se_leem_as_consultas(expressao: str, esperadas: list[tuple[str, set[str]]]) -> None:
    assert list(metricas(expressao)) == esperadas


@pytest.fixture
def rotulos(dsn: str, bd: psycopg.Connection[Any]) -> dict[str, set[str]]:
    """Os rótulos de cada métrica de uma coleta de verdade, e das que só às vezes têm série."""
    for (comando,) in bd.execute("SELECT comando FROM core.agendamentos").fetchall():
        bd.execute(comando)
    app = criar_app(Ajustes(), make_conninfo(dsn, user="formigueiro_app"), ChaveJwt.de_segredo("s" * 32))
    with TestClient(app) as cliente:
        cliente.get("/healthz")
        texto = cliente.get("/metrics").text
    achados = {metrica.nome: set(metrica.rotulos) for metrica in DO_BANCO} | DO_PROMETHEUS
    assert set(achados) - set(DO_PROMETHEUS) <= set(re.findall(r"^# TYPE (\S+)", texto, re.MULTILINE))
    for familia in text_string_to_metric_families(texto):
        for amostra in familia.samples:
            achados.setdefault(amostra.name, set()).update(amostra.labels)
    return achados


def test_as_consultas_so_citam_o_que_uma_coleta_traz(rotulos: dict[str, set[str]]) -> None:
    estranhas = []
    for quem, expressao in CONSULTAS:
        citadas = list(metricas(expressao))
        assert citadas, expressao
        for nome, filtrados in citadas:
            if nome not in rotulos or not filtrados <= rotulos[nome] | DA_COLETA:
                estranhas.append((quem, nome, filtrados))
        agrupados = {
            rotulo.strip() for grupo in _AGRUPAMENTO.findall(expressao) for rotulo in grupo.split(",") if rotulo.strip()
        }
        existentes = set().union(*(rotulos.get(nome, set()) for nome, _ in citadas)) | DA_COLETA
        if not agrupados <= existentes:
            estranhas.append((quem, "by", agrupados - existentes))
    assert estranhas == []


def test_o_painel_mostra_toda_metrica_do_banco() -> None:
    mostradas = {nome for _, expressao in consultas_do_painel() for nome, _ in metricas(expressao)}
    assert {metrica.nome for metrica in DO_BANCO} - mostradas == set()


def test_todo_alerta_tem_um_teste_que_o_dispara_e_diz_o_que_fazer() -> None:
    testes = (PROMETHEUS / "regras_teste.yml").read_text(encoding="utf-8")
    for regra in _regras():
        assert re.search(rf'alertname(: |="){regra["alert"]}\b', testes), regra["alert"]
        assert regra["labels"]["severidade"] in {"grave", "atencao"}
        assert set(regra["annotations"]) == {"resumo", "acao"}
