"""Quanto custa publicar, sobre o INSERT nu e sobre o NOTIFY simples.

pgbench com 1 e com 16 clientes, rodadas intercaladas, num cluster que confirma em disco (fsync e synchronous_commit
ligados). Um conselheiro.sorteado de oito campos, publicado de três maneiras:

- core.publicar, com ninguém dormindo: o trabalhador está acordado enquanto se publica (regra 7);
- o INSERT nu das mesmas colunas na mesma tabela, com os mesmos índices, como superusuário e com a impressão já pronta;
- core.publicar com um NOTIFY no lugar de core.acordar, sem ninguém a ouvir: o mais favorável ao NOTIFY.

Metas com 16 clientes: ao menos 0,65 do INSERT nu, e 2 vezes a com NOTIFY.

    python -m bench.publicar [--rodadas N] [--segundos N]
"""

import argparse
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

import psycopg

from app.banco.cluster import Cluster
from bench.apoio import SORTEIO, cluster_duravel, criar_formigueiro, tabela
from tests.apoio.servidor import BINARIOS

_ANTES, _DEPOIS = SORTEIO.split("%s")
_NUMERO = "lpad((:n)::text, 12, '0')"
_PAYLOAD = f"('{_ANTES}' || {_NUMERO} || '{_DEPOIS}')::jsonb"
_SORTEIA = "\\set n random(1, 999999999999)\n"

ROTEIROS = {
    "publicar": f"{_SORTEIA}SELECT core.publicar('conselheiro.sorteado', {_PAYLOAD}, 'D-6a');\n",
    "nu": (
        f"{_SORTEIA}INSERT INTO core.event_log (event_id, tipo, origem, versao_schema, correlacao_id, chave, payload,"
        " publicado_em, impressao) VALUES (gen_random_uuid(), 'conselheiro.sorteado', 'D-6a', '1.0.0',"
        f" gen_random_uuid(), '00000000-0000-4000-8000-' || {_NUMERO}, {_PAYLOAD}, now(), decode(repeat('ab', 32),"
        " 'hex')) RETURNING sequence_number;\n"
    ),
    "notify": f"{_SORTEIA}SELECT core.publicar_com_notify('conselheiro.sorteado', {_PAYLOAD}, 'D-6a');\n",
}


def criar_com_notify(dsn: str) -> None:
    """As cópias de core.publicar e core._gravar_evento que avisam sempre."""
    with psycopg.connect(dsn) as bd:
        bd.execute("SET LOCAL ROLE core_dono")
        definicoes = bd.execute(
            "SELECT pg_get_functiondef(p.oid) FROM pg_proc AS p WHERE p.pronamespace = 'core'::regnamespace"
            " AND p.proname IN ('_gravar_evento', 'publicar') ORDER BY p.proname"
        ).fetchall()
        for (definicao,) in definicoes:
            copia = re.sub(r"core\.(publicar|_gravar_evento)\(", r"core.\1_com_notify(", definicao)
            bd.execute(copia.replace("IF core.ha_quem_durma() THEN", "IF true THEN"))
        assert sum("core.ha_quem_durma()" in definicao for (definicao,) in definicoes) == 1


def por_segundo(cluster: Cluster, roteiro: Path, clientes: int, segundos: int) -> float:
    """Transações por segundo, pelo pgbench."""
    endereco = cluster.endereco
    saida = subprocess.run(
        [
            BINARIOS / "pgbench", "--no-vacuum", "--protocol=prepared", f"--client={clientes}",
            f"--jobs={min(clientes, 2)}", f"--time={segundos}", f"--file={roteiro}", f"--host={endereco.soquete}",
            f"--port={endereco.porta}", "--username=postgres", "formigueiro",
        ],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    achado = re.search(r"^tps = ([\d.]+)", saida.stdout, re.MULTILINE)
    assert achado, saida.stdout + saida.stderr
    return float(achado[1])


def medir(cluster: Cluster, pasta: Path, clientes: int, rodadas: int, segundos: int) -> dict[str, list[float]]:
    taxas: dict[str, list[float]] = {nome: [] for nome in ROTEIROS}
    nomes = list(ROTEIROS)
    for rodada in range(rodadas):
        giro = rodada % len(nomes)  # cada maneira passa por cada lugar da rodada
        for nome in nomes[giro:] + nomes[:giro]:
            taxas[nome].append(por_segundo(cluster, pasta / nome, clientes, segundos))
    return taxas


def linha(clientes: int, taxas: dict[str, list[float]]) -> list[str]:
    """As medianas, e as medianas das razões de cada rodada."""
    medianas = [f"{statistics.median(taxas[nome]):.0f}" for nome in ROTEIROS]
    razoes = [
        f"{statistics.median(a / b for a, b in zip(taxas['publicar'], taxas[base], strict=True)):.2f}"
        for base in ("nu", "notify")
    ]
    return [str(clientes), *medianas, *razoes]


def principal() -> None:
    opcoes = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    opcoes.add_argument("--rodadas", type=int, default=5)
    opcoes.add_argument("--segundos", type=int, default=4)
    escolha = opcoes.parse_args()
    with cluster_duravel() as cluster, tempfile.TemporaryDirectory() as nome:
        pasta = Path(nome)
        for roteiro, texto in ROTEIROS.items():
            (pasta / roteiro).write_text(texto, encoding="utf-8")
        criar_com_notify(criar_formigueiro(cluster, "formigueiro"))
        for roteiro in ROTEIROS:  # aquece
            por_segundo(cluster, pasta / roteiro, 2, 1)
        linhas = [
            linha(clientes, medir(cluster, pasta, clientes, escolha.rodadas, escolha.segundos)) for clientes in (1, 16)
        ]
    print("Publicar um evento de 8 campos, por segundo (fsync e synchronous_commit ligados)")
    tabela(["clientes", "publicar", "INSERT nu", "com NOTIFY", "sobre o nu", "sobre o NOTIFY"], linhas)
    print("metas com 16 clientes: 0,65 do INSERT nu; 2 vezes a com NOTIFY")


if __name__ == "__main__":
    principal()
