"""O placar: recall e precisão sobre o corpus, por espécie, ao lado das bibliotecas usadas sozinhas.

python -m tests.corpus.placar [ajuste|reserva|frescas …]
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable

import phonenumbers
import tarja
from stdnum.br import cnpj as stdnum_cnpj
from stdnum.br import cpf as stdnum_cpf

from app.pecas.denylist import Denylist
from app.pecas.identificadores.localizar import localizar
from tests.corpus.leitura import Frase, Trecho, casos_denylist, frases, lista_da_denylist

TODOS = ("ajuste", "reserva", "frescas")
META = 0.99

Localizador = Callable[[str], list[Trecho]]

# As entidades da tarja que aqui são identificadores pessoais; as outras (CNJ, CEP, imóveis) são públicas.
_DA_TARJA = {
    "BR_CPF": "cpf", "BR_CNPJ": "cnpj", "BR_CNS": "cns", "BR_NIS": "pis", "BR_TITULO_ELEITOR": "titulo",
    "BR_CNH": "cnh", "BR_RENAVAM": "renavam", "BR_PLACA": "placa", "BR_PIX_EVP": "pix", "BR_TELEFONE": "telefone",
    "BR_CARTAO": "cartao",
}  # fmt: skip
_SEQUENCIA = re.compile(r"(?<!\d)\d[\d./ -]{9,18}\d(?!\d)")


def nosso(texto: str) -> list[Trecho]:
    """O sanitizador do Formigueiro."""
    return [Trecho(*achado) for achado in localizar(texto)]


def so_tarja(texto: str) -> list[Trecho]:
    """A tarja como vem."""
    return [Trecho(m.start, m.end, _DA_TARJA[m.entity]) for m in tarja.find(texto, _DA_TARJA)]


def phonenumbers_e_stdnum(texto: str) -> list[Trecho]:
    """phonenumbers para telefones e python-stdnum para CPF e CNPJ em qualquer sequência de dígitos."""
    achados = [Trecho(m.start, m.end, "telefone") for m in phonenumbers.PhoneNumberMatcher(texto, "BR")]
    for m in _SEQUENCIA.finditer(texto):
        if stdnum_cpf.is_valid(m.group()):
            achados.append(Trecho(*m.span(), "cpf"))
        elif stdnum_cnpj.is_valid(m.group()):
            achados.append(Trecho(*m.span(), "cnpj"))
    return achados


def _nucleo(texto: str, trecho: Trecho) -> set[int]:
    """As posições que identificam: dígitos e, onde não os há, letras."""
    posicoes = range(trecho.inicio, trecho.fim)
    return {i for i in posicoes if texto[i].isdigit()} or {i for i in posicoes if texto[i].isalnum()}


class Placar:
    """Acertos, faltas e alarmes falsos de um localizador."""

    def __init__(self) -> None:
        self.havia: Counter[str] = Counter()
        self.saiu: Counter[str] = Counter()
        self.achou: Counter[str] = Counter()
        self.acertou: Counter[str] = Counter()
        self.ficou = 0
        self.perdido = 0
        self.especie_trocada = 0
        self.erros: list[str] = []

    def julgar(self, frase: Frase, achados: list[Trecho]) -> None:
        """Compara o que o localizador achou com o que a frase marca."""
        cobertas = {i for a in achados for i in range(a.inicio, a.fim)}
        for t in frase.sai:
            self.havia[t.especie] += 1
            if _nucleo(frase.texto, t) <= cobertas:
                self.saiu[t.especie] += 1
            else:
                self.erros.append(f"{frase.id}: ficou {t.especie} em: {frase.texto}")
        for t in frase.fica:
            if cobertas.isdisjoint(range(t.inicio, t.fim)):
                self.ficou += 1
            else:
                self.perdido += 1
                self.erros.append(f"{frase.id}: perdeu {t.especie} em: {frase.texto}")
        for a in achados:
            self.achou[a.especie] += 1
            certos = [t for t in frase.sai if a.inicio < t.fim and t.inicio < a.fim]
            if certos:
                self.acertou[a.especie] += 1
                self.especie_trocada += a.especie not in {t.especie for t in certos}
            else:
                self.erros.append(f"{frase.id}: alarme falso «{frase.texto[a.inicio : a.fim]}» em: {frase.texto}")

    @property
    def recall(self) -> float:
        """Parte do que tinha de sair e saiu."""
        return self.saiu.total() / max(self.havia.total(), 1)

    @property
    def precisao(self) -> float:
        """Parte do que saiu e tinha de sair."""
        return self.acertou.total() / max(self.achou.total(), 1)

    def recall_de(self, especie: str) -> float:
        """O recall de uma espécie do corpus."""
        return self.saiu[especie] / max(self.havia[especie], 1)

    def precisao_de(self, especie: str) -> float:
        """A precisão do que se deu por uma espécie; 1 se nada se deu por ela."""
        return self.acertou[especie] / self.achou[especie] if self.achou[especie] else 1.0


def medir(localizador: Localizador, corpus: Iterable[Frase]) -> Placar:
    """O placar de um localizador sobre o corpus."""
    placar = Placar()
    for frase in corpus:
        placar.julgar(frase, localizador(frase.texto))
    return placar


def _imprimir(placares: dict[str, Placar]) -> None:
    def linha(titulo: str, valores: Iterable[str]) -> None:
        print(f"{titulo:24}" + "".join(f"{v:>26}" for v in valores))

    linha("", placares)
    linha("recall", (f"{p.recall:.4f}" for p in placares.values()))
    linha("precisão", (f"{p.precisao:.4f}" for p in placares.values()))
    linha("mantidos", (f"{p.ficou}/{p.ficou + p.perdido}" for p in placares.values()))
    for especie in sorted(placares["Formigueiro"].havia):
        valores = (
            f"{p.saiu[especie]}/{p.havia[especie]}  r {p.recall_de(especie):.3f}  p {p.precisao_de(especie):.3f}"
            for p in placares.values()
        )
        linha(f"  {especie}", valores)


def principal(nomes: tuple[str, ...]) -> int:
    """Imprime o placar; o código de saída diz se a meta foi alcançada, sem nenhum erro da denylist."""
    corpus = frases(*nomes)
    print(f"{len(corpus)} frases ({', '.join(nomes)})")
    localizadores = {"Formigueiro": nosso, "tarja": so_tarja, "phonenumbers+stdnum": phonenumbers_e_stdnum}
    placares = {nome: medir(localizador, corpus) for nome, localizador in localizadores.items()}
    _imprimir(placares)
    for erro in placares["Formigueiro"].erros:
        print("ERRO", erro)

    denylist = Denylist.de_texto(lista_da_denylist())
    casos = casos_denylist(*nomes)
    errados = [caso for caso in casos if denylist.verificar(caso.texto) != caso.termos]
    print(f"denylist: {len(casos) - len(errados)}/{len(casos)} casos certos")
    for caso in errados:
        print(f"ERRO {caso.id}: {denylist.verificar(caso.texto)} em vez de {caso.termos}: {caso.texto}")
    na_meta = placares["Formigueiro"].recall >= META and placares["Formigueiro"].precisao >= META
    return 0 if na_meta and not errados else 1


if __name__ == "__main__":
    sys.exit(principal(tuple(sys.argv[1:]) or TODOS))
