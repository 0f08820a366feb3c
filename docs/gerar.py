"""Gera a referência com o que o projeto já diz de si: esquemas de eventos, comentários do banco e mensagens de erro.

Uso: python -m docs.gerar DSN, com um banco recém-migrado em DSN. Cada página tem uma abertura escrita à mão; o que
vem depois da marca é refeito. O documento AsyncAPI é gerado inteiro.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import psycopg

from app.banco.recursos import EVENTOS, FUNCOES
from app.http.catalogo import DO_BANCO, Metrica
from app.http.metricas import DA_COLETA, Metricas
from docs import asyncapi, matriz

DOCS = Path(__file__).resolve().parent
REFERENCIA = DOCS / "referencia"
MARCA = "<!-- Daqui até o fim, gerado por docs/gerar.py: não edite. -->"
PAPEIS = ("formigueiro_app", "formigueiro_produtor", "formigueiro_dba", "formigueiro_leitura")

Esquema = Mapping[str, Any]


def paginas(dsn: str) -> dict[Path, str]:
    """O conteúdo que cada página gerada deve ter, pelo caminho dela."""
    with psycopg.connect(dsn) as conexao:
        partes = {
            "eventos.md": eventos(),
            "funcoes.md": funcoes(conexao),
            "metricas.md": metricas(),
            "papeis.md": papeis(),
            "sqlstate.md": sqlstate(),
        }
    geradas = {REFERENCIA / nome: _completar(REFERENCIA / nome, parte) for nome, parte in partes.items()}
    return {**geradas, REFERENCIA / "asyncapi.json": _asyncapi()}


def _asyncapi() -> str:
    todos = [(evento.tipo, evento.versao, evento.esquema) for evento in ler_eventos()]
    return asyncapi.documento(todos, _consumidores())


def _completar(pagina: Path, gerado: str) -> str:
    abertura, marca, _ = pagina.read_text(encoding="utf-8").partition(MARCA)
    if not marca:
        raise ValueError(f"{pagina} não tem a marca da parte gerada")
    return f"{abertura}{MARCA}\n\n{gerado.rstrip()}\n"


def tabela(cabecalho: Sequence[str], linhas: Iterable[Sequence[str]]) -> str:
    """Uma tabela Markdown."""
    todas = [cabecalho, ["---"] * len(cabecalho), *linhas]
    return "\n".join(f"| {' | '.join(celula.replace('|', chr(92) + '|') for celula in linha)} |" for linha in todas)


# Eventos


@dataclass(frozen=True)
class Evento:
    """Um tipo e versão do Registro."""

    tipo: str
    versao: str
    esquema: Esquema


def ler_eventos() -> list[Evento]:
    """Todos os de sql/eventos, por tipo e versão."""
    return [
        Evento(arquivo.parent.name, arquivo.stem, msgspec.json.decode(arquivo.read_bytes()))
        for arquivo in sorted(EVENTOS.glob("*/*.json"))
    ]


def eventos() -> str:
    """O catálogo: um índice e, por tipo e versão, os campos."""
    todos = ler_eventos()
    consumidores = _consumidores()
    indice = [
        (
            f"[`{tipo}`](#{ancora(tipo)})",
            ", ".join(evento.versao for evento in todos if evento.tipo == tipo),
            ", ".join(sorted({colonia for e in todos if e.tipo == tipo for colonia in e.esquema["x-produtores"]})),
            ", ".join(consumidores[tipo]) or "—",
        )
        for tipo in dict.fromkeys(evento.tipo for evento in todos)
    ]
    partes = [tabela(("tipo", "versões", "quem publica", "quem daqui consome"), indice)]
    anterior = ""
    for evento in todos:
        if evento.tipo != anterior:
            partes.append(f"## {evento.tipo}")
            anterior = evento.tipo
        partes.append(_evento(evento))
    return "\n\n".join(partes)


def _consumidores() -> dict[str, list[str]]:
    """Tipo de evento → colônias daqui que o consomem, pelo que tipos_consumidos() de cada uma devolve."""
    consumidores: dict[str, list[str]] = defaultdict(list)
    for esquema, colonia in (("d6b", "D-6b"), ("d8", "D-8")):
        texto = (FUNCOES / esquema / "tipos_consumidos.sql").read_text(encoding="utf-8")
        lista = texto.partition("ARRAY[")[2].partition("]")[0]
        for tipo in re.findall(r"'([^']+)'", lista):
            consumidores[tipo].append(colonia)
    return consumidores


def _evento(evento: Evento) -> str:
    esquema = evento.esquema
    pessoais = esquema.get("x-campos-pessoais", [])
    partes = [
        f"### {evento.tipo} {evento.versao}",
        _escapar(esquema["description"]),
        f"Quem publica: {', '.join(esquema['x-produtores'])}. "
        f"Campos pessoais: {', '.join(f'`{campo}`' for campo in pessoais) or 'nenhum'}.",
        tabela(("campo", "tipo", "obrigatório", "o que é"), _campos(esquema)),
        *_condicoes(esquema),
    ]
    return "\n\n".join(partes)


def _campos(esquema: Esquema, prefixo: str = "") -> Iterator[tuple[str, str, str, str]]:
    obrigatorios = esquema.get("required", [])
    for nome, campo in esquema.get("properties", {}).items():
        obrigatorio = "sim" if nome in obrigatorios else ""
        yield f"`{prefixo}{nome}`", _tipo(campo), obrigatorio, _escapar(campo.get("description", ""))
        yield from _campos(campo, f"{prefixo}{nome}.")
        if "items" in campo:
            yield from _campos(campo["items"], f"{prefixo}{nome}[].")


_TIPOS = {
    "object": "objeto",
    "array": "lista",
    "string": "texto",
    "number": "número",
    "integer": "inteiro",
    "boolean": "verdadeiro ou falso",
    "null": "nulo",
}
_FORMATOS = {"uuid": "UUID", "date-time": "data-hora", "date": "data"}


def _tipo(campo: Esquema) -> str:
    """O tipo de um campo, em português: `texto ou nulo`, `UUID`, `lista de texto`."""
    declarado = campo.get("type")
    if declarado is None:
        return "qualquer"
    nomes = [declarado] if isinstance(declarado, str) else declarado
    formatos = [campo["format"]] if "format" in campo else [forma["format"] for forma in campo.get("anyOf", [])]
    texto = " ou ".join(_FORMATOS[formato] for formato in formatos) or _TIPOS["string"]
    palavras = [texto if nome == "string" else _TIPOS[nome] for nome in nomes]
    if "items" in campo:
        palavras = [f"lista de {_tipo(campo['items'])}" if palavra == "lista" else palavra for palavra in palavras]
    return " ou ".join(palavras) + _limites(campo)


def _limites(campo: Esquema) -> str:
    minimo, maximo = campo.get("minLength"), campo.get("maxLength")
    if minimo is None and maximo is None:
        return ""
    return f", {minimo or 0} a {maximo} caracteres" if maximo is not None else f", {minimo} caractere(s) ou mais"


def _condicoes(esquema: Esquema) -> Iterator[str]:
    """O que if/then/else acrescenta, em uma frase."""
    condicao = esquema.get("if")
    if condicao is None:
        return
    if "$comment" in condicao:
        yield _escapar(condicao["$comment"])
    for nome, campo in condicao.get("properties", {}).items():
        exigidos = esquema.get("then", {}).get("required", [])
        if "const" in campo and exigidos:
            lista = ", ".join(f"`{exigido}`" for exigido in exigidos)
            yield f"Quando `{nome}` é `{campo['const']}`, são obrigatórios também: {lista}."


# Funções

_ROTINAS = """
    SELECT n.nspname, p.proname, p.prokind = 'p',
           pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
           obj_description(p.oid, 'pg_proc'),
           ARRAY(SELECT r.papel
                   FROM unnest(%(papeis)s::text[]) WITH ORDINALITY AS r (papel, n)
                  WHERE has_function_privilege(r.papel, p.oid, 'EXECUTE')
                    AND has_schema_privilege(r.papel, n.oid, 'USAGE')
                  ORDER BY r.n)
      FROM pg_proc AS p
      JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname IN ('core', 'd6b', 'd8')
       AND p.prorettype <> 'trigger'::regtype
     ORDER BY n.nspname, p.proname, 4
"""

_LEITURAS = """
    SELECT c.oid::regclass::text, obj_description(c.oid, 'pg_class'),
           ARRAY(SELECT r.papel
                   FROM unnest(%(papeis)s::text[]) WITH ORDINALITY AS r (papel, n)
                  WHERE has_table_privilege(r.papel, c.oid, 'SELECT')
                  ORDER BY r.n)
      FROM pg_class AS c
     WHERE c.relnamespace::regnamespace::text IN ('core', 'd6b', 'd8')
       AND c.relkind IN ('r', 'v')
     ORDER BY 1
"""

_DE_QUEM = {"core": "O núcleo", "d6b": "D-6b, Relatoria e Acompanhamento", "d8": "D-8, Manutenção Programada"}


@dataclass(frozen=True)
class Rotina:
    """Uma função ou procedimento que algum papel pode executar."""

    esquema: str
    nome: str
    procedimento: bool
    argumentos: str
    resultado: str | None
    comentario: str
    papeis: list[str]

    @property
    def auxiliar(self) -> bool:
        return self.nome.startswith("_")

    @property
    def titulo(self) -> str:
        return f"{self.esquema}.{self.nome}"


def funcoes(conexao: psycopg.Connection[Any]) -> str:
    """As funções que os papéis do projeto podem executar e o que eles podem ler."""
    rotinas = [Rotina(*linha) for linha in conexao.execute(_ROTINAS, {"papeis": list(PAPEIS)}) if linha[-1]]
    decisoes = _enderecos()
    partes = []
    for esquema, nome in _DE_QUEM.items():
        partes.append(f"## {nome}")
        daqui = [rotina for rotina in rotinas if rotina.esquema == esquema]
        publicas = [rotina for rotina in daqui if not rotina.auxiliar]
        partes.append(tabela(("função", *PAPEIS), [_linha_de_papeis(rotina) for rotina in publicas]))
        partes += [_rotina(rotina, decisoes) for rotina in publicas]
        if auxiliares := [rotina for rotina in daqui if rotina.auxiliar]:
            nomes = ", ".join(f"`{rotina.titulo}`" for rotina in auxiliares)
            partes.append(f"Auxiliares, abertas só porque outra função as chama em nome de quem pede: {nomes}.")
    partes.append("## O que cada papel lê")
    partes.append("Sem passar por uma função. `formigueiro_produtor` não lê tabela nenhuma.")
    leituras = conexao.execute(_LEITURAS, {"papeis": list(PAPEIS)}).fetchall()
    partes.append(
        tabela(
            ("tabela ou visão", "quem lê", "o que é"),
            [(f"`{nome}`", _papeis(papeis), _escapar(resumo or "")) for nome, resumo, papeis in leituras if papeis],
        )
    )
    return "\n\n".join(partes)


def _linha_de_papeis(rotina: Rotina) -> list[str]:
    endereco = f"[`{rotina.titulo}`](#{ancora(rotina.titulo)})"
    return [endereco, *("sim" if papel in rotina.papeis else "" for papel in PAPEIS)]


def _rotina(rotina: Rotina, decisoes: Mapping[str, str]) -> str:
    texto, fonte = _separar_fonte(rotina.comentario)
    partes = [f"### {rotina.titulo}", f"```sql\n{_assinatura(rotina)}\n```", _escapar(texto)]
    if fontes := _citar(fonte, decisoes):
        partes.append(f"Executam: {_papeis(rotina.papeis)}. Veja: {fontes}.")
    else:
        partes.append(f"Executam: {_papeis(rotina.papeis)}.")
    return "\n\n".join(partes)


def _papeis(papeis: Iterable[str]) -> str:
    return ", ".join(f"`{papel}`" for papel in papeis)


_NOMES_CURTOS = (
    ("timestamp with time zone", "timestamptz"),
    ("double precision", "float8"),
    ("character varying", "varchar"),
    ("integer", "int"),
)


def _assinatura(rotina: Rotina) -> str:
    argumentos, resultado = rotina.argumentos, rotina.resultado or ""
    for longo, curto in _NOMES_CURTOS:
        argumentos, resultado = argumentos.replace(longo, curto), resultado.replace(longo, curto)
    chamada = f"{'CALL ' if rotina.procedimento else ''}{rotina.titulo}({argumentos})"
    retorno = "" if rotina.procedimento else f" RETURNS {resultado}"
    if len(chamada + retorno) > 100:
        abre, _, _ = chamada.partition("(")
        chamada = f"{abre}(\n    " + _VIRGULA.sub(",\n    ", argumentos) + "\n)"
    return chamada + retorno


_VIRGULA = re.compile(r", (?=(?:VARIADIC |IN |OUT )?p_)")
_FONTE = re.compile(r"\s*Fonte: (?P<fonte>.+?)\.?\s*$", re.DOTALL)


def _separar_fonte(comentario: str) -> tuple[str, str]:
    """O comentário sem a fonte, e a fonte."""
    achada = _FONTE.search(comentario)
    return (comentario[: achada.start()], achada["fonte"]) if achada else (comentario, "")


_DECISAO = re.compile(r"\bE(\d\d)(?:-E?(\d\d))?\b")


def _citar(fonte: str, decisoes: Mapping[str, str]) -> str:
    """Da fonte de um comentário, as decisões, as regras e as seções das especificações, com endereços."""
    citadas = list(dict.fromkeys(_decisoes_citadas(fonte)))
    regras = list(dict.fromkeys(_regras_citadas(fonte)))
    partes = [f"[{decisao}]({decisoes[decisao]})" for decisao in citadas]
    partes += [f"[regra {numero}]({decisoes[f'regra {numero}']})" for numero in regras]
    return ", ".join(partes)


def _decisoes_citadas(fonte: str) -> Iterator[str]:
    for de, ate in _DECISAO.findall(fonte):
        yield from (f"E{numero:02}" for numero in range(int(de), int(ate or de) + 1))


def _regras_citadas(fonte: str) -> Iterator[int]:
    for trecho in re.finditer(r"\bregras? (?P<lista>\d+(?:(?:, | e | a )\d+)*)", fonte):
        for faixa in re.split(r", | e ", trecho["lista"]):
            de, _, ate = faixa.partition(" a ")
            yield from range(int(de), int(ate or de) + 1)


def _enderecos() -> dict[str, str]:
    """Onde está cada decisão (E01) e cada regra (regra 1), visto de docs/referencia."""
    enderecos = {}
    for pagina in (*sorted((DOCS / "decisoes").glob("*.md")), DOCS / "discussao" / "regras.md"):
        for titulo in re.findall(r"^##+ (.+)$", pagina.read_text(encoding="utf-8"), re.MULTILINE):
            if numero := re.match(r"([EN]\d\d)\b|(\d+)\. ", titulo):
                nome = numero[1] or f"regra {numero[2]}"
                enderecos[nome] = f"../{pagina.relative_to(DOCS)}#{ancora(titulo)}"
    return enderecos


# Papéis

RECUSADO = "42501"
_COLUNAS = {**matriz.PAPEIS, "PUBLIC": ""}
_VERBOS = {"SELECT": "ler", "INSERT": "inserir", "UPDATE": "mudar", "DELETE": "apagar"}


def papeis() -> str:
    """A matriz declarada em papeis.toml, em tabelas; a suíte confere que o banco é assim."""
    declarada = matriz.ler()
    partes = ["## O banco e os esquemas", _tabela_de_papeis("o quê", _linhas_do_banco(declarada))]
    partes += ["## Tabelas e visões", _tabela_de_papeis("tabela ou visão", _linhas_das_relacoes(declarada))]
    for esquema, dono in matriz.DONOS.items():
        partes.append(f"## Funções de `{esquema}`")
        daqui = {nome: quem for nome, quem in declarada.rotinas.items() if nome.startswith(f"{esquema}.")}
        linhas = [
            (f"`{nome}`", [_celula(papel, dono, "sim" if papel in quem else "") for papel in _COLUNAS.values()])
            for nome, quem in daqui.items()
            if quem
        ]
        partes.append(_tabela_de_papeis("função", linhas))
        if internas := [f"`{nome.partition('.')[2]}`" for nome, quem in daqui.items() if not quem]:
            partes.append(f"Só `{dono}` executa as outras {len(internas)}: {', '.join(internas)}.")
    return "\n\n".join(partes)


def _linhas_do_banco(declarada: matriz.Matriz) -> Iterator[tuple[str, list[str]]]:
    nomes = {"CONNECT": "conectar-se", "CREATE": "criar esquemas", "TEMPORARY": "criar tabelas temporárias"}
    for direito, quem in declarada.banco.items():
        yield nomes[direito], [_celula(papel, None, "sim" if papel in quem else "") for papel in _COLUNAS.values()]
    for esquema, quem in declarada.esquemas.items():
        dono = matriz.DONOS.get(esquema)
        celulas = [_celula(papel, dono, "sim" if papel in quem else "") for papel in _COLUNAS.values()]
        yield f"usar o esquema `{esquema}`", celulas


def _linhas_das_relacoes(declarada: matriz.Matriz) -> Iterator[tuple[str, list[str]]]:
    for nome, direitos in declarada.relacoes.items():
        dono = matriz.DONOS.get(nome.partition(".")[0])
        yield (
            f"`{nome}`",
            [
                _celula(papel, dono, ", ".join(v for d, v in _VERBOS.items() if d in direitos.get(papel, ())))
                for papel in _COLUNAS.values()
            ],
        )


def _celula(papel: str, dono: str | None, pode: str) -> str:
    return "dono" if papel == dono else pode or RECUSADO


def _tabela_de_papeis(titulo: str, linhas: Iterable[tuple[str, list[str]]]) -> str:
    return tabela((titulo, *_COLUNAS), [(nome, *celulas) for nome, celulas in linhas])


# SQLSTATE

SIGNIFICADOS = {
    "FM403": "quem chama não pode fazer isso",
    "FM404": "o que foi pedido não existe",
    "FM409": "o estado atual não permite, ou o conteúdo contradiz o que já existe",
    "FM422": "o argumento ou o payload não serve",
}

_ROTINA = re.compile(r"^CREATE OR REPLACE (?:FUNCTION|PROCEDURE)\s+(\w+\.\w+)", re.MULTILINE)
_RECUSA = re.compile(
    r"RAISE EXCEPTION\s+'(?P<mensagem>(?:[^']|'')*)'(?:[^;']|'[^']*')*?ERRCODE\s*=\s*'(?P<codigo>FM\d{3})'"
)


def recusas() -> list[tuple[str, str, str]]:
    """(código, função, mensagem) de cada RAISE EXCEPTION das funções com um código do projeto."""
    achadas = []
    for arquivo in sorted(FUNCOES.rglob("*.sql")):
        texto = arquivo.read_text(encoding="utf-8")
        for recusa in _RECUSA.finditer(texto):
            rotina = _ROTINA.findall(texto, 0, recusa.start())[-1]
            achadas.append((recusa["codigo"], rotina, recusa["mensagem"].replace("''", "'")))
    return sorted(achadas)


def sqlstate() -> str:
    """A tabela dos códigos e, de cada um, as mensagens e quem as levanta."""
    achadas = recusas()
    partes = [
        tabela(
            ("SQLSTATE", "status HTTP", "o que quer dizer"),
            [(f"[`{codigo}`](#{codigo.lower()})", codigo[2:], texto) for codigo, texto in SIGNIFICADOS.items()],
        )
    ]
    for codigo in SIGNIFICADOS:
        partes.append(f"## {codigo}")
        partes.append(
            tabela(
                ("mensagem (% é um valor)", "quem a levanta"),
                [(_escapar(mensagem), f"`{rotina}`") for outro, rotina, mensagem in achadas if outro == codigo],
            )
        )
    return "\n\n".join(partes)


# Métricas

_DE_QUE = {
    "d6b_": "D-6b, Relatoria e Acompanhamento",
    "d8_": "D-8, Manutenção Programada",
    "formigueiro_": "O barramento e a operação",
}


def metricas() -> str:
    """Todas as de uma coleta: as que o banco conta, as da coleta, as do HTTP e as do processo."""
    cabecalho = ("métrica", "tipo", "rótulos", "o que é")
    partes = []
    for prefixo, titulo in _DE_QUE.items():
        partes.append(f"## {titulo}")
        partes.append(tabela(cabecalho, [_metrica(m) for m in DO_BANCO if m.nome.startswith(prefixo)]))
    partes.append("## A coleta, o HTTP e o processo")
    linhas = [(f"`{nome}`", "gauge", "—", _escapar(ajuda)) for nome, ajuda in DA_COLETA]
    for familia in Metricas().registro.collect():
        nome = f"{familia.name}_total" if familia.type == "counter" else familia.name
        rotulos = ", ".join(f"`{rotulo}`" for rotulo in Metricas.ROTULOS.get(familia.name, ())) or "—"
        linhas.append((f"`{nome}`", familia.type, rotulos, _escapar(familia.documentation)))
    partes.append(tabela(cabecalho, linhas))
    return "\n\n".join(partes)


def _metrica(metrica: Metrica) -> tuple[str, str, str, str]:
    rotulos = ", ".join(f"`{rotulo}`" for rotulo in metrica.rotulos) or "—"
    return f"`{metrica.nome}`", metrica.tipo, rotulos, _escapar(metrica.ajuda)


# Markdown


def ancora(titulo: str) -> str:
    """A âncora que um título ganha: minúsculas, sem pontuação, espaços viram hifens."""
    return re.sub(r"[^\w\- ]", "", titulo.lower()).replace(" ", "-")


def _escapar(texto: str) -> str:
    """Texto corrido que o Markdown não toma por marcação, numa linha só."""
    texto = " ".join(texto.split())
    texto = re.sub(r"([<>*\[\]])", r"\\\1", texto)
    return re.sub(r"(?<![^\W_])_|_(?![^\W_])", r"\\_", texto)


def principal() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    for pagina, conteudo in paginas(sys.argv[1]).items():
        if not pagina.exists() or pagina.read_text(encoding="utf-8") != conteudo:
            pagina.write_text(conteudo, encoding="utf-8")
            print(f"reescrita: {pagina.relative_to(DOCS.parent)}")
    return 0


if __name__ == "__main__":
    sys.exit(principal())
