"""Espelha core.agendamentos no pg_cron, onde ele existir no cluster (neste banco ou em outro)."""

from typing import Any, LiteralString

import psycopg
from psycopg import conninfo, errors, sql

from app.banco.erros import ErroBanco
from app.banco.sessao import conectar

HORA_DA_LIMPEZA = "40 4 * * *"
EM_OUTRO_BANCO = "cron.schedule_in_database(text, text, text, text, text, boolean)"

# O que pede atenção na configuração do pg_cron; um papel sem pg_read_all_settings não a vê toda.
_AVISOS = {
    "cron.use_background_workers": (
        "on",
        "em modo worker, no pg_cron 1.4, um trabalho longo detém os outros: ponha cron.use_background_workers em off",
    ),
    "cron.launch_active_jobs": ("off", "o pg_cron não lança trabalho nenhum: cron.launch_active_jobs está off"),
}

_SEM_VER = (
    "o servidor carrega o pg_cron, mas este papel não pode ver em que banco ele mora, e a agenda fica com o aplicativo;"
    " para usá-lo, como superusuário: GRANT pg_read_all_settings TO {}"
)
_COPIA = "a extensão pg_cron deste banco não trabalha, pois o pg_cron {}; para removê-la: DROP EXTENSION pg_cron"


def sincronizar(conexao: psycopg.Connection[Any], dsn: str) -> bool:
    """Deixa os trabalhos deste banco no pg_cron iguais a core.agendamentos; devolve se há pg_cron.

    Os nomes levam o banco na frente, pois um pg_cron serve a muitos bancos.
    """
    if _mora_neste(conexao):
        _exigir_direitos(conexao)
        conexao.execute("SELECT core.espelhar_agenda()")
        return True
    banco, banco_do_cron = conexao.info.dbname, _onde_mora(conexao)
    if banco_do_cron in (None, banco):
        return False
    try:
        cron = conectar(conninfo.make_conninfo(dsn, dbname=banco_do_cron))
    except psycopg.OperationalError as erro:
        raise ErroBanco(f"o pg_cron mora no banco {banco_do_cron}, e não pude entrar nele: {_linha(erro)}") from None
    with cron:
        if not _instalado(cron):
            return False
        _exigir_direitos(cron, EM_OUTRO_BANCO)
        prefixo = _um(conexao, "SELECT core.prefixo_no_cron(current_database())")
        with cron.transaction():
            _espelhar(cron, banco, str(prefixo), _desejados(conexao, banco, str(banco_do_cron)))
    return True


def avisos(conexao: psycopg.Connection[Any], no_cron: bool) -> list[str]:
    """O que pede atenção na configuração do pg_cron deste cluster."""
    if not no_cron and not _ve_onde_mora(conexao):
        return [_SEM_VER.format(_papel(conexao))]
    copia = [_COPIA.format(_onde(conexao))] if _instalado(conexao) and not _mora_neste(conexao) else []
    if not no_cron:
        return copia
    ajustes: dict[str, str] = dict(
        conexao.execute("SELECT name, setting FROM pg_settings WHERE starts_with(name, 'cron.')").fetchall()
    )
    achados = [frase for nome, (ruim, frase) in _AVISOS.items() if ajustes.get(nome) == ruim]
    fuso = ajustes.get("cron.timezone", "GMT")
    if fuso.upper() not in ("GMT", "UTC"):
        achados.append(f"a agenda é em UTC, mas cron.timezone é {fuso}: use cron.timezone = 'GMT'")
    return copia + achados


def _onde(conexao: psycopg.Connection[Any]) -> str:
    banco = _onde_mora(conexao)
    return f"mora no banco {banco}" if banco else "não está carregado no servidor"


def _mora_neste(conexao: psycopg.Connection[Any]) -> bool:
    return _pode(conexao, "core.cron_neste_banco()")


def _instalado(conexao: psycopg.Connection[Any]) -> bool:
    return conexao.execute("SELECT FROM pg_extension WHERE extname = 'pg_cron'").fetchone() is not None


def _ve_onde_mora(conexao: psycopg.Connection[Any]) -> bool:
    try:
        conexao.execute("SELECT current_setting('cron.database_name', true)")
    except errors.InsufficientPrivilege:
        return False
    return True


def _onde_mora(conexao: psycopg.Connection[Any]) -> str | None:
    """O banco do pg_cron; None se o servidor não o carrega, ou se não se pode ver."""
    # Em pg_settings só estão os ajustes de uma biblioteca carregada, e que este papel pode ver.
    linha = conexao.execute("SELECT setting FROM pg_settings WHERE name = 'cron.database_name'").fetchone()
    return linha[0] if linha else None


def _exigir_direitos(cron: psycopg.Connection[Any], funcao: str | None = None) -> None:
    papel, faltam = _papel(cron), []
    if not _pode(cron, "has_schema_privilege('cron', 'USAGE')"):
        faltam.append(f"GRANT USAGE ON SCHEMA cron TO {papel}")
    # Pelo catálogo: sem USAGE no esquema, procurar a função pelo nome já seria recusado.
    if funcao is not None and not _pode(
        cron,
        "(SELECT bool_or(has_function_privilege(p.oid, 'EXECUTE')) FROM pg_proc AS p"
        " JOIN pg_namespace AS n ON n.oid = p.pronamespace AND n.nspname = 'cron'"
        " WHERE p.proname = 'schedule_in_database')",
    ):
        faltam.append(f"GRANT EXECUTE ON FUNCTION {funcao} TO {papel}")
    if faltam:
        raise ErroBanco(
            f"sem direito de agendar no pg_cron: no banco {cron.info.dbname}, como superusuário, {'; '.join(faltam)}"
        )


def _pode(conexao: psycopg.Connection[Any], pergunta: str) -> bool:
    return conexao.execute(f"SELECT {pergunta}").fetchone() == (True,)


def _papel(conexao: psycopg.Connection[Any]) -> str:
    return sql.Identifier(conexao.info.user).as_string(conexao)


def _desejados(conexao: psycopg.Connection[Any], banco: str, banco_do_cron: str) -> dict[str, tuple[str, str, str]]:
    """nome → (horário, comando, banco). O pg_cron guarda as execuções no banco dele, e é lá que elas se apagam."""
    desejados = {
        nome: (cron, comando, banco)
        for nome, cron, comando in conexao.execute(
            "SELECT core.nome_no_cron(current_database(), nome), cron, core.comando_no_cron(comando)"
            "  FROM core.agendamentos"
        )
    }
    dias = _um(conexao, "SELECT core.parametro('dias_guarda_execucoes_cron')::int")
    limpar = sql.SQL(
        "DELETE FROM cron.job_run_details AS d"
        " WHERE (d.database = {} OR d.command LIKE 'DELETE FROM cron.job_run_details%')"
        " AND d.runid <= (SELECT max(e.runid) FROM cron.job_run_details AS e WHERE e.end_time < now() - interval {})"
    ).format(sql.Literal(banco), sql.Literal(f"{dias} days"))
    nome = str(_um(conexao, "SELECT core.nome_no_cron(current_database(), 'limpeza-do-cron')"))
    desejados[nome] = (HORA_DA_LIMPEZA, limpar.as_string(conexao), banco_do_cron)
    return desejados


def _um(conexao: psycopg.Connection[Any], consulta: LiteralString) -> object:
    linha = conexao.execute(consulta).fetchone()
    assert linha is not None
    return linha[0]


def _espelhar(
    cron: psycopg.Connection[Any], banco: str, prefixo: str, desejados: dict[str, tuple[str, str, str]]
) -> None:
    """O mesmo que core.espelhar_agenda, de um banco para outro."""
    certos = set()
    servidor = _servidor(cron)
    for numero, nome, ativo, *onde_liga, proprio, horario, comando, onde in cron.execute(
        "SELECT jobid, jobname::text, active, nodename, nodeport, username = current_user, schedule, command, database"
        " FROM cron.job"
        # O banco também, pois o prefixo de casa é o começo do de casa/homolog; a limpeza é um trabalho no do pg_cron.
        " WHERE starts_with(jobname::text, %s) AND database = %s OR jobname::text = ANY(%s)",
        [prefixo, banco, list(desejados)],
    ).fetchall():
        aqui = proprio and tuple(onde_liga) == servidor
        if (horario, comando, onde) == desejados.get(nome) and (aqui or not ativo):
            certos.add(nome)
        elif nome not in desejados or not aqui:
            cron.execute("SELECT cron.unschedule(%s::bigint)", [numero])
    for nome, (horario, comando, onde) in desejados.items():
        if nome in certos:
            continue
        if onde == cron.info.dbname:  # no próprio banco, agendar não pede privilégio especial
            cron.execute("SELECT cron.schedule(%s, %s, %s)", [nome, horario, comando])
        else:
            cron.execute("SELECT cron.schedule_in_database(%s, %s, %s, %s)", [nome, horario, comando, onde])


def _servidor(cron: psycopg.Connection[Any]) -> tuple[str, int]:
    """Onde o pg_cron liga o que agenda agora: o que veio numa cópia guarda o servidor da origem."""
    with cron.transaction(force_rollback=True):
        numero = _um(cron, "SELECT cron.schedule('0 0 1 1 *', 'SELECT 1')")
        linha = cron.execute("SELECT nodename, nodeport FROM cron.job WHERE jobid = %s", [numero]).fetchone()
    assert linha is not None
    return linha[0], linha[1]


def _linha(erro: psycopg.Error) -> str:
    return str(erro).strip().splitlines()[-1].strip()
