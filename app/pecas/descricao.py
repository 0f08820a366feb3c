"""A `descricao_sanitizada`: o que a linha do tempo pública diz de uma atualização."""

from collections.abc import Callable, Mapping
from typing import Final

from app.pecas.campos import campo, data_por_extenso
from app.pecas.corte import cortar
from app.pecas.nomes import apagar_nome
from app.pecas.sanitizador import sanitizar
from app.pecas.tipos import CANAIS, GRAVIDADES, SITUACOES

LIMITE_DESCRICAO: Final = 2000

Campos = Callable[[str], str]


def _frase(texto: str) -> str:
    """`texto` com o ponto final que lhe faltar."""
    return texto if not texto or texto[-1] in ".!?…" else texto + "."


def _contato(c: Campos) -> str:
    canal = c("canal")
    contato = "Contato presencial" if canal == "presencial" else f"Contato {CANAIS.get(canal, 'realizado')}"
    orgao, resultado = c("contato_orgao"), c("resultado")
    frases = [_frase(f"{contato} com {orgao}" if orgao else contato)]
    if resultado:
        frases.append(_frase(f"Resultado: {resultado}"))
    return " ".join(frases)


def _protocolo(c: Campos) -> str:
    numero, orgao, data = c("protocolo_numero"), c("orgao"), data_por_extenso(c("data_protocolo"))
    aberto = f"Protocolo nº {numero} aberto" if numero else "Protocolo aberto"
    if data:
        aberto += f" em {data}"
    return _frase(f"{aberto} no órgão {orgao}" if orgao else aberto)


def _documento(c: Campos) -> str:
    tipo, descricao = c("tipo_documento"), c("descricao")
    frases = [_frase(f"Documento acrescentado: {tipo}" if tipo else "Documento acrescentado")]
    if descricao:
        frases.append(_frase(descricao))
    return " ".join(frases)


def _entrave(c: Campos) -> str:
    orgao, descricao, gravidade = c("orgao_envolvido"), c("descricao_entrave"), GRAVIDADES.get(c("gravidade"))
    entrave = f"Entrave com {orgao}" if orgao else "Entrave"
    frases = [_frase(f"{entrave}: {descricao}" if descricao else f"{entrave} registrado")]
    if gravidade:
        frases.append(f"Gravidade {gravidade}.")
    return " ".join(frases)


def _status(c: Campos) -> str:
    situacao, fonte = SITUACOES.get(c("novo_status")), c("fonte_informacao")
    frases = [f"Situação da demanda: {situacao}." if situacao else "Situação da demanda atualizada."]
    if fonte:
        frases.append(_frase(f"Fonte: {fonte}"))
    return " ".join(frases)


def _prazo(c: Campos) -> str:
    data, descricao, fonte = data_por_extenso(c("data_estimada")), c("descricao_prazo"), c("fonte_estimativa")
    prazo = f"Prazo estimado: {data}" if data else "Prazo registrado"
    frases = [_frase(f"{prazo}, para {descricao}" if descricao else prazo)]
    if fonte:
        frases.append(_frase(f"Fonte da estimativa: {fonte}"))
    return " ".join(frases)


_ABERTURAS: Final[dict[str, Callable[[Campos], str]]] = {
    "contato_realizado": _contato,
    "protocolo_aberto": _protocolo,
    "documento_anexado": _documento,
    "entrave_registrado": _entrave,
    "status_atualizado": _status,
    "prazo_registrado": _prazo,
}


def descrever(tipo: str, conteudo: Mapping[str, object], texto: str) -> str:
    """A descrição pública da atualização: o tipo e seus campos em frases, depois o relato, em até 2.000 caracteres."""
    abertura = _ABERTURAS[tipo](lambda nome: campo(conteudo, nome)) if tipo in _ABERTURAS else ""
    pessoa = conteudo.get("contato_nome")
    relato = apagar_nome(texto, pessoa) if isinstance(pessoa, str) else texto
    if abertura and relato.strip():
        # O que os campos já dizem não se repete.
        relato = "" if relato.strip(" \n.") in abertura else f"Relato: {relato}"
    # Um sanitizar só, do todo: sanitizado primeiro, cortado depois (E11).
    inteira = sanitizar(f"{abertura} {relato}")
    return cortar(" ".join(inteira.split()), LIMITE_DESCRICAO)
