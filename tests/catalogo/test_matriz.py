"""A matriz dos papéis (docs/papeis.toml) é a do banco: pelo catálogo, e executando tudo como cada papel (regra 8)."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest
from psycopg import errors, sql
from psycopg.conninfo import make_conninfo

from app.banco.migrar import migrar
from docs.matriz import DONOS, LETRAS, PAPEIS, QUALQUER, ler
from tests.catalogo.conftest import Perguntar

MATRIZ = ler()
ESQUEMAS = [*DONOS, "migracoes"]

RELACOES = """
    SELECT c.relnamespace::regnamespace || '.' || c.relname, c.relkind::text
      FROM pg_class AS c
     WHERE c.relnamespace::regnamespace::text = ANY (%s)
       AND c.relkind = ANY (%s)
     ORDER BY 1
"""
ROTINAS = """
    SELECT p.pronamespace::regnamespace || '.' || p.proname, p.prokind = 'p',
           ARRAY(SELECT format_type(a.tipo, NULL)
                   FROM unnest(p.proargtypes) WITH ORDINALITY AS a (tipo, n)
                  ORDER BY a.n),
           p.provariadic <> 0
      FROM pg_proc AS p
     WHERE p.pronamespace::regnamespace::text = ANY (%s)
     ORDER BY 1
"""

# Como exercer cada direito sem nada mudar; o que se lê da própria tabela pediria outro direito.
EXERCICIO = {
    "SELECT": "SELECT FROM {0}",
    "INSERT": "INSERT INTO {0} DEFAULT VALUES",
    "UPDATE": "UPDATE {0} SET {1} = DEFAULT WHERE false",
    "DELETE": "DELETE FROM {0} WHERE false",
    "TRUNCATE": "TRUNCATE {0}",
}


@pytest.fixture
def estranho(bd: psycopg.Connection[Any]) -> Iterator[str]:
    """Um papel que entra no servidor e só tem o que PUBLIC tem."""
    papel = f"estranho_{os.getpid()}"
    bd.execute(f"CREATE ROLE {papel} LOGIN")
    yield papel
    bd.execute(f"DROP ROLE {papel}")


@pytest.fixture
def papeis(estranho: str) -> list[str]:
    return [*PAPEIS.values(), estranho]


@pytest.fixture
def migrado(banco_vazio: Callable[[], str]) -> str:
    """DSN de um banco migrado ele mesmo: um clone não leva do modelo os direitos de conexão."""
    dsn = banco_vazio()
    migrar(dsn)
    return dsn


def _esquema(nome: str) -> str:
    return nome.partition(".")[0]


def _dono(nome: str) -> str | None:
    return DONOS.get(_esquema(nome))


def _usa(papel: str, esquema: str) -> bool:
    return papel == DONOS.get(esquema) or papel in MATRIZ.esquemas[esquema]


def _direitos(papel: str, relacao: str) -> frozenset[str]:
    declarada = relacao if relacao in MATRIZ.relacoes else f"{_esquema(relacao)}.{QUALQUER}"
    return MATRIZ.relacoes[declarada].get(papel, frozenset())


def _executa(papel: str, rotina: str) -> bool:
    return papel == _dono(rotina) or papel in MATRIZ.executam(rotina)


# O catálogo


def test_cada_objeto_tem_uma_linha_e_cada_linha_um_objeto(bd: psycopg.Connection[Any]) -> None:
    relacoes = {nome for nome, _ in bd.execute(RELACOES, [ESQUEMAS, ["r", "p", "v", "m", "f"]])}
    rotinas = {linha[0] for linha in bd.execute(ROTINAS, [ESQUEMAS])}
    for existem, declarados in ((relacoes, MATRIZ.relacoes), (rotinas, MATRIZ.rotinas)):
        livres = {_esquema(nome) for nome in declarados if nome.endswith(f".{QUALQUER}")}
        faltam = sorted(nome for nome in existem - set(declarados) if _esquema(nome) not in livres)
        assert faltam == [], "acrescente a docs/papeis.toml, com quem pode"
        sobram = sorted(nome for nome in set(declarados) - existem if not nome.endswith(f".{QUALQUER}"))
        assert sobram == [], "tire de docs/papeis.toml"


def test_no_banco(migrado: str, papeis: list[str]) -> None:
    with psycopg.connect(migrado) as bd:
        for direito, declarados in MATRIZ.banco.items():
            podem = {papel for papel in papeis if _pode(bd, "database", papel, bd.info.dbname, direito)}
            assert podem == declarados, direito


def test_nos_esquemas(bd: psycopg.Connection[Any], papeis: list[str]) -> None:
    for esquema in ESQUEMAS:
        for papel in papeis:
            assert _pode(bd, "schema", papel, esquema, "USAGE") == _usa(papel, esquema), (papel, esquema)
            assert _pode(bd, "schema", papel, esquema, "CREATE") == (papel == DONOS.get(esquema)), (papel, esquema)
    assert not any(_pode(bd, "schema", papel, "public", "CREATE") for papel in papeis)


def test_nas_relacoes(bd: psycopg.Connection[Any], papeis: list[str]) -> None:
    todos = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
    if bd.info.server_version >= 170000:
        todos.append("MAINTAIN")
    erradas = []
    for nome, especie in bd.execute(RELACOES, [ESQUEMAS, ["r", "p", "v", "m", "f", "S"]]).fetchall():
        for papel in papeis:
            if especie == "S":
                podem = {d for d in ("USAGE", "SELECT", "UPDATE") if _pode(bd, "sequence", papel, nome, d)}
                devem = {"USAGE", "SELECT", "UPDATE"} if papel == _dono(nome) else set()
            else:
                podem = {d for d in todos if _pode(bd, "table", papel, nome, d)}
                # Um direito numa coluna só também conta.
                podem |= {d for d in LETRAS.values() if d != "DELETE" and _pode(bd, "any_column", papel, nome, d)}
                devem = set(todos) if papel == _dono(nome) else set(_direitos(papel, nome))
            if podem != devem:
                erradas.append((papel, nome, sorted(podem ^ devem)))
    assert not erradas, "\n".join(map(str, erradas))


def test_nas_rotinas(bd: psycopg.Connection[Any], papeis: list[str]) -> None:
    erradas = []
    for nome, tipos in bd.execute(
        "SELECT p.pronamespace::regnamespace || '.' || p.proname, p.oid::regprocedure::text FROM pg_proc AS p"
        " WHERE p.pronamespace::regnamespace::text = ANY (%s)",
        [ESQUEMAS],
    ).fetchall():
        for papel in papeis:
            if _pode(bd, "function", papel, tipos, "EXECUTE") != _executa(papel, nome):
                erradas.append((papel, nome))
    assert not erradas, "\n".join(map(str, erradas))


def test_quem_executa_uma_rotina_usa_o_esquema_dela() -> None:
    """Fora as que só as visões chamam, em nome de quem lê; mas essas também estão num esquema que o leitor usa."""
    inuteis = [
        (papel, rotina)
        for rotina, papeis in MATRIZ.rotinas.items()
        for papel in papeis
        if not _usa(papel, _esquema(rotina))
    ]
    assert inuteis == []


def test_a_matriz_nao_da_a_ninguem_como_forjar_um_evento() -> None:
    """Publicar como os donos, escrever no log, mover o relógio ou o Registro: o que levaria a um evento inventado."""
    entram = {"formigueiro_app", "formigueiro_produtor", "formigueiro_dba", "formigueiro_leitura"}
    for rotina in ("_publicar", "_publicar_lote", "_publicar_saida", "_publicar_saidas", "_guardar_saida"):
        assert not MATRIZ.executam(f"core.{rotina}") & entram, rotina
    for rotina in ("definir_relogio", "carregar_esquema", "gerar_validadores", "registrar_produtor"):
        assert not MATRIZ.executam(f"core.{rotina}"), rotina
    for rotina in ("publicar", "publicar_lote"):
        assert MATRIZ.executam(f"core.{rotina}") == {"formigueiro_produtor"}
    escrevem = {
        (papel, relacao)
        for relacao, direitos in MATRIZ.relacoes.items()
        for papel, quais in direitos.items()
        if quais - {"SELECT"}
    }
    tabelas = ("consumidores", "dlq", "dlq_tentativas")
    assert escrevem == {(dono, f"core.{tabela}") for dono in ("d6b_dono", "d8_dono") for tabela in tabelas}


def _pode(bd: psycopg.Connection[Any], especie: str, papel: str, nome: str, direito: str) -> bool:
    consulta = sql.SQL("SELECT {}(%s, %s, %s)").format(sql.Identifier(f"has_{especie}_privilege"))
    return bd.execute(consulta, [papel, nome, direito]).fetchone() == (True,)


# A execução


class Ator:
    """Uma sessão que age como cada papel, e desfaz o que conseguir."""

    def __init__(self, bd: psycopg.Connection[Any]) -> None:
        self.bd = bd
        bd.execute("SET client_min_messages = error")
        bd.prepare_threshold = None  # um plano guardado por um papel, com a função embutida, serviria ao seguinte

    def recusado(self, papel: str, comando: str, em_transacao: bool = True) -> str | None:
        """A mensagem da recusa por falta de direito (42501), se houve; outro erro qualquer não é uma recusa."""
        self.bd.execute(sql.SQL("SET SESSION AUTHORIZATION {}").format(sql.Identifier(papel)))
        try:
            if em_transacao:
                self.bd.execute("BEGIN")
            self.bd.execute(comando)
        except errors.InsufficientPrivilege as erro:
            return erro.diag.message_primary or ""
        except psycopg.Error:
            if self.bd.closed:
                raise
        finally:
            if em_transacao:
                self.bd.execute("ROLLBACK")
            self.bd.execute("RESET SESSION AUTHORIZATION")
        return None


def _chamada(nome: str, procedimento: bool, tipos: list[str], variadica: bool) -> str:
    """Chama com nulos que o planejador não conhece: uma função STRICT com uma constante nula nem seria executada."""
    if procedimento:
        return f"CALL {nome}({', '.join(f'NULL::{tipo}' for tipo in tipos)})"
    argumentos = [f"x.a{n}" for n in range(len(tipos))]
    if variadica:
        argumentos[-1] = f"VARIADIC {argumentos[-1]}"
    nulos = ", ".join(f"NULL::{tipo} AS a{n}" for n, tipo in enumerate(tipos))
    return f"SELECT {nome}({', '.join(argumentos)}) FROM (SELECT {nulos} OFFSET 0) AS x"


# A recusa não diz o esquema: a da função que estas chamam, numa colônia, parece a delas.
CHAMAM_HOMONIMA = ("core.linha_do_tempo",)


def _recusas_diretas(rotina: str) -> list[str]:
    esquema, _, nome = rotina.partition(".")
    return [
        f"permission denied for {o_que}" for o_que in (f"schema {esquema}", f"function {nome}", f"procedure {nome}")
    ]


def test_cada_papel_executa_o_que_a_matriz_diz_e_mais_nada(bd: psycopg.Connection[Any], papeis: list[str]) -> None:
    ator = Ator(bd)
    rotinas = bd.execute(ROTINAS, [ESQUEMAS]).fetchall()
    erradas = []
    for nome, procedimento, tipos, variadica in rotinas:
        for papel in papeis:
            deve = _executa(papel, nome) and _usa(papel, _esquema(nome))
            recusa = ator.recusado(papel, _chamada(nome, procedimento, tipos, variadica), not procedimento)
            if papel == _dono(nome) and (recusa not in _recusas_diretas(nome) or nome in CHAMAM_HOMONIMA):
                continue  # o que é SECURITY INVOKER chama o que o dono, que não entra, não alcança
            if (recusa is None) != deve:
                erradas.append((papel, nome, recusa))
    assert not erradas, "\n".join(map(str, erradas))


def test_cada_papel_toca_no_que_a_matriz_diz_e_em_mais_nada(bd: psycopg.Connection[Any], papeis: list[str]) -> None:
    ator = Ator(bd)
    erradas = []
    for nome, especie in bd.execute(RELACOES, [ESQUEMAS, ["r", "p", "v", "S"]]).fetchall():
        for papel in papeis:
            proprio = papel == _dono(nome)
            if especie == "S":
                exercicios = {"USAGE": f"SELECT nextval('{nome}')", "SELECT": f"SELECT FROM {nome}"}
                podem = set(exercicios) if proprio else set()
            else:
                (coluna,) = bd.execute(
                    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum = 1", [nome]
                ).fetchone() or ("",)
                exercicios = {d: comando.format(nome, coluna) for d, comando in EXERCICIO.items()}
                if especie == "v":
                    exercicios = {"SELECT": exercicios["SELECT"]}
                podem = set(exercicios) if proprio else set(_direitos(papel, nome))
            for direito, comando in exercicios.items():
                deve = direito in podem and _usa(papel, _esquema(nome))
                if (ator.recusado(papel, comando) is None) != deve:
                    erradas.append((papel, nome, direito))
    assert not erradas, "\n".join(map(str, erradas))


@pytest.mark.parametrize("esquema", [*DONOS, "migracoes", "public"])
def test_ninguem_cria_num_esquema_que_nao_e_seu(bd: psycopg.Connection[Any], papeis: list[str], esquema: str) -> None:
    ator = Ator(bd)
    criam = [papel for papel in papeis if ator.recusado(papel, f"CREATE TABLE {esquema}.intrusa ()") is None]
    assert criam == ([DONOS[esquema]] if esquema in DONOS else [])


def test_so_entra_quem_a_matriz_diz(migrado: str, estranho: str) -> None:
    for papel in MATRIZ.banco["CONNECT"]:
        psycopg.connect(make_conninfo(migrado, user=papel)).close()
    with pytest.raises(psycopg.OperationalError, match="permission denied for database"):
        psycopg.connect(make_conninfo(migrado, user=estranho))
    for dono in set(DONOS.values()):
        with pytest.raises(psycopg.OperationalError, match="not permitted to log in"):
            psycopg.connect(make_conninfo(migrado, user=dono))


def test_a_matriz_e_do_projeto_que_o_banco_tem(perguntar: Perguntar) -> None:
    """Nenhum papel do projeto fica fora da matriz."""
    nossos = perguntar(r"SELECT rolname FROM pg_roles WHERE rolname ~ '^formigueiro_|^(core|d6b|d8)_dono$'")
    assert set(nossos) == set(PAPEIS.values())
