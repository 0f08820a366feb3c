"""O que as funções fazem não depende dos ajustes da sessão de quem as chama pelo psql (regra 10, N69)."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from app.banco.migrar import migrar
from tests.apoio.rede import CONTEUDOS, Rede
from tests.rede.test_vida_inteira import DADOS, PLANO, acompanhar, varrer

OBRA, OUTRA, ANA, BIA = UUID(int=1), UUID(int=2), UUID(int=11), UUID(int=12)

ALHEIOS = {
    "DateStyle": "SQL, DMY",
    "IntervalStyle": "iso_8601",
    "TimeZone": "America/St_Johns",
    "extra_float_digits": "-15",
    "bytea_output": "escape",
    "standard_conforming_strings": "off",
    "escape_string_warning": "off",
    "array_nulls": "off",
    "transform_null_equals": "on",
    "quote_all_identifiers": "on",
    "search_path": "pg_temp",
    "default_transaction_isolation": "read committed",
    "jit": "off",
}
# De cada tabela, a ordem em que as linhas nasceram; ctid não serve, que uma atualização pode reusar um lugar.
TABELAS = {
    "core.event_log": "sequence_number",
    "core.ocorrencias": "id",
    "core.dlq": "id",
    "d6b.acompanhamentos": "data_sorteio",
    "d6b.atualizacoes": "criado_em, sequencia",
    "d6b.prazos": "criado_em",
    "d8.projetos_monitorados": "criado_em",
    "d8.historico_manutencoes": "ciclo_numero",
}
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
# O que é da hora do servidor, e não da rede; e a impressão, de um payload em que há ids sorteados.
_DO_SERVIDOR = {"impressao", "atualizado_em", "updated_at", "proxima_tentativa", "criado_em", "processed_at"}


def viver(rede: Rede) -> None:
    """Uma obra com de tudo: prazo, entrave, texto com dados pessoais, plano, ciclo gerado e cumprido, um descarte."""
    rede.sortear(OBRA, ANA)
    for tipo in CONTEUDOS:
        rede.atualizar(OBRA, ANA, tipo, texto="Falei com Zé, CPF 123.456.789-09, tel (11) 98765-4321\nAv. Brasil. Sim.")
    rede.despachar()
    rede.relogio("2026-12-18 12:00:00+00")
    rede.bd.execute("SELECT d6b.verificar_prazos_proximos()")
    rede.concluir(OBRA, ANA, "Av. trocada em 01/02/2026; CPF 123.456.789-09.", plano_manutencao=PLANO, **DADOS)
    rede.atualizar(OUTRA, BIA)  # sem sorteio: um descarte
    rede.despachar()
    gerada = varrer(rede, "2027-04-10 12:00:00+00")
    acompanhar(rede, UUID(gerada["demanda_id"]), BIA, status_execucao="parcial", observacoes="Tel 11 98765-4321.")
    rede.bd.execute("CALL d8.executar_varredura()")
    varrer(rede, "2030-12-01 12:00:00+00")


def contar(rede: Rede) -> list[Any]:
    """Tudo o que ficou, com os ids sorteados trocados pela ordem em que aparecem."""
    linhas = [
        {chave: valor for chave, valor in linha.items() if chave not in _DO_SERVIDOR}
        for tabela, ordem in TABELAS.items()
        for (linha,) in rede.bd.execute(f"SELECT to_jsonb(t) FROM {tabela} AS t ORDER BY {ordem}").fetchall()
    ]
    linhas += [
        linha
        for (linha,) in rede.bd.execute(
            "SELECT jsonb_build_array(l.origem, l.o_que, l.detalhe - 'proxima_tentativa')"
            "  FROM core.linha_do_tempo(%s) AS l",
            [OBRA],
        ).fetchall()
    ]
    vistos: dict[str, str] = {}
    texto = json.dumps(linhas, ensure_ascii=False, sort_keys=True)
    texto = _UUID.sub(lambda achado: vistos.setdefault(achado[0], f"id{len(vistos)}"), texto)
    return list(json.loads(texto))


@pytest.fixture
def comum(rede: Rede) -> list[Any]:
    viver(rede)
    rede.bd.execute("SET TimeZone = 'UTC'")
    return contar(rede)


def test_a_vida_de_uma_obra_e_a_mesma_em_qualquer_sessao(comum: list[Any], banco_vazio: Callable[[], str]) -> None:
    outro = banco_vazio()
    migrar(outro, simulacao=True)
    with psycopg.connect(outro, autocommit=True) as bd:
        alheia = Rede(bd)
        alheia.relogio("2026-11-30 12:00:00+00")
        _ajustar(bd, ALHEIOS)
        viver(_SoJson(bd))
        for nome in ALHEIOS:
            bd.execute(f"RESET {nome}")
        bd.execute("SET TimeZone = 'UTC'")
        assert contar(alheia) == comum


def _ajustar(bd: psycopg.Connection[Any], ajustes: dict[str, str]) -> None:
    for nome, valor in ajustes.items():
        bd.execute("SELECT set_config(%s, %s, false)", [nome, valor])


class _SoJson(Rede):
    """Uma rede que lê as linhas por JSON: o psycopg só sabe ler datas em ISO."""

    def linhas(self, consulta: str, *valores: object) -> list[dict[str, Any]]:
        linhas = self.bd.execute(f"SELECT to_jsonb(q) FROM ({consulta}) AS q", valores).fetchall()
        for (linha,) in linhas:
            if "publicado_em" in linha:
                linha["publicado_em"] = datetime.fromisoformat(linha["publicado_em"]).astimezone(UTC)
        return [linha for (linha,) in linhas]
