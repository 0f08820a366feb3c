"""As palavras que dizem o que é um número: «CPF», «telefone», «protocolo», «Lei»…

Um número sem nada em volta não diz se é um CPF ou um protocolo; quem diz é a palavra mais próxima à sua
esquerda. Cada rótulo tem uma classe, e a classe diz o que ele faz com o número que o segue.
"""

import re
from bisect import bisect_right
from enum import Enum
from typing import Final, NamedTuple


class Forca(Enum):
    """O que o rótulo faz com o número."""

    PESSOAL = "pessoal"  # é identificador do tipo `especie`
    PESSOAL_FRACO = "pessoal fraco"  # só se o número vem logo depois
    PROTETOR = "protetor"  # é número público: fica
    PROTETOR_FRACO = "protetor fraco"  # idem, só se o número vem logo depois
    PESSOA = "pessoa"  # fala de alguém: anula o rótulo anterior


class Rotulo(NamedTuple):
    """Uma ocorrência de rótulo na vista."""

    inicio: int
    fim: int
    especie: str
    forca: Forca


_PESSOAIS: Final = {
    "cpf": "cpf, cpfs, c p f, cadastro de pessoa fisica, cadastro de pessoas fisicas, cic",
    "cnpj": "cnpj, cnpjs, c n p j, cnpj mf, cadastro nacional da pessoa juridica, cadastro nacional de pessoa juridica",
    "cns": "cns, cartao sus, cartao do sus, cartao nacional de saude, cartao nacional do sus, numero sus, "
    "numero do sus, carteirinha do sus, carteira do sus",
    "pis": "pis, pasep, nis, nit, pis pasep, numero de identificacao social, numero de inscricao social",
    "titulo": "titulo de eleitor, titulo eleitoral, titulo eleitor, titulos de eleitor, titulo de eleitora, "
    "inscricao eleitoral, eleitor de inscricao, eleitora de inscricao, titulo",
    "cnh": "cnh, c n h, carteira de habilitacao, carteira nacional de habilitacao, carteira de motorista, habilitacao, "
    "registro da cnh, registro de cnh",
    "rg": "rg, rgs, r g, carteira de identidade, cedula de identidade, identidade, registro geral, ci rg",
    "placa": "placa, placas, placa mercosul",
    "cartao": "cartao, cartoes, cartao de credito, cartao de debito, mastercard, visa, american express, amex, elo, "
    "hipercard, numero do cartao",
    "pix": "pix, chave pix, chaves pix, chave aleatoria, chave do pix",
    "telefone": "telefone, telefones, tel, tels, fone, fones, fone fax, fax, celular, celulares, cel, whatsapp, whats, "
    "wpp, whatsap, watsapp, zap, zapzap, telegram, wa me, numero de contato, numero de telefone, numero do celular, "
    "numero do telefone, numero do zap, sms, phone",
}
_PESSOAIS_FRACOS: Final = {
    "telefone": "liguei, ligar, ligou, ligamos, ligaram, liga, ligue, liguem, ligando, ligacao, ligacoes, telefonei, "
    "telefonou, telefonar, telefonamos, chamei, chamar, chame, chamem, retornar, retorno, retorne, falei, falar, "
    "mensagem, mensagens, numero para retorno, deixou o numero, passou o numero, deixou numero, contato, "
    "contatos, recado, recados, telefonema",
    "veiculo": "veiculo, veiculos, carro, carros, moto, motos, motocicleta, caminhao, caminhoes, onibus, van, "
    "automovel, automoveis, viatura, perua, caminhonete, kombi, fiat, volkswagen, chevrolet, ford, honda, fusca",
    "pix": "chave, chaves",
}
# O que a sugestão procura: primeiro «protocolo», depois o nome de outro registro.
PROTOCOLO: Final = "protocolo"
REGISTRO: Final = "registro"
_PROTOCOLOS: Final = (
    "protocolo, protocolos, prot, protoc, protocolei, protocolado, protocolada, protocolamos, numero do protocolo, "
    "numero de protocolo, eprotocolo, e protocolo"
)
_REGISTROS: Final = (
    "processo, processos, proc, autos, sei, nup, tid, sigrc, simproc, sispmj, fala br, chamado, chamados, ticket, "
    "tickets, tiquete, tiquetes, os, o s, ordem de servico, ordens de servico, solicitacao, solicitacoes, "
    "manifestacao, manifestacoes, requerimento, requerimentos, requisicao, registrado sob, registrada sob, "
    "registrado com o numero, registrada com o numero, numero de registro, numero do processo, "
    "numero do chamado, numero da solicitacao, pedido de informacao, lai, codigo da solicitacao, codigo do pedido"
)
_REGISTROS_FRACOS: Final = (
    "pedido, pedidos, denuncia, reclamacao, reclamacoes, atendimento, ouvidoria, registro, registros, sac, caso"
)
_PROTETORES: Final = (
    "oficio, oficios, memorando, memo, circular, ci, "
    "comunicado interno, lei, leis, lei complementar, decreto, decretos, portaria, portarias, resolucao, "
    "instrucao normativa, norma, normas, nbr, abnt, iso, conama, art, artigo, artigos, inciso, pl, plc, pec, "
    "projeto de lei, contrato, contratos, convenio, edital, editais, pregao, licitacao, concorrencia, tomada de preco, "
    "empenho, empenhos, nota de empenho, nota fiscal, nf, nfe, nf e, boletim de ocorrencia, bo, b o, inquerito, "
    "auto de infracao, autos de infracao, auto, ait, multa, notificacao, intimacao, mandado, matricula, matriculas, "
    "inscricao imobiliaria, inscricao municipal, inscricao estadual, cadastro imobiliario, iptu, sql, poste, postes, "
    "hidrometro, medidor, medidores, instalacao, unidade consumidora, uc, rgi, patrimonio, tombo, tombamento, codigo, "
    "codigos, cod, senha, senhas, guia, guias, demanda, demandas, id, cep, rodovia, br, km, linha, item, itens, oab, "
    "crea, crm, cau, coordenada, coordenadas, lat, latitude, long, longitude, utm, lote, talao, boleto, fatura, "
    "codigo de barras, linha digitavel, serie, numero de serie"
)
_PROTETORES_FRACOS: Final = (
    "conta, foram, somam, total de, cerca de, mais de, menos de, aproximadamente, valor, custo, orcamento, inscricao"
)
_PESSOAS: Final = (
    "senhora, senhor, sra, sr, dona, morador, moradora, moradores, vizinho, vizinha, titular, em nome de, solicitante, "
    "requerente, reclamante, responsavel, sindico, sindica, usuario, usuaria, paciente, beneficiario, beneficiaria, "
    "municipe, cidadao, cidada, proprietario, proprietaria, testemunha, motorista, condutor, condutora, portador, "
    "portadora, denunciante, contribuinte, documento, documentos, tesoureira, tesoureiro, inquilino, inquilina"
)

# «OS» é ordem de serviço; «os», artigo.
_SO_MAIUSCULAS = frozenset({("os",), ("ci",), ("elo",)})

_ALCANCE = 60
_ESPECIES_DE_VEICULO = frozenset({"placa", "veiculo"})
_NOMES: dict[str, list[tuple[tuple[str, ...], str, Forca]]] = {}


def _registrar(frases: str, especie: str, forca: Forca) -> None:
    for frase in frases.split(", "):
        palavras = tuple(frase.split())
        _NOMES.setdefault(palavras[0], []).append((palavras, especie, forca))


for _especie, _frases in _PESSOAIS.items():
    _registrar(_frases, _especie, Forca.PESSOAL)
for _especie, _frases in _PESSOAIS_FRACOS.items():
    _registrar(_frases, _especie, Forca.PESSOAL_FRACO)
_registrar(_PROTOCOLOS, PROTOCOLO, Forca.PROTETOR)
_registrar(_REGISTROS, REGISTRO, Forca.PROTETOR)
_registrar(_REGISTROS_FRACOS, REGISTRO, Forca.PROTETOR_FRACO)
_registrar(_PROTETORES, "", Forca.PROTETOR)
_registrar(_PROTETORES_FRACOS, "", Forca.PROTETOR_FRACO)
_registrar(_PESSOAS, "", Forca.PESSOA)
for _opcoes in _NOMES.values():
    _opcoes.sort(key=lambda opcao: -len(opcao[0]))

_PALAVRA = re.compile(r"[a-z]+")
# Entre as palavras de um rótulo composto cabem só espaço e pontuação miúda ("c.p.f.", "PIS/PASEP").
_VAO_DO_ROTULO = re.compile(r"[ .\-/()\n]{0,3}")
# Entre o rótulo e o número colado cabem pontuação e palavras de ligação.
_LIGACAO = re.compile(
    r"[ :.,\-=#(\n\"'“‘/º°]*"
    r"(?:(?:n|no|nr|nro|num|numero|numeros|sob|sub|de|do|da|dos|das|dele|dela|deles|delas|com|e|eh|era|foi|sao|o|a|os|as"
    r"|que|final|para|pra|pro|p|ao|pelo|pela|em|na|nos|nas|meu|minha|seu|sua|novo|nova|provisorio|atual|fixo"
    r"|particular|pessoal|residencial|registrado|registrada|informado|informada|emitido|emitida|ssp|mf)"
    r"[ :.,\-=#(\n\"'“‘/º°]+){0,5}"
)
_FIM_DE_FRASE = re.compile(r"(?<![ .](?:n|o))(?<!nr)(?<!num)[.!?;] |\n\n")
_POSSE = re.compile(r",? d[oa]s? ")
_NOME_ENTRE = re.compile(r" (?:d[aeo]s?|a|o) $")


def rotular(vista: str, dobra: str) -> list[Rotulo]:
    """Todos os rótulos da vista, em ordem; `dobra` é a vista em minúsculas."""
    palavras = [(m.group(), m.start(), m.end()) for m in _PALAVRA.finditer(dobra)]
    achados: list[Rotulo] = []
    i = 0
    while i < len(palavras):
        passo = 1
        for frase, especie, forca in _NOMES.get(palavras[i][0], ()):
            fim = i + len(frase)
            if fim > len(palavras) or any(palavras[i + k][0] != p for k, p in enumerate(frase)):
                continue
            if any(not _VAO_DO_ROTULO.fullmatch(dobra, palavras[k][2], palavras[k + 1][1]) for k in range(i, fim - 1)):
                continue
            if frase in _SO_MAIUSCULAS and not vista[palavras[i][1] : palavras[i][2]].isupper():
                continue
            achados.append(Rotulo(palavras[i][1], palavras[fim - 1][2], especie, forca))
            passo = len(frase)
            break
        i += passo
    return achados


class Contexto(NamedTuple):
    """O que as palavras dizem de um número: de que espécie é, se é protegido, e se o rótulo está colado a ele."""

    especie: str = ""
    protegido: bool = False
    colado: bool = False


NENHUM: Final = Contexto()


class Rotulos:
    """Os rótulos de um texto, e a pergunta que se faz a eles."""

    def __init__(self, vista: str, dobra: str) -> None:
        self._dobra = dobra
        self._lista = rotular(vista, dobra)
        self._inicios = [r.inicio for r in self._lista]

    def a_esquerda(self, inicio: int, corte: int, veiculo: bool = False) -> Contexto:
        """O contexto do que começa em `inicio`; nada antes de `corte` conta.

        Para uma placa (`veiculo`) contam os rótulos de veículo; para um número, os outros.
        """
        limite = max(corte, inicio - _ALCANCE)
        k = bisect_right(self._inicios, inicio - 1) - 1
        while k >= 0:
            r = self._lista[k]
            if r.inicio < limite:
                return NENHUM
            pessoal = r.forca in (Forca.PESSOAL, Forca.PESSOAL_FRACO)
            alheio = pessoal and (r.especie in _ESPECIES_DE_VEICULO) != veiculo
            if r.fim > inicio or alheio:
                k -= 1
                continue
            vao = self._dobra[r.fim : inicio]
            colado = _LIGACAO.fullmatch(vao) is not None
            if not colado and _FIM_DE_FRASE.search(vao, 1):
                return NENHUM
            if r.forca is Forca.PESSOA and self._completa_anterior(k, limite):
                k -= 1
                continue
            if r.forca is Forca.PESSOA:
                return NENHUM
            if r.forca is Forca.PROTETOR or (r.forca is Forca.PROTETOR_FRACO and colado):
                return Contexto(r.especie, protegido=True, colado=colado)
            if r.forca is Forca.PESSOAL:
                return Contexto(r.especie, colado=colado)
            if r.forca is Forca.PESSOAL_FRACO and (colado or r.especie == "veiculo" or len(vao) <= 30):
                return Contexto(r.especie, colado=colado)
            k -= 1
        return NENHUM

    def _completa_anterior(self, k: int, limite: int) -> bool:
        """«protocolo da moradora», «CNH do condutor»: a pessoa completa o rótulo anterior, não o anula."""
        if k == 0:
            return False
        pessoa, anterior = self._lista[k], self._lista[k - 1]
        return (
            anterior.forca in (Forca.PROTETOR, Forca.PESSOAL)
            and anterior.inicio >= limite
            and _NOME_ENTRE.fullmatch(self._dobra, anterior.fim, pessoa.inicio) is not None
        )

    def a_direita(self, fim: int) -> str:
        """A espécie pessoal cujo rótulo vem logo depois do número: «3555-0101 (telefone)»."""
        k = bisect_right(self._inicios, fim - 1)
        if k >= len(self._lista):
            return ""
        r = self._lista[k]
        if r.forca is not Forca.PESSOAL or r.inicio - fim > 3:
            return ""
        return r.especie if self._dobra[fim : r.inicio].strip(" (,-") == "" else ""

    def protege_a_direita(self, fim: int) -> bool:
        """Se o que vem depois diz que o número é público: «nº 12345 do protocolo»."""
        k = bisect_right(self._inicios, fim - 1)
        if k >= len(self._lista) or self._lista[k].forca is not Forca.PROTETOR:
            return False
        return _POSSE.fullmatch(self._dobra, fim, self._lista[k].inicio) is not None
