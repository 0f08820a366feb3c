"""O custo de cada peça cresce com o texto, e não com o quadrado dele."""

import time
from collections.abc import Callable
from datetime import date
from uuid import UUID

import pytest

from app.pecas.denylist import Denylist
from app.pecas.descricao import descrever
from app.pecas.sanitizador import sanitizar
from app.pecas.sugestao import ParametrosIa, sugerir
from tests.app.pecas.adversos import adversos

Peca = Callable[[str], object]

_PEQUENO, _GRANDE = 2_000, 8_000
# Linear dá 4 (e o custo fixo, menos); quadrático, 16.
_RAZAO_MAXIMA = 9.0
# Abaixo disto o relógio mede ruído.
_PISO = 0.004

_DENYLIST = Denylist([f"termo{i} ruim" for i in range(2_000)] + ["puta", "merda", "cu", "arra"])
_PARAMETROS = ParametrosIa(ia_habilitada=True, ia_score_fallback=0.5)
_DEMANDA = UUID(int=1)


def _sugestao(tipo: str) -> Peca:
    return lambda texto: sugerir(texto, tipo, _DEMANDA, date(2027, 3, 12), _PARAMETROS)


_PECAS: dict[str, Peca] = {
    "sanitizador": sanitizar,
    "denylist": _DENYLIST.verificar,
    "descrição": lambda texto: descrever("contato_realizado", {"contato_nome": "Ana Lima"}, texto),
    "protocolo": _sugestao("protocolo_aberto"),
    "prazo": _sugestao("prazo_registrado"),
    "situação": _sugestao("status_atualizado"),
}


def _custo(peca: Peca, texto: str, vezes: int = 1) -> float:
    """O menor tempo de processador."""
    tempos = []
    for _ in range(vezes):
        inicio = time.process_time()
        peca(texto)
        tempos.append(time.process_time() - inicio)
    return min(tempos)


@pytest.mark.parametrize("nome", _PECAS)
def test_texto_quatro_vezes_maior_custa_perto_de_quatro_vezes_mais(nome: str) -> None:
    peca = _PECAS[nome]
    pequenos, grandes = adversos(_PEQUENO), adversos(_GRANDE)
    piores = {}
    for caso, texto in grandes.items():
        razao = _custo(peca, texto) / max(_custo(peca, pequenos[caso]), _PISO)
        if razao > _RAZAO_MAXIMA:
            # Outra medida, mais cuidadosa, para não culpar a peça por um soluço da máquina.
            razao = _custo(peca, texto, 5) / max(_custo(peca, pequenos[caso], 5), _PISO)
        if razao > _RAZAO_MAXIMA:
            piores[caso] = round(razao, 1)

    assert piores == {}


def test_o_tamanho_da_lista_nao_muda_o_custo_da_denylist() -> None:
    texto = "o documento do deputado seguiu para a controladoria " * 190
    pequena = Denylist([f"palavrao{i}" for i in range(50)])
    grande = Denylist([f"palavrao{i}" for i in range(5_000)])

    assert _custo(grande.verificar, texto, 5) < 3 * max(_custo(pequena.verificar, texto, 5), _PISO)
