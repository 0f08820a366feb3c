"""Onde estão os identificadores pessoais de um texto.

Uma leitura da esquerda para a direita. Cada grupo de dígitos é visto com o rótulo mais próximo à sua
esquerda («CPF», «protocolo») e com a forma que faz com os grupos seguintes (3, 3, 3 e 2 dígitos). O que já
foi removido corta o contexto: por isso o resultado, lido outra vez, não muda.
"""

import re
from itertools import pairwise
from typing import NamedTuple

from app.pecas.identificadores.especiais import Candidato, candidatos, certos
from app.pecas.identificadores.formas import EXATOS, FORMAS, MAIS_GRUPOS, TELEFONE_PUBLICO, TOLERADOS, Forma, Grau
from app.pecas.identificadores.marcas import MARCA
from app.pecas.identificadores.rotulos import NENHUM, Contexto, Rotulos
from app.pecas.identificadores.vista import dobrar, ver


class Achado(NamedTuple):
    """Um identificador: `texto[inicio:fim]` é o que sai, `especie` a marca que entra."""

    inicio: int
    fim: int
    especie: str


_GRUPO = re.compile(r"[0-9]+")
_ENTRE_GRUPOS = re.compile(r"[ .\-/()]{1,4}|[xX]{2}")
# O que liga um número ao anterior da mesma lista: «e», vírgula, «o outro é», «o anterior (».
_LISTA = re.compile(
    r"(?: ?\)?(?: ?[,;/•|+] ?| ?\n[-• ]*| -? ?)?)(?:(?:e|ou|mais) )?(?:(?:o|a|os|as|de|do|da) )?"
    r"(?:(?:anterior|outr[oa]|primeir[oa]|segund[oa]|nov[oa]|antig[oa]|meu|minha|dele|dela)"
    r"(?: (?:e|é|era|foi))? ?[:(]? ?)?"
    r"(?:n[.º°o]{0,2} ?)?"
)
_DATA = re.compile(r"\d{1,2}[./-]\d{1,2}[./-](?:19|20)?\d{2}|(?:19|20)\d{2}-\d{2}-\d{2}")
_URL = re.compile(r"(?:https?://|www\.)\S+", re.I)
_APAGADO = re.compile("\x00+")
_UF = re.compile(
    r"(?<![A-Za-z])(?:AC|AL|AM|AP|BA|CE|DF|ES|GO|MA|MG|MS|MT|PA|PB|PE|PI|PR|RJ|RN|RO|RR|RS|SC|SE|SP|TO)[- ]$"
)
_X_FINAL = re.compile(r"-?[xX](?![0-9A-Za-z\x00])")
_ORGAO_DO_RG = re.compile(r" ?[-,/(]? ?(?:ssp|detran|iirgd|ifp|igp|sesp|sejusp|sds|pc)(?![a-z])")
_EMENDAS = frozenset("./-,:")
_VIZINHO = frozenset("0123456789\x00")


def _apagar(m: re.Match[str]) -> str:
    return "\x00" * len(m.group())


def _sem(vista: str, trechos: list[Candidato]) -> str:
    """A vista com os trechos apagados, no mesmo comprimento."""
    partes: list[str] = []
    ate = 0
    for c in trechos:
        partes += (vista[ate : c.inicio], "\x00" * (c.fim - c.inicio))
        ate = c.fim
    partes.append(vista[ate:])
    return "".join(partes)


class _Leitura:
    """O estado da leitura: o texto visto, até onde já se cortou, e o número anterior da lista."""

    def __init__(self, texto: str) -> None:
        inteira = ver(MARCA.sub(_apagar, texto))
        self._certos = certos(inteira)
        self._vista = vista = _sem(inteira, self._certos)
        self._dobra = dobrar(vista)
        self._rotulos = Rotulos(vista, self._dobra)
        self._grupos = [m.span() for m in _GRUPO.finditer(vista)]
        self._comprimentos = tuple(fim - inicio for inicio, fim in self._grupos)
        # Se o grupo i e o seguinte podem ser do mesmo número, e quantos, a partir dele, podem.
        self._liga = [_ENTRE_GRUPOS.fullmatch(vista, a[1], b[0]) is not None for a, b in pairwise(self._grupos)]
        self._liga.append(False)
        self._cadeia = [1] * len(self._grupos)
        for i in range(len(self._grupos) - 2, -1, -1):
            if self._liga[i]:
                self._cadeia[i] = min(self._cadeia[i + 1] + 1, MAIS_GRUPOS)
        self._urls = [m.span() for m in _URL.finditer(vista)]
        self._url = 0
        self._apagados = [m.end() for m in _APAGADO.finditer(vista)]
        self._apagado = 0
        self._corte = 0
        self._fim_anterior = -1
        self._contexto_anterior = NENHUM
        self._ligados = 0
        self._achados: list[Achado] = []

    def ler(self) -> list[Achado]:
        """Lê o texto todo; os achados vêm em ordem."""
        provaveis = candidatos(self._vista)
        p = 0
        for i, (inicio, _) in enumerate(self._grupos):
            while p < len(provaveis) and provaveis[p].inicio <= inicio:
                self._provavel(provaveis[p])
                p += 1
            if not self._ja_saiu(inicio):
                self._cortar_no_apagado(inicio)
                self._numero(i)
        for restante in provaveis[p:]:
            self._provavel(restante)
        return sorted([*self._achados, *(Achado(c.inicio, c.fim, c.especie) for c in self._certos)])

    def _ja_saiu(self, posicao: int) -> bool:
        return bool(self._achados) and posicao < self._achados[-1].fim

    def _cortar_no_apagado(self, posicao: int) -> None:
        """Uma marca, ou o que já é certo, corta o contexto e a lista."""
        while self._apagado < len(self._apagados) and self._apagados[self._apagado] <= posicao:
            self._corte = max(self._corte, self._apagados[self._apagado])
            self._fim_anterior = -1
            self._ligados = 0
            self._apagado += 1

    # --- contexto -------------------------------------------------------------------------------------

    def _contexto(self, inicio: int, veiculo: bool = False) -> Contexto:
        proprio = self._rotulos.a_esquerda(inicio, self._corte, veiculo)
        if proprio is not NENHUM:
            return proprio
        if self._fim_anterior >= 0 and _LISTA.fullmatch(self._vista, self._fim_anterior, inicio):
            return self._contexto_anterior
        return NENHUM

    def _em_url(self, inicio: int) -> bool:
        while self._url < len(self._urls) and self._urls[self._url][1] <= inicio:
            self._url += 1
        return self._url < len(self._urls) and self._urls[self._url][0] <= inicio

    def _encostado(self, inicio: int, fim: int, barra_separa: bool = False) -> bool:
        """Faz parte de um número ou código maior: «6017.2027/52998224725», «A52998224725».

        Com `barra_separa`, «90123-4567/90123-4568» são dois números.
        """
        v = self._vista
        emenda = _EMENDAS if not barra_separa else _EMENDAS - {"/"}
        antes, depois = v[inicio - 1 : inicio], v[fim : fim + 1]
        if antes.isalnum() or antes == "\x00" or depois.isalnum():
            return True
        if antes in emenda and v[inicio - 2 : inicio - 1] in _VIZINHO:
            return True
        return depois == "\x00" or (depois in emenda and v[fim + 1 : fim + 2] in _VIZINHO)

    # --- decisões -------------------------------------------------------------------------------------

    def _remover(self, inicio: int, fim: int, especie: str) -> None:
        self._achados.append(Achado(inicio, fim, especie))
        self._corte = fim
        self._fim_anterior = fim
        self._contexto_anterior = Contexto(especie, colado=True)
        self._ligados = 0

    def _provavel(self, c: Candidato) -> None:
        if self._ja_saiu(c.inicio):
            return
        self._cortar_no_apagado(c.inicio)
        contexto = self._contexto(c.inicio, veiculo=c.especie == "placa")
        if c.prova == "sem protetor":
            sai = not contexto.protegido
        elif c.prova == "veiculo":
            sai = contexto.especie in ("placa", "veiculo")
        elif c.prova == "colada":
            sai = contexto.especie == "placa" and contexto.colado
        else:
            sai = contexto.especie == c.especie or self._rotulos.a_direita(c.fim) == c.especie
        if sai:
            self._remover(c.inicio, c.fim, c.especie)

    def _numero(self, i: int) -> None:
        inicio, fim = self._grupos[i]
        if self._vista[inicio] in "034":
            publico = TELEFONE_PUBLICO.match(self._vista, inicio)
            if publico and not self._encostado(inicio, publico.end()):
                self._manter(i, publico.end())
                return
        contexto = self._contexto(inicio)
        achado = self._pelas_formas(i, contexto) or self._pelo_rotulo(i, contexto) or self._internacional(i)
        if achado:
            self._remover(*achado)
        else:
            self._manter(i, fim, contexto)

    def _manter(self, i: int, fim: int, contexto: Contexto = NENHUM) -> None:
        inicio, fim_do_grupo = self._grupos[i]
        colado = self._fim_anterior == inicio - 1 and self._vista[inicio - 1] in "./-" and self._ligados > 0
        self._ligados = (self._ligados if colado else 0) + fim_do_grupo - inicio
        self._fim_anterior = fim_do_grupo
        self._contexto_anterior = contexto
        if self._ligados >= 5:
            self._corte = fim_do_grupo
        if fim > fim_do_grupo:
            self._corte = self._fim_anterior = fim

    def _pelas_formas(self, i: int, contexto: Contexto) -> Achado | None:
        """A forma mais longa que convence, dado o rótulo; entre iguais, a do rótulo primeiro."""
        for k in range(self._cadeia[i], 0, -1):
            formas = FORMAS.get(self._comprimentos[i : i + k], ())
            if contexto.especie and len(formas) > 1:
                formas = sorted(formas, key=lambda f: f.especie != contexto.especie)
            for forma in formas:
                achado = self._convence(forma, i, i + k - 1, contexto)
                if achado:
                    return achado
        return None

    def _convence(self, forma: Forma, i: int, ultimo: int, contexto: Contexto) -> Achado | None:
        inicio, fim = self._grupos[i][0], self._grupos[ultimo][1]
        if forma.especie == "telefone":
            inicio = self._com_sinais(inicio, fim)
        elif forma.especie == "rg":
            return self._rg(forma, inicio, fim, contexto)
        if not forma.pontuacao.fullmatch(self._vista, inicio, fim):
            return None
        texto = self._vista[inicio:fim]
        rotulada = contexto.especie in (forma.especie, "pix")
        rotulada_depois = self._rotulos.a_direita(fim) == forma.especie
        # Conferir os dígitos é o que mais custa: só depois de saber que faria diferença.
        if not (rotulada or rotulada_depois) and self._cede(forma.grau, inicio, fim, contexto):
            return None
        certo = forma.confere(texto)
        if rotulada and self._rotulo_basta(forma, texto, certo, contexto):
            return Achado(inicio, fim, forma.especie)
        if rotulada_depois and certo:
            return Achado(inicio, fim, forma.especie)
        grau = forma.grau if certo else forma.grau_errado
        if grau is None or self._cede(grau, inicio, fim, contexto):
            return None
        return Achado(inicio, fim, forma.especie)

    def _cede(self, grau: Grau, inicio: int, fim: int, contexto: Contexto) -> bool:
        """Se a forma, sem rótulo seu, cede ao que está em volta: número maior, dinheiro, protetor, endereço de rede."""
        if grau is Grau.CERTA:
            return False
        if grau is Grau.ROTULADA or (contexto.protegido and (contexto.colado or grau is Grau.MEDIA)):
            return True
        if self._encostado(inicio, fim, barra_separa=grau is Grau.ALTA) or self._dinheiro(inicio):
            return True
        if grau is Grau.MEDIA and contexto is NENHUM and self._rotulos.protege_a_direita(fim):
            return True
        return bool(self._urls) and self._em_url(inicio)

    def _rotulo_basta(self, forma: Forma, texto: str, certo: bool, contexto: Contexto) -> bool:
        """Com o rótulo da espécie, o que ainda falta: o dígito certo ou, em seu lugar, o rótulo colado."""
        if forma.especie == "telefone" and texto.isdigit() and forma.grau is Grau.ROTULADA:
            return certo and contexto.colado
        if certo or contexto.especie == "pix":
            return certo
        return forma.especie in ("cpf", "cnpj", "cns", "pis") or (forma.especie != "telefone" and contexto.colado)

    def _com_sinais(self, inicio: int, fim: int) -> int:
        """O começo do telefone com «+» e «(», se o parêntese fecha dentro dele."""
        v = self._vista
        comeco = inicio
        if v[comeco - 1 : comeco] == "(" and v.find(")", comeco, fim) >= 0:
            comeco -= 1
        if v[comeco - 1 : comeco] == "+":
            comeco -= 1
        return comeco

    def _dinheiro(self, inicio: int) -> bool:
        return self._vista[max(0, inicio - 3) : inicio].rstrip().endswith("R$")

    def _rg(self, forma: Forma, inicio: int, fim: int, contexto: Contexto) -> Achado | None:
        if not forma.pontuacao.fullmatch(self._vista, inicio, fim):
            return None
        uf = _UF.search(self._vista[max(0, inicio - 4) : inicio])
        if uf:
            inicio -= 3
            contexto = self._contexto(inicio)
        final = _X_FINAL.match(self._vista, fim)
        if final:
            fim = final.end()
        if contexto.especie == "rg" and (contexto.colado or fim - inicio >= 9):
            return Achado(inicio, fim, "rg")
        solto = not contexto.protegido and not self._encostado(inicio, fim)
        if solto and fim - inicio >= 7 and _ORGAO_DO_RG.match(self._dobra, fim):
            return Achado(inicio, fim, "rg")
        return None

    def _pelo_rotulo(self, i: int, contexto: Contexto) -> Achado | None:
        """O rótulo diz o que é, e o número tem outra pontuação ou um dígito a mais ou a menos."""
        faixa = TOLERADOS.get(contexto.especie)
        if faixa is None or not contexto.colado:
            return None
        inicio = self._grupos[i][0]
        exato = self._com_exatos(i, EXATOS.get(contexto.especie, 0))
        if exato:
            return Achado(inicio, exato, contexto.especie)
        total, fim = self._ligados_a(i)
        if total not in faixa or self._encostado(inicio, fim) or _DATA.fullmatch(self._vista, inicio, fim):
            return None
        return Achado(inicio, fim, contexto.especie)

    def _com_exatos(self, i: int, quantos: int) -> int:
        """O fim dos grupos que, a partir de `i`, somam exatamente `quantos` dígitos; 0 se não somam."""
        total = 0
        for k in range(i, min(i + quantos, len(self._grupos))):
            a, b = self._grupos[k]
            if k > i and not self._liga[k - 1]:
                return 0
            total += b - a
            if total >= quantos:
                return b if total == quantos else 0
        return 0

    def _ligados_a(self, i: int) -> tuple[int, int]:
        """Quantos dígitos há, e onde acabam, no número que só tem pontos, barras e hifens entre os grupos."""
        inicio, fim = self._grupos[i]
        total = fim - inicio
        for a, b in self._grupos[i + 1 : i + 9]:
            if a != fim + 1 or self._vista[fim] not in "./-":
                break
            total += b - a
            fim = b
        return total, fim

    def _internacional(self, i: int) -> Achado | None:
        """«+351 912 345 678»: o sinal de mais e dez dígitos são telefone em qualquer país."""
        inicio = self._grupos[i][0]
        if self._vista[inicio - 1 : inicio] != "+":
            return None
        total = 0
        for k in range(i, min(i + 6, len(self._grupos))):
            a, b = self._grupos[k]
            if k > i and not self._liga[k - 1]:
                break
            total += b - a
            if 10 <= total <= 15:
                return Achado(inicio - 1, b, "telefone")
        return None


def localizar(texto: str) -> list[Achado]:
    """Os identificadores de `texto`, em ordem e sem sobreposição."""
    return _Leitura(texto).ler()
