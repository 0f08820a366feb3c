"""Espelha core.agendamentos no pg_cron, onde ele existir no cluster (neste banco ou em outro)."""

from typing import Any

import psycopg
from psycopg import conninfo


def sincronizar(conexao: psycopg.Connection[Any], dsn: str) -> bool:
    """Deixa os trabalhos deste banco no pg_cron iguais a core.agendamentos; devolve se há pg_cron.

    Os nomes levam o banco na frente, pois um pg_cron serve a muitos bancos.
    """
    banco_do_cron = _um(conexao, "SELECT current_setting('cron.database_name', true)")
    if not banco_do_cron:
        return False
    banco = str(_um(conexao, "SELECT current_database()"))
    desejados = {
        f"{banco}/{nome}": (cron, comando)
        for nome, cron, comando in conexao.execute("SELECT nome, cron, comando FROM core.agendamentos")
    }
    with psycopg.connect(conninfo.make_conninfo(dsn, dbname=banco_do_cron), autocommit=True) as cron:
        if not _um(cron, "SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_cron')"):
            return False
        atuais = {
            nome: (agenda, comando)
            for nome, agenda, comando in cron.execute(
                "SELECT jobname, schedule, command FROM cron.job WHERE database = %s AND starts_with(jobname, %s)",
                [banco, f"{banco}/"],
            )
        }
        with cron.transaction():
            for nome in atuais.keys() - desejados.keys():
                cron.execute("SELECT cron.unschedule(%s::text)", [nome])
            for nome, (agenda, comando) in desejados.items():
                if atuais.get(nome) != (agenda, comando):
                    cron.execute("SELECT cron.schedule_in_database(%s, %s, %s, %s)", [nome, agenda, comando, banco])
    return True


def _um(conexao: psycopg.Connection[Any], consulta: str) -> object:
    linha = conexao.execute(consulta).fetchone()  # type: ignore[arg-type]
    return linha[0] if linha else None
