"""As tabelas de ajustes e de parâmetros são, linha a linha, as do código."""

import re

import msgspec

from app.ajustes import Ajustes
from app.banco.parametros import PADROES
from app.banco.recursos import FUNCOES
from tests.docs.blocos import DOCS

REFERENCIA = DOCS / "referencia"


def _linhas(pagina: str) -> list[list[str]]:
    """As linhas da tabela da página cujo primeiro campo é um nome, com as células aparadas."""
    texto = (REFERENCIA / pagina).read_text(encoding="utf-8")
    linhas = re.findall(r"^\| `.*\|$", texto, re.MULTILINE)
    return [[celula.strip() for celula in linha.strip("|").split("|")] for linha in linhas]


def _padrao(valor: object) -> str:
    if valor is None or valor is msgspec.UNSET:
        return "—"
    return "vazio" if valor == "" else f"`{valor}`"


def test_ajustes() -> None:
    campos = {
        f"`{nome.upper()}`": _padrao(padrao)
        for nome, padrao in zip(Ajustes.__struct_fields__, Ajustes.__struct_defaults__, strict=True)
    }
    assert {linha[0]: linha[1] for linha in _linhas("ajustes.md")} == campos


def test_todo_ajuste_diz_o_que_acontece_se_malformado() -> None:
    assert [linha[0] for linha in _linhas("ajustes.md") if len(linha) != 4 or not all(linha)] == []


def test_parametros() -> None:
    padroes = {f"`{nome}`": f"`{msgspec.json.encode(valor).decode()}`" for nome, (valor, _) in PADROES.items()}
    assert {linha[0]: linha[1] for linha in _linhas("parametros.md")} == padroes


def _arquivo_de(esquema: str, funcao: str) -> str:
    """O texto do arquivo que define a função."""
    define = re.compile(rf"(FUNCTION|PROCEDURE) {esquema}\.{funcao}\b")
    textos = (arquivo.read_text(encoding="utf-8") for arquivo in (FUNCOES / esquema).rglob("*.sql"))
    return next((texto for texto in textos if define.search(texto)), "")


def test_quem_le_um_parametro_cita_o_nome_dele() -> None:
    erradas = []
    for linha in _linhas("parametros.md"):
        nome = linha[0].strip("`")
        for esquema, funcao in re.findall(r"`(\w+)\.(\w+)`", linha[3]):
            texto = _arquivo_de(esquema, funcao)
            # erros_de_limite monta o nome: 'limite_' || campo.
            if nome not in texto and f"'{nome.partition('_')[0]}_'" not in texto:
                erradas.append(f"{funcao} não cita {nome}")
    assert erradas == []
