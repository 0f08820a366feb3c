"""O nome da pessoa contatada, quando o próprio relato o diz, não vai a público."""

import re

from app.pecas.identificadores.marcas import MARCAS
from app.pecas.identificadores.vista import dobrar, ver
from app.pecas.palavras import conjunto

# Um «nome» com uma destas palavras é de órgão ou de função, não de pessoa.
_IMPESSOAIS = conjunto(
    "administracao agencia associacao atendente atendimento camara central companhia comissao conselho coordenacao "
    "coordenadoria defensoria departamento diretoria diretor empresa escola equipe fiscal funcionario funcionaria "
    "gabinete gerencia hospital instituto ministerio ouvidoria plantonista plantao portaria prefeitura promotoria "
    "recepcao recepcionista regional sac secretaria secretario servidor servidora setor subprefeitura tecnico tecnica "
    "telefonista tribunal ubs unidade vigilancia vara"
)
_LIGACOES = conjunto("da de do das dos e")
_LOGRADOURO = re.compile(
    r"(?<![a-z])(?:rua|r\.|av\.?|avenida|praca|alameda|travessa|escola|vila|jardim|parque)(?: [a-z]+)* ?$"
)
_PALAVRA = re.compile(r"[a-z]+")
_REPETIDAS = re.compile(rf"{re.escape(MARCAS['nome'])}(?:(?: d[aeo]s?| e)? {re.escape(MARCAS['nome'])})+")


def apagar_nome(texto: str, nome: str) -> str:
    """`texto` com o nome da pessoa, inteiro ou em partes com inicial maiúscula, trocado pela marca."""
    palavras = _PALAVRA.findall(dobrar(ver(nome)))
    if not palavras or _IMPESSOAIS.intersection(palavras):
        return texto
    vista = ver(texto)
    dobra = dobrar(vista)
    partes = {p for p in palavras if len(p) > 2 and p not in _LIGACOES}
    saida: list[str] = []
    ate = 0
    for m in _PALAVRA.finditer(dobra):
        if m.group() not in partes or not vista[m.start()].isupper():
            continue
        if vista[m.start() - 1 : m.start()].isalnum() or vista[m.end() : m.end() + 1].isalnum():
            continue
        if _LOGRADOURO.search(dobra[max(0, m.start() - 40) : m.start()]):
            continue
        saida += (texto[ate : m.start()], MARCAS["nome"])
        ate = m.end()
    saida.append(texto[ate:])
    return _REPETIDAS.sub(MARCAS["nome"], "".join(saida))
