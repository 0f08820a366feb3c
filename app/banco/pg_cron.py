"""Espelha core.agendamentos no pg_cron, onde ele existir no cluster (neste banco ou em outro)."""

from typing import Any

import psycopg
from psycopg import conninfo, errors

from app.banco.erros import ErroBanco


def sincronizar(conexao: psycopg.Connection[Any], dsn: str) -> bool:
    """Deixa os trabalhos deste banco no pg_cron iguais a core.agendamentos; devolve se há pg_cron.

    Os nomes levam o banco na frente, pois um pg_cron serve a muitos bancos.
    """
    banco, banco_do_cron = _linha(conexao, "SELECT current_database(), current_setting('cron.database_name', true)")
    if not banco_do_cron:
        return False
    desejados = {
        f"{banco}/{nome}": (cron, comando)
        for nome, cron, comando in conexao.execute("SELECT nome, cron, comando FROM core.agendamentos")
    }
    with psycopg.connect(conninfo.make_conninfo(dsn, dbname=banco_do_cron), autocommit=True) as cron:
        if not _linha(cron, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_cron')")[0]:
            return False
        try:
            with cron.transaction():
                _espelhar(cron, banco, desejados)
        except errors.InsufficientPrivilege as erro:
            raise ErroBanco(
                f"sem direito de agendar no pg_cron do banco {banco_do_cron}: {erro.diag.message_primary}"
            ) from erro
    return True


def _espelhar(cron: psycopg.Connection[Any], banco: str, desejados: dict[str, tuple[str, str]]) -> None:
    atuais = {
        nome: (agenda, comando)
        for nome, agenda, comando in cron.execute(
            "SELECT jobname, schedule, command FROM cron.job WHERE database = %s AND starts_with(jobname, %s)",
            [banco, f"{banco}/"],
        )
    }
    for nome in atuais.keys() - desejados.keys():
        cron.execute("SELECT cron.unschedule(%s::text)", [nome])
    for nome, (agenda, comando) in desejados.items():
        if atuais.get(nome) == (agenda, comando):
            continue
        if banco == cron.info.dbname:  # no próprio banco, agendar não pede privilégio especial
            cron.execute("SELECT cron.schedule(%s, %s, %s)", [nome, agenda, comando])
        else:
            cron.execute("SELECT cron.schedule_in_database(%s, %s, %s, %s)", [nome, agenda, comando, banco])


def _linha(conexao: psycopg.Connection[Any], consulta: str) -> tuple[Any, ...]:
    linha: tuple[Any, ...] | None = conexao.execute(consulta).fetchone()
    assert linha is not None
    return linha
