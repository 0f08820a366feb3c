#!/bin/sh
# Na criação do banco: a extensão, e o papel do aplicativo já com senha (a migração o encontra pronto).
set -eu
psql --no-psqlrc --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
     --set senha="$FORMIGUEIRO_APP_SENHA" <<'SQL'
CREATE EXTENSION pg_cron;
CREATE ROLE formigueiro_app LOGIN PASSWORD :'senha';
SQL
